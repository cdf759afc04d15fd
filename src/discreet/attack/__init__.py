"""The attacker of a table: what can be worked out of cells that are not published."""
