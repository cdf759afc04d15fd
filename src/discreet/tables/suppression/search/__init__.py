"""The default search for secondary suppression."""
