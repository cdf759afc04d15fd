"""The 2008 chapter: the two-step hybrid for large files."""
