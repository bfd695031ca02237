"""Embedders and language models behind small ports."""
