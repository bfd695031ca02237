"""Paraphrases and refinements of known memories."""
