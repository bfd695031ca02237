"""The doors: each loops over the operations table."""
