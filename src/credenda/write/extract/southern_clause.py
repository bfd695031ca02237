"""The state of a French, Spanish or Portuguese clause during translation. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from credenda.write.extract.conjugate import Form
from credenda.write.extract.glossary import Item

__all__ = ["DENIALS", "DENYING", "SUBJECTS", "Clause", "Said", "done_of", "subject_before", "with_time_last"]

DENIALS: Final = frozenset({"neg", "longer", "never", "ne"})
"""Kinds of negating words."""
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
    """A piece of the English sentence and the span of its original; -1 without one."""

    text: str
    start: int = -1
    stop: int = -1
    tag: str = ""


@dataclass(slots=True)
class Clause:
    """The translation of a clause so far, and whether it has a subject and a verb."""

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
        """Append a piece."""
        if item is None:
            self.out.append(Said(text, tag=tag))
        else:
            self.out.append(Said(text, item.start, item.stop, tag or item.tag))


def done_of(item: Item) -> Form | None:
    """Return the participle of an item, if it can be one."""
    return next((one for one in item.forms if one.tense == "participle"), None)


def subject_before(clause: Clause) -> int:
    """Return the person of the preceding pronoun, 4 for "X and I"; 0 without any."""
    said = {one.text for one in clause.out}
    if {"and", "I"} <= said:
        return _WE
    told = next((one for one in reversed(clause.out[-2:]) if one.tag == "subject"), None)
    return 0 if told is None else _PERSONS.get(told.text, 3)


def with_time_last(out: Sequence[Said]) -> list[Said]:
    """Move the time to the end of a clause: "I moved to Linz last week"."""
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
