"""Claim extraction with a language model: prompts, answers, and the checks of answers."""
