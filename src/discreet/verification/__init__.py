"""The promise of a release and its independent check; nothing of the protecting packages is imported here."""
