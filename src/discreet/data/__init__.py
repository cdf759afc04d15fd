"""What comes in: files, roles and types of columns, and records as vectors."""
