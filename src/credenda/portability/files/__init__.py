"""Memories as a folder of Markdown that people may edit: what it looks like, how it is read, and what follows."""
