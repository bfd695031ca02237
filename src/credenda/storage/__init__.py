"""The storage protocol and its backends."""
