"""What goes out: publishable data and its record, internal evidence, and the summary a steward reads."""
