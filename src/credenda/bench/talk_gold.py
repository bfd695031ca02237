"""Gold files of `credenda bench talk`: what a careful reader wrote down of a conversation.

`docs/reference/beliefs.md` describes both files. A claim names the turn that says it; a question names its turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from credenda.bench.jsonl import read_numbered_lines
from credenda.errors import Invalid

__all__ = ["Gold", "GoldClaim", "GoldQuestion", "Replaced", "load_gold"]

_T = TypeVar("_T")
_KINDS: Final = frozenset({"current", "past", "detail", "absent"})
_RELATIONS: Final = frozenset({"", "changed", "corrected", "ended", "refined", "decided", "contradicts"})


@dataclass(frozen=True, slots=True)
class Replaced:
    """An earlier claim that a later one makes no longer current, named as it was written."""

    turn: str
    attribute: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldClaim:
    """One claim that a memory should hold. `weight` 2 is worth holding in any memory, 1 is good to hold."""

    turn: str
    by: str
    subject: str
    attribute: str
    value: str
    statement: str
    type: str
    stance: str
    weight: int
    clause: str
    replaces: tuple[Replaced, ...]
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldQuestion:
    """One question. `stale` lists outdated values; a question of kind `absent` has no answer and no turns."""

    question: str
    answer: str
    stale: tuple[str, ...]
    turns: frozenset[str]
    kind: str


@dataclass(frozen=True, slots=True)
class Gold:
    """The claims and questions of one conversation, in the order of the files."""

    claims: Sequence[GoldClaim]
    questions: Sequence[GoldQuestion]


def load_gold(folder: Path, conversation: str) -> Gold | None:
    """Read the gold of a conversation from `[PREFIX.]NAME.claims.jsonl` and `….questions.jsonl`; None without claims.

    Raise `Invalid` naming the malformed line, and if two files could be meant.
    """
    claims = _find_file(folder, conversation, "claims")
    if claims is None:
        return None
    questions = _find_file(folder, conversation, "questions")
    return Gold(_read(claims, _parse_claim), [] if questions is None else _read(questions, _parse_question))


def _find_file(folder: Path, conversation: str, kind: str) -> Path | None:
    ending = f"{conversation}.{kind}.jsonl"
    found = sorted(path for path in folder.iterdir() if path.name == ending or path.name.endswith(f".{ending}"))
    if len(found) > 1:
        what = f"{folder} has {len(found)} files of {kind} for {conversation}"
        raise Invalid(what, why=", ".join(path.name for path in found), fix="keep one of them in the folder")
    return found[0] if found else None


def _read(path: Path, parse: Callable[[Mapping[str, Any]], _T]) -> list[_T]:
    parsed: list[_T] = []
    for number, row in read_numbered_lines(path):
        try:
            parsed.append(parse(row))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            what = f"line {number} of {path} is not gold"
            why = f"{type(error).__name__}: {error}"
            raise Invalid(what, why=why, fix="see docs/reference/beliefs.md for the fields") from error
    return parsed


def _parse_claim(row: Mapping[str, Any]) -> GoldClaim:
    texts = {name: str(row[name]) for name in ("turn", "by", "subject", "attribute", "value", "statement", "stance")}
    relation = str(row.get("relation") or "")
    if relation not in _RELATIONS:
        message = f"unknown relation {relation!r}"
        raise ValueError(message)
    replaces = tuple(
        Replaced(str(one["turn"]), str(one["attribute"]), str(one["value"])) for one in row.get("replaces") or ()
    )
    return GoldClaim(
        **texts,
        type=str(row.get("type") or ""),
        weight=int(row["weight"]),
        clause=str(row.get("clause") or ""),
        replaces=replaces,
        relation=relation,
    )


def _parse_question(row: Mapping[str, Any]) -> GoldQuestion:
    kind = str(row["kind"])
    if kind not in _KINDS:
        message = f"unknown kind {kind!r}"
        raise ValueError(message)
    return GoldQuestion(
        question=str(row["question"]),
        answer=str(row.get("answer") or ""),
        stale=tuple(map(str, row.get("stale") or ())),
        turns=frozenset(map(str, row.get("turns") or ())),
        kind=kind,
    )
