"""Studies: many runs, their statistics and charts, and the experiments of the papers made again."""
