"""The 2013 paper: GOMM and D-GOMM."""
