"""Memories as a folder of Markdown that people may edit: rendering, parsing, and synchronisation."""
