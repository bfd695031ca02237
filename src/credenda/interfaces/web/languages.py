"""The texts of the pages by language: English is written in the templates, other languages are in `messages/`.

A word of the model or of the log that English shows otherwise, such as `role_play`, stands in `messages/en/`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["ENGLISH", "LANGUAGES", "choose_language", "load_messages", "translate", "translate_word"]

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
