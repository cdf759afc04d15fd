"""The inner loops of the published partition methods."""
