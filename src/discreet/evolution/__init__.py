"""The search engine that all genetic methods share. Nothing of ours is imported here."""
