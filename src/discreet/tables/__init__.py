"""Statistical tables: made from microdata, and judged by the rules that find unsafe cells."""
