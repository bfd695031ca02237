"""Word lists of the guards, from `data/words.toml`. Pure."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import cast

__all__ = ["load_number_words", "load_periods", "load_words"]


@cache
def _load_lists() -> dict[str, object]:
    return tomllib.loads((files("credenda.manage.consolidation") / "data" / "words.toml").read_text("utf-8"))


@cache
def load_words(name: str) -> frozenset[str]:
    """Return the words of a list.

    >>> "never" in load_words("negations")
    True
    """
    return frozenset(str(_load_lists()[name]).split())


@cache
def load_number_words() -> dict[str, str]:
    """Return the number words with their digits."""
    return cast("dict[str, str]", _load_lists()["numbers"])


@cache
def load_periods() -> dict[str, str]:
    """Return the adverbs of a period with its noun: "daily" is every day."""
    return cast("dict[str, str]", _load_lists()["periods"])
