"""Compiled inner loops: arrays in, arrays out. Nothing of ours is imported here."""
