"""The sentence patterns of the rules, loaded from data and indexed by main verb."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from credenda.model.claim import UpdateKind
from credenda.model.memory import MemoryType, Stance
from credenda.write.extract.lexicon import load_table, names

__all__ = ["Gate", "Pattern", "compile_macros", "in_lower_case", "patterns_for"]

_MACRO: Final = re.compile(r"\{([A-Z]+)\}")
_GROUP: Final = re.compile(r"\(\?P<\w+>")
_LETTERS: Final = re.compile(r"\\.|[A-Z]+", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One sentence pattern: its subject kind, its predicate, and the claim that it gives."""

    name: str
    on: tuple[str, ...]
    match: re.Pattern[str]
    who: frozenset[str] = frozenset({"me", "person"})
    tense: str = "present"
    type: MemoryType = MemoryType.FACT
    attribute: str = ""
    entity: str | None = None
    former: str | None = None
    prefix: str = ""
    value: str | None = None
    check: str = ""
    move: UpdateKind = UpdateKind.STATE
    stance: Stance = Stance.ASSERTED
    category: bool = False
    many: bool = False
    split: bool = False
    can: bool = False
    purpose: bool = False
    scope: bool = False
    swap: bool = False
    importance: float = 0.6
    confidence: float = 0.8


def compile_macros(text: str, macros: Mapping[str, str]) -> re.Pattern[str]:
    """Compile an expression after expanding its macros, which may be nested."""
    for _ in range(3):
        text = _MACRO.sub(lambda found: macros.get(found[1], found[0]), text)
    return re.compile(text, re.IGNORECASE)


class Gate:
    """A joint expression of several patterns, which excludes most texts in one match.

    ASCII text is matched in lower case, which equals ignoring case and takes half the time.
    """

    def __init__(self, shapes: Iterable[re.Pattern[str]]) -> None:
        """Join the patterns."""
        joined = "|".join(f"(?:{_GROUP.sub('(?:', shape.pattern)})" for shape in shapes)
        self._match = re.compile(joined, re.IGNORECASE).match
        self._folded = None if "(?-i:" in joined else re.compile(_lowered(joined)).match

    def opens(self, text: str) -> bool:
        """Return whether one of the patterns matches the start of a text."""
        if self._folded is not None and text.isascii():
            return self._folded(text.lower()) is not None
        return self._match(text) is not None


@cache
def in_lower_case(shape: re.Pattern[str]) -> re.Pattern[str]:
    """Return a case-insensitive expression for lower-case ASCII text, which takes half the time.

    Its groups have no names; no part of it may depend on case.
    """
    return re.compile(_lowered(_GROUP.sub("(?:", shape.pattern)))


def _lowered(expression: str) -> str:
    """Convert the letters of an expression to lower case, except escapes."""
    return _LETTERS.sub(lambda found: found[0] if found[0][0] == "\\" else found[0].lower(), expression)


def _kin_macro() -> str:
    words = sorted(names().kin | names().pets | names().plural_kin.keys(), key=len, reverse=True)
    return f"(?:{'|'.join(map(re.escape, words))})"


def _pattern(entry: Mapping[str, Any], macros: Mapping[str, str]) -> Pattern:
    fields = dict(entry)
    fields["on"] = tuple(entry["on"])
    fields["match"] = compile_macros(entry["match"], macros)
    if "who" in entry:
        fields["who"] = frozenset(entry["who"])
    fields["type"] = MemoryType(entry.get("type", "fact"))
    fields["move"] = UpdateKind(entry.get("move", "state"))
    fields["stance"] = Stance(entry.get("stance", "asserted"))
    return Pattern(**fields)


@cache
def _by_verb() -> Mapping[tuple[str, str], tuple[Pattern, ...]]:
    found: dict[tuple[str, str], list[Pattern]] = {}
    for table in map(load_table, ("changes", "patterns", "things", "frames")):
        macros = table["macros"] | {"KIN": _kin_macro()}
        for entry in table["pattern"]:
            pattern = _pattern(entry, macros)
            for verb in pattern.on:
                for who in pattern.who:
                    found.setdefault((who, verb), []).append(pattern)
    return {key: tuple(patterns) for key, patterns in found.items()}


@cache
def patterns_for(who: str, verb: str) -> tuple[Pattern, ...]:
    """Return the patterns for a subject kind and a main verb, in the order of the data files."""
    table = _by_verb()
    return table.get((who, verb), ()) + table.get((who, "*"), ())
