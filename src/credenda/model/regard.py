"""How a memory was judged by those to whom it was shown."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Regard"]


class Regard(NamedTuple):
    """How often a memory was judged useful, or not, and shown without a word about it: sessions and days each."""

    useful: int = 0
    useless: int = 0
    silent: int = 0
