"""Job kinds of the write path. A module of its own, so that reading jobs loads nothing else. Pure."""

from __future__ import annotations

from typing import Final

CALL: Final = "call"
"""Runs an operation in the background; no message waits for it, and `settle` does not run it."""
EXTRACT: Final = "extract"
EMBED: Final = "embed"
KEEP: Final = "keep"
"""A verbatim memory: its job is complete when it is stored."""
THINK: Final = "think"
"""Extracts the claims of one event with a language model and applies them."""
REREAD: Final = "reread"
"""Extracts one event again after the language model failed before."""
KINDS: Final = (EXTRACT, EMBED, THINK, REREAD, KEEP, CALL)
