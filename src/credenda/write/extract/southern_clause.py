"""A clause of a southern language while it is said in English: its words, what was said, and who does it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from credenda.write.extract.conjugate import Form
from credenda.write.extract.glossary import Item

__all__ = ["DENIALS", "DENYING", "SUBJECTS", "Clause", "Said", "done_of", "subject_before", "with_time_last"]

DENIALS: Final = frozenset({"neg", "longer", "never", "ne"})
"""Kinds of words that deny."""
DENYING: Final = {"neg": "not", "longer": "no longer", "never": "never"}
SUBJECTS: Final = {1: "I", 4: "we"}
_PERSONS: Final = {"I": 1, "we": 4, "you": 2, "they": 6}
_WE: Final = 4
_TIMES: Final = frozenset(
    {
        "now",
        "last week",
        "last month",
        "last year",
        "next week",
        "next month",
        "next year",
        "recently",
        "yesterday",
        "today",
    }
) | {"tomorrow", "currently", "from now on"}


class Said(NamedTuple):
    """A piece of the English sentence and the place of what it stands for; -1 where nothing does."""

    text: str
    start: int = -1
    stop: int = -1
    tag: str = ""


@dataclass(slots=True)
class Clause:
    """A clause while it is read: what was said in English, whether a subject and a verb were."""

    items: list[Item]
    language: str
    out: list[Said] = field(default_factory=list[Said])
    named: bool = False
    verbed: bool = False
    doing: str = ""
    told: bool = False
    ordered: bool = False
    denied: tuple[str, int, str] | None = None

    def put(self, text: str, item: Item | None = None, tag: str = "") -> None:
        """Return a piece."""
        if item is None:
            self.out.append(Said(text, tag=tag))
        else:
            self.out.append(Said(text, item.start, item.stop, tag or item.tag))


def done_of(item: Item) -> Form | None:
    """Return the participle that an item may be."""
    return next((one for one in item.forms if one.tense == "participle"), None)


def subject_before(clause: Clause) -> int:
    """Return the person of a pronoun right before, 4 for "X and I"; 0 without any."""
    said = {one.text for one in clause.out}
    if {"and", "I"} <= said:
        return _WE
    told = next((one for one in reversed(clause.out[-2:]) if one.tag == "subject"), None)
    return 0 if told is None else _PERSONS.get(told.text, 3)


def with_time_last(out: Sequence[Said]) -> list[Said]:
    """Return when at the end of a clause: "I moved to Linz last week"."""
    verbs = [at for at, one in enumerate(out) if one.tag == "verb"]
    if len(verbs) != 1:
        return list(out)
    kept, late = list(out[: verbs[0] + 1]), list[Said]()
    for one in out[verbs[0] + 1 :]:
        if one.tag == "adv" and one.text in _TIMES:
            late.append(one)
        elif one.text.endswith(" ago") and kept[-1].tag in {"det", "number"}:
            late += [kept.pop(), one]
        else:
            kept.append(one)
    return [*kept, *late]
