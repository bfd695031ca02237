"""Split a sentence into clauses, strip openings that mark its stance, and expand contractions."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from credenda.model.claim import UpdateKind
from credenda.write.extract.lexicon import RECENT, expression, load_table, names, occurs
from credenda.write.extract.patterns import Gate, in_lower_case
from credenda.write.extract.values import leading_scope

__all__ = ["Clause", "open_contractions", "open_sentence", "read_clause", "split_clauses", "straighten"]

_OPENINGS_MAX: Final = 6
_OPENINGS: Final = ("unwrap", "correction", "change", "filler", "hedge")
_CLAUSES_MAX: Final = 8
_QUOTES: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})
_EMOJI: Final = re.compile(
    " ?(?:[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff]"
    "[\ufe0e\ufe0f\u200d\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*)+"
)
"""Emoji with their variation and joining characters; they mark tone, and belong to no name."""
_BULLET: Final = re.compile(r"^(?:[-*\u2022+]|\d{1,3}[.)]|#{1,6})\s+|^[^\w\"'(>]+")
_MARKUP: Final = re.compile(r"\*\*|__|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|`")


class Clause(NamedTuple):
    """One clause without its openings, and the features of these.

    `reporter` is the quoted person ("my sister"); `report` marks hearsay of any kind.
    """

    text: str
    move: UpdateKind = UpdateKind.STATE
    hedged: bool = False
    scope: str | None = None
    report: bool = False
    reporter: str | None = None
    unwrapped: bool = False


@cache
def _tables() -> dict[str, re.Pattern[str]]:
    tails, acts = load_table("tails"), load_table("acts")
    clauses = tails["clauses"] | {"part": f"(?={tails['part_begins']})(?:{tails['clauses']['part']})"}
    found = {name: re.compile(text, re.IGNORECASE) for name, text in clauses.items()}
    openings = {name: re.compile(f"^{text}", re.IGNORECASE) for name, text in acts["openings"].items()}
    return found | openings


class _Contraction(NamedTuple):
    """A contraction: the texts of which one must occur, and whether all of them have an apostrophe."""

    has: tuple[str, ...]
    quoted: bool
    pattern: re.Pattern[str]
    target: str | Callable[[re.Match[str]], str]


def _contraction(entry: dict[str, Any]) -> _Contraction:
    target: str | dict[str, str] = entry["to"]
    pattern = re.compile(entry["from"], re.IGNORECASE)
    has = _needed(entry)
    quoted = all("'" in text for text in has)
    if isinstance(target, str):
        return _Contraction(has, quoted, pattern, target)

    def look_up(found: re.Match[str]) -> str:
        return target[found[1].lower()]

    return _Contraction(has, quoted, pattern, look_up)


def _needed(entry: dict[str, Any]) -> tuple[str, ...]:
    """Return texts of which one occurs in every match of a rule; "" occurs everywhere."""
    found: str | list[str] = entry.get("has", "")
    return (found,) if isinstance(found, str) else tuple(found)


@cache
def _contractions() -> tuple[_Contraction, ...]:
    return tuple(_contraction(entry) for entry in load_table("tails")["contraction"])


def straighten(sentence: str) -> str:
    """Normalise quotes and spaces of a sentence; remove list markers, emphasis marks and emoji."""
    worded = sentence if sentence.isascii() else _EMOJI.sub("", sentence.translate(_QUOTES))
    plain = " ".join(worded.split())
    if "*" in plain or "`" in plain or "__" in plain:
        plain = _MARKUP.sub("", plain)
    return _BULLET.sub("", plain)


def _is_bare(text: str, folded: str) -> bool:
    shape = expression("tails", "bare")
    return (in_lower_case(shape).search(folded) if text.isascii() else shape.search(text)) is not None


def open_contractions(text: str) -> str:
    """Expand "I'm", "don't" and "we've".

    >>> open_contractions("I'm sure we don't")
    'I am sure we do not'
    """
    folded = text.lower()
    if "'" not in text and not (occurs(load_table("tails")["bare_has"], folded) and _is_bare(text, folded)):
        return text
    quoted = "'" in folded
    for rule in _contractions():
        if (quoted or not rule.quoted) and occurs(rule.has, folded):
            text = rule.pattern.sub(rule.target, text)
    return text


def split_clauses(sentence: str) -> list[str]:
    """Split a sentence where a new subject, a question or a request begins."""
    return list(_split(sentence))


@lru_cache(maxsize=RECENT)
def _split(sentence: str) -> tuple[str, ...]:
    pieces = [piece for piece in _tables()["part"].split(sentence, maxsplit=_CLAUSES_MAX) if piece]
    for at in range(len(pieces) - 2, -1, -1):
        before = pieces[at].strip()
        joined = before.lower() not in names().never_names and _tables()["partner"].match(before)
        if joined and f"{before} and {pieces[at + 1]}" in sentence and pieces[at + 1].lower().startswith("i "):
            pieces[at : at + 2] = [f"{before} and {pieces[at + 1]}"]
        elif _tables()["adverbial"].fullmatch(pieces[at].strip()):
            pieces[at : at + 2] = [f"{pieces[at].strip()}, {pieces[at + 1]}"]
    return tuple(pieces)


@cache
def _opening_gate() -> Gate:
    return Gate(_tables()[name] for name in _OPENINGS)


def _opened(clause: Clause) -> Clause:
    """Strip one opening from a clause, if it has one."""
    if not _opening_gate().opens(clause.text):
        return clause
    tables = _tables()
    for name in _OPENINGS:
        found = tables[name].match(clause.text)
        if found and found.end() < len(clause.text):
            return _after(clause, name, clause.text[found.end() :].lstrip(" ,"))
    return clause


def _after(clause: Clause, name: str, rest: str) -> Clause:
    match name:
        case "correction":
            return clause._replace(text=rest, move=UpdateKind.CORRECT)
        case "change" if clause.move is UpdateKind.STATE:
            return clause._replace(text=rest, move=UpdateKind.CHANGE)
        case "hedge":
            return clause._replace(text=rest, hedged=True)
        case "unwrap":
            return clause._replace(text=rest, unwrapped=True)
        case _:
            return clause._replace(text=rest)


def _reported(clause: Clause) -> Clause:
    tables = _tables()
    if found := tables["reported"].match(clause.text):
        return clause._replace(text=found["rest"], report=True, reporter=found["who"])
    if found := tables["according"].match(clause.text):
        return clause._replace(text=found["rest"], report=True)
    return clause


@lru_cache(maxsize=RECENT)
def open_sentence(sentence: str) -> Clause:
    """Strip the openings of a whole sentence; they apply to all its clauses."""
    clause = Clause(text=sentence)
    for _ in range(_OPENINGS_MAX):
        opened = _opened(clause)
        if opened is clause:
            break
        clause = opened
    return clause


@lru_cache(maxsize=RECENT)
def read_clause(text: str) -> Clause | None:
    """Strip the openings of a clause; None for a subordinate clause."""
    opened = open_sentence(text.strip(" ,.!;\u2026"))
    if ":" in opened.text and _tables()["quoting"].match(opened.text):
        return None
    clause = _reported(opened)
    if clause.report and clause.text.startswith(('"', "'")):
        return None  # somebody else's "I"
    hangs = _tables()["hanging"].match(clause.text) is not None
    return None if not clause.text or (hangs and leading_scope(clause.text)[0] is None) else clause
