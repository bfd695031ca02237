"""Delete words and memories, and keep deleted content from returning."""
