"""Statistical tables: hierarchies of codes, cells and the relations between them, and the files they come in."""
