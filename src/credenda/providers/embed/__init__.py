"""Embedders: text in, unit vectors out."""
