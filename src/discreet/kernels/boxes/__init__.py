"""Boxes of cells that can exchange value without a trace."""
