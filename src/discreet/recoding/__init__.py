"""Recoding on the way in: coarser values of whole columns, top and bottom coding, rounding."""
