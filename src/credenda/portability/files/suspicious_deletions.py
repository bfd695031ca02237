"""Detect entries that are missing from the files but may not have been deleted on purpose. Pure.

A line that lost its comment and was edited in the same run looks like one entry removed and another added. A deletion
is permanent and covers equal statements, so an entry whose text is still in the files is not deleted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from credenda.text.normalize import normalise_text
from credenda.text.tokens import space_runs

__all__ = ["find_suspicious"]

_ALIKE: Final = 0.6
"""Share of common words, from 0 to 1, above which one text may be an edit of the other.

"I live in Linz" and "I live in Graz" have 3/4, "I like tea" and "I like the cello" 4/7.
"""


def find_suspicious(gone: Mapping[str, str], standing: Iterable[str], written: Iterable[str]) -> dict[str, str]:
    """Return the ids of entries that may not have been deleted on purpose, with the reason.

    `gone` gives texts by ids, `standing` the texts of remaining entries, `written` lines without an entry.

    >>> find_suspicious({"m1": "I live in Linz.", "m2": "I like tea."}, [], ["I live in Graz.", "I like the cello."])
    {'m1': 'a line without a comment may be an edit of it'}
    """
    left = {normalise_text(one) for one in standing}
    lines = [_count_words(one) for one in written]
    found: dict[str, str] = {}
    for local, text in gone.items():
        words = _count_words(text)
        if normalise_text(text) in left:
            found[local] = "another entry has the same text"
        elif any(_measure_overlap(words, line) >= _ALIKE for line in lines):
            found[local] = "a line without a comment may be an edit of it"
    return found


def _count_words(text: str) -> Counter[str]:
    return Counter(space_runs(normalise_text(text)).split())


def _measure_overlap(one: Counter[str], other: Counter[str]) -> float:
    both = one.total() + other.total()
    return 2 * (one & other).total() / both if both else 0.0
