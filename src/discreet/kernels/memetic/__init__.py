"""The inner loops of the memetic search."""
