"""Embed memories, score their surprise, and find near-duplicates after they are written."""
