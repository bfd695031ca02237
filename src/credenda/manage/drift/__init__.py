"""Drift: compare the claims of memories about code with the code. Pure."""
