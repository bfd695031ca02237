"""The texts of the pages by language: English is written in the templates, other languages are in `messages/`.

A word of the model or of the log that English shows otherwise, such as `role_play`, stands in `messages/en/`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from credenda.model.statement import name_attribute

ENGLISH: Final = "en"
LANGUAGES: Final[Mapping[str, str]] = {ENGLISH: "English", "de": "Deutsch"}
"""Each language by its own name."""
_RANGES: Final = 20


@cache
def load_messages(language: str) -> Mapping[str, str]:
    """Return the texts of a language by their English."""
    folder = files("credenda.interfaces.web") / "messages" / language
    found: dict[str, str] = {}
    for page in sorted(folder.iterdir(), key=lambda one: one.name):
        if page.name.endswith(".toml"):
            found |= tomllib.loads(page.read_text("utf-8"))
    return found


def translate(language: str, message: str, **values: object) -> str:
    """Return a text in a language, with its values in place of `{name}`; one that is not translated stays English.

    >>> translate("en", "{n} memories", n=3)
    '3 memories'
    """
    text = load_messages(language).get(message, message)
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def translate_word(language: str, kind: str, word: str) -> str:
    """Return a word of the engine, such as the name of a term of a score, as a person reads it.

    An unknown one stays as it is.

    >>> translate_word("en", "curve", "l2"), translate_word("en", "curve", "new")
    ('halves again and again (l2)', 'new')
    """
    key = f"{kind}:{word}"
    return load_messages(language).get(key) or load_messages(ENGLISH).get(key) or word


def choose_language(wanted: str, header: str) -> str:
    """Choose from the language that a person has picked, else from those that the browser accepts (RFC 9110).

    >>> choose_language("", "fr, de-AT;q=0.8, en;q=0.5")
    'de'
    """
    if wanted in LANGUAGES:
        return wanted
    ranges: list[tuple[float, str]] = []
    for part in header.split(",")[:_RANGES]:
        tag, _, quality = part.strip().partition(";")
        ranges.append((_read_quality(quality), tag.strip().partition("-")[0].casefold()))
    for weight, tag in sorted(ranges, key=lambda one: -one[0]):
        if weight > 0 and tag in LANGUAGES:
            return tag
    return ENGLISH


def _read_quality(text: str) -> float:
    name, _, value = text.strip().partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


# Sentences of the engine, such as the reason of a change, in the language of a person.


_PLACE: Final = re.compile(r"\{([a-z]+[0-9]?)\}")
_NESTED: Final = "phrase"
_SLOT: Final = "slot"
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
                name: _translate(language, value, depth - 1)
                if name.startswith(_NESTED)
                else _show(language, name, value)
                for name, value in found.groupdict().items()
            }
            return _PLACE.sub(lambda one: places[one[1]], pattern.text)  # noqa: B023 - called at once
    return text


def _show(language: str, name: str, value: str) -> str:
    """Write a value in its place; the name of a slot, and a denial, in the language."""
    if name == _SLOT:
        return name_attribute(value.replace(" ", "_"), language)
    known, denied = load_phrases(language), _DENIED.removesuffix("{value}")
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
