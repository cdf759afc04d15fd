"""Protection of data larger than memory: looked at, scattered by space into blocks, protected, sorted and sealed."""
