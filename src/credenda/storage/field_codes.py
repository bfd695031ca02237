"""Short names for a memory's fields in the change log: one letter for each common field.

Full names took a tenth of the log. Entries written before the letters existed have full names; both forms are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["SHORT", "expand_fields", "shorten_fields"]

SHORT: Final[Mapping[str, str]] = {
    "attribute": "a",
    "cardinality": "c",
    "confidence": "o",
    "contested": "d",
    "entity": "e",
    "expires_us": "x",
    "importance": "i",
    "layer": "l",
    "metadata": "m",
    "relation": "r",
    "scope": "b",
    "source_session": "n",
    "speaker": "w",
    "stance": "h",
    "status": "s",
    "superseded_by": "y",
    "text": "t",
    "topic": "p",
    "trust": "q",
    "type": "k",
    "valid_from_us": "f",
    "valid_until_us": "u",
    "value": "v",
}
"""Field → letter. A letter never changes its meaning, because the log is never rewritten."""
_LONG: Final = {letter: name for name, letter in SHORT.items()}


def shorten_fields(part: Mapping[str, object]) -> dict[str, object]:
    """Replace the field names of one side of a change by their letters."""
    return {SHORT.get(name, name): value for name, value in part.items()}


def expand_fields(part: Mapping[str, object]) -> dict[str, object]:
    """Replace the letters of one side of a change by the field names.

    >>> spelled_out(shortened({"text": "tea", "linked": []}))
    {'text': 'tea', 'linked': []}
    """
    return {_LONG.get(name, name): value for name, value in part.items()}
