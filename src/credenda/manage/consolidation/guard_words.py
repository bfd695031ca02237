"""The words of the guards, by their list in `data/words.toml`. Pure."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import cast

__all__ = ["number_words", "words"]


@cache
def _lists() -> dict[str, object]:
    return tomllib.loads((files("credenda.manage.consolidation") / "data" / "words.toml").read_text("utf-8"))


@cache
def words(name: str) -> frozenset[str]:
    """Give the words of a list.

    >>> "never" in words("negations")
    True
    """
    return frozenset(str(_lists()[name]).split())


@cache
def number_words() -> dict[str, str]:
    """Give the words for numbers, with their digits."""
    return cast("dict[str, str]", _lists()["numbers"])
