"""Extraction of claims from text: by rules (offline), by a language model, or verbatim. Pure."""
