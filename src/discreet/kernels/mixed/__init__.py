"""Groups of records with numbers and categories, by what is lost when means and modes are released."""
