"""An interior-point method for full tables of three dimensions."""
