"""The 2012 paper: cell suppression by searches over orders."""
