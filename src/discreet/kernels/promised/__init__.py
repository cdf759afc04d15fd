"""Groups that keep further promises: k persons, diverse values, a distribution like that of all records."""
