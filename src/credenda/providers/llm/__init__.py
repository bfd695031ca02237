"""The protocol of language models, and its implementations."""
