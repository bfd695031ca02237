"""Parsers of sentences."""
