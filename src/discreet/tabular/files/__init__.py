"""The files that tables come in and go out as, one module per format."""
