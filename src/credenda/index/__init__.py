"""The in-memory search index of a tenant."""
