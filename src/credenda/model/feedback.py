"""Feedback counts of memories."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["JUDGED", "FeedbackCounts"]

JUDGED: Final = "judged"
"""The watermark of a tenant with any feedback; without it a search skips the feedback query."""


class FeedbackCounts(NamedTuple):
    """Feedback on a memory: useful, useless, and impressions without feedback, as sessions and days."""

    useful: int = 0
    useless: int = 0
    silent: int = 0
