"""How a memory was judged by those to whom it was shown."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["JUDGED", "FeedbackCounts"]

JUDGED: Final = "judged"
"""The watermark of a tenant whose memories were ever judged: a search of any other need not ask how."""


class FeedbackCounts(NamedTuple):
    """How often a memory was judged useful, or not, and shown without a word about it: sessions and days each."""

    useful: int = 0
    useless: int = 0
    silent: int = 0
