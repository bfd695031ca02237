"""Replacement: a sentence that replaces a memory without naming its slot."""
