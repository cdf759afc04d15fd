"""The memetic search, our default for microdata."""
