"""The order searches of Smith and others (2012)."""
