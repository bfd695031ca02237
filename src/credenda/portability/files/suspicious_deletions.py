"""Whether an entry that is gone from the files was meant to go. Pure.

A line that lost its comment and was edited in the same round looks like one entry removed and another written. Deleting
is for good and takes along whatever says the same, so what the files still speak of is not taken for removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from credenda.text.normalize import normalise_text
from credenda.text.tokens import space_runs

__all__ = ["find_suspicious"]

_ALIKE: Final = 0.6
"""Share of words, from 0 to 1, that two texts have in common where one may be an edit of the other.

"I live in Linz" and "I live in Graz" have 3/4, "I like tea" and "I like the cello" 4/7.
"""


def find_suspicious(gone: Mapping[str, str], standing: Iterable[str], written: Iterable[str]) -> dict[str, str]:
    """Say why entries may not have been meant to go: their ids with the reason.

    `gone` gives texts by ids, `standing` the texts of entries that are left, `written` lines that nobody knows.

    >>> doubts({"m1": "I live in Linz.", "m2": "I like tea."}, [], ["I live in Graz.", "I like the cello."])
    {'m1': 'a line without a comment may be an edit of it'}
    """
    left = {normalise_text(one) for one in standing}
    lines = [_count_words(one) for one in written]
    found: dict[str, str] = {}
    for local, text in gone.items():
        words = _count_words(text)
        if normalise_text(text) in left:
            found[local] = "another entry that stands says the same"
        elif any(_measure_overlap(words, line) >= _ALIKE for line in lines):
            found[local] = "a line without a comment may be an edit of it"
    return found


def _count_words(text: str) -> Counter[str]:
    return Counter(space_runs(normalise_text(text)).split())


def _measure_overlap(one: Counter[str], other: Counter[str]) -> float:
    both = one.total() + other.total()
    return 2 * (one & other).total() / both if both else 0.0
