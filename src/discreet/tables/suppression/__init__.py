"""Secondary suppression: which further cells to leave out, so that unsafe ones cannot be worked out."""
