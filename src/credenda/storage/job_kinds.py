"""The kinds of jobs that a write leaves behind, in a module that is cheap to load. Pure."""

from __future__ import annotations

from typing import Final

__all__ = ["EMBED", "EXTRACT", "KEEP", "REREAD", "THINK"]

EXTRACT: Final = "extract"
EMBED: Final = "embed"
KEEP: Final = "keep"
"""Held word for word when it was filed: its job was done before anybody could see it."""
THINK: Final = "think"
"""Reads one event with a model, and believes what comes of it."""
REREAD: Final = "reread"
"""Reads one event again, of which no model could say anything before."""
