"""Sentences of the engine, such as the reason of a change, in the language of a person.

The engine writes English. Another language has each of its sentences in `phrases/LANGUAGE.toml`, with places for what
varies; the values in those places, which may be words of a memory, stay as they are.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["load_patterns", "load_phrases", "translate_phrase"]

_PLACE: Final = re.compile(r"\{([a-z]+[0-9]?)\}")
_NESTED: Final = "phrase"
_DENIED: Final = "not {value}"
"""How the engine writes a value that is denied; it stands in the place of a value."""
_DEPTH: Final = 3
_CHARACTERS_MAX: Final = 1_000
"""A longer text is no sentence of the engine."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    """An English sentence with places, and its translation."""

    english: re.Pattern[str]
    text: str
    fixed: int
    """The number of characters outside of the places."""


def translate_phrase(language: str, text: str) -> str:
    """Return a sentence of the engine in a language; one that is unknown, or no sentence of its, stays as it is.

    >>> translate_phrase("de", "“teal” replaces “amber”, which was true until then")
    '„teal“ ersetzt „amber“, was bis dahin stimmte'
    """
    if len(text) > _CHARACTERS_MAX:
        return text
    return _translate(language, text, _DEPTH)


def _translate(language: str, text: str, depth: int) -> str:
    known = load_phrases(language)
    if text in known:
        return known[text]
    for pattern in load_patterns(language) if depth else ():
        found = pattern.english.fullmatch(text)
        if found is not None:
            places = {
                name: _translate(language, value, depth - 1) if name.startswith(_NESTED) else _show(value, known)
                for name, value in found.groupdict().items()
            }
            return _PLACE.sub(lambda one: places[one[1]], pattern.text)  # noqa: B023 - called at once
    return text


def _show(value: str, known: Mapping[str, str]) -> str:
    denied = _DENIED.removesuffix("{value}")
    if not value.startswith(denied) or _DENIED not in known:
        return value
    return known[_DENIED].replace("{value}", value.removeprefix(denied))


@cache
def load_phrases(language: str) -> Mapping[str, str]:
    """Return the sentences of a language by their English; none for English."""
    path = files("credenda.interfaces.web") / "phrases" / f"{language}.toml"
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


@cache
def load_patterns(language: str) -> Sequence[_Pattern]:
    """Return the sentences with places, those with the most fixed characters first."""
    found = [_make_pattern(english, text) for english, text in load_phrases(language).items() if "{" in english]
    return sorted(found, key=lambda one: -one.fixed)


def _make_pattern(english: str, text: str) -> _Pattern:
    pieces = _PLACE.split(english)
    fixed, names = pieces[::2], pieces[1::2]
    written = re.escape(fixed[0])
    for name, piece in zip(names, fixed[1:], strict=True):
        written += f"(?P<{name}>.+?){re.escape(piece)}"
    return _Pattern(re.compile(written, re.DOTALL), text, sum(map(len, fixed)))
