"""The published partition methods, one module each."""
