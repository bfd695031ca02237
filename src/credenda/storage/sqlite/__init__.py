"""The SQLite backend: one file, shared by several processes."""
