"""Front matter: a tolerant parser of the subset of YAML that notes use.

It supports keys with a text, a list in brackets or a list of dashes, and ignores anything else. A full YAML parser
would reject notes with a colon in the title, and would be another dependency.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from credenda import limits
from credenda.portability.importers.blocks import TextLine

__all__ = ["Front", "read_front", "read_tags"]

_PAIR: Final = re.compile(r"([A-Za-z][\w -]*?)\s*:(?:\s+(.*))?$")
_ITEM: Final = re.compile(r"\s*-\s+(.*)$")
_DATES: Final = ("date", "created", "created_at")
_QUOTES: Final = "\"'"


@dataclass(frozen=True, slots=True)
class Front:
    """Parsed front matter: for each lower-case key, its line and its values."""

    pairs: Mapping[str, tuple[int, list[str]]]

    def text(self, name: str) -> str:
        """Return the single value of a key; "" if there is none."""
        _, values = self.pairs.get(name, (0, []))
        return values[0] if values else ""

    def values(self, *names: str) -> list[str]:
        """Return all values of some keys."""
        return [value for name in names for value in self.pairs.get(name, (0, []))[1]]

    def dated(self) -> tuple[int, str]:
        """Return line and text of the first date; (0, "") if there is none."""
        return next(((self.pairs[name][0], self.text(name)) for name in _DATES if self.text(name)), (0, ""))


def read_front(lines: Iterable[TextLine]) -> Front:
    """Parse the lines between the dashes."""
    pairs: dict[str, tuple[int, list[str]]] = {}
    values: list[str] = []
    for line in lines:
        if found := _PAIR.match(line.text):
            values = _read_values(found[2] or "")
            pairs[found[1].casefold()] = (line.number, values)
        elif found := _ITEM.match(line.text):
            values += _read_values(found[1], listed=True)
    return Front(pairs)


def read_tags(words: Iterable[str]) -> tuple[str, ...]:
    """Return tags without `#`, limited in number and length."""
    names = (name for word in words for part in word.replace(",", " ").split() if (name := part.lstrip("#")))
    found = dict.fromkeys(name for name in names if len(name) <= limits.NAME_CHARACTERS)
    return tuple(found)[: limits.TAGS]


def _read_values(text: str, *, listed: bool = False) -> list[str]:
    text = text.strip()
    if not listed and text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        return [value for part in text[1:-1].split(",") if (value := part.strip().strip(_QUOTES))]
    value = text.strip(_QUOTES).strip()
    return [value] if value else []
