"""Read the dates of objects, and split "dashboard response time" into the object and its measure. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from credenda.write.parse.clauses import Clause
from credenda.write.parse.fact import Fact, Statement, make_fact
from credenda.write.parse.people import PartyKind
from credenda.write.parse.tree import Tree

__all__ = [
    "DATE_VERBS",
    "Measure",
    "find_measure_before",
    "find_measured",
    "is_measured",
    "read_object_dates",
    "split_measure",
]

_MEASURES: Final = frozenset(
    [
        *("time", "deadline", "budget", "rate", "coverage", "cost", "price", "limit", "size", "count", "score", "goal"),
        *("target", "version", "uptime", "usage", "latency", "duration", "salary", "rent", "timeout", "quota", "date"),
        *("fee", "balance", "accuracy", "number", "length", "weight", "height", "capacity", "port", "status", "total"),
    ]
)
_PAIRED: Final = frozenset({"time", "date", "rate", "count", "size", "limit", "usage", "number", "coverage", "latency"})
"""Measures that say nothing without the noun before: "response time", "test coverage"."""
_QUALIFIERS: Final = frozenset(
    [
        *("average", "total", "current", "new", "maximum", "minimum", "initial", "overall"),
        *("monthly", "weekly", "daily", "annual"),
    ]
)
"""Adjectives that belong to a measure, not to its object."""
DATE_VERBS: Final = {
    "end": "deadline",
    "finish": "deadline",
    "close": "deadline",
    "expire": "expiry",
    "start": "start_date",
    "begin": "start_date",
    "target": "deadline",
    "open": "start_date",
    "launch": "start_date",
    "schedule": "date",
    "plan": "date",
    "happen": "date",
    "be": "date",
}
_DATE_WORDS: Final = ("on", "by", "at", "for", "in", "until")


class Measure(NamedTuple):
    """An attribute that is measured, and the object that has it, "" if the phrase names none."""

    owner: str
    attribute: str


def split_measure(phrase: str) -> Measure | None:
    """Return the object and the measure in a noun phrase; None if its last noun measures nothing.

    >>> split_measure("average API response time"), split_measure("budget"), split_measure("red car")
    (Measure(owner='API', attribute='average_response_time'), Measure(owner='', attribute='budget'), None)
    """
    words = phrase.split()
    if not words or words[-1].lower() not in _MEASURES:
        return None
    size = 2 if words[-1].lower() in _PAIRED and len(words) > 1 else 1
    before = words[:-size]
    qualifiers = [word for word in before if word.lower() in _QUALIFIERS]
    owner = " ".join(word for word in before if word not in qualifiers)
    return Measure(owner, "_".join([*qualifiers, *words[-size:]]).lower())


def is_measured(attribute: str) -> bool:
    """Return whether an attribute is an amount, a time or another measure, of which a thing has one."""
    return attribute not in {"status", "goal"} and split_measure(attribute.replace("_", " ")) is not None


def find_measured(tree: Tree, clause: Clause) -> int | None:
    """Return the subject of a clause; of "the coverage of my module, which rose", the coverage."""
    subject = clause.subject
    if subject is None or tree.tokens[clause.head].dep != "relcl" or tree.tokens[subject].dep != "pobj":
        return subject
    above = tree.tokens[tree.tokens[subject].head].head
    return above if tree.lemma(above) in _MEASURES else subject


def find_measure_before(tree: Tree, at: int) -> int | None:
    """Return the last noun before a pronoun that names a measure: "the response time …, and I cut it to 300 ms"."""
    return next(
        (one for one in reversed(range(at)) if tree.lemma(one) in _MEASURES and tree.tokens[one].pos == "NOUN"), None
    )


def read_object_dates(said: Statement) -> Iterator[Fact]:
    """Yield the day on which an object ends, starts, is due or takes place."""
    tree, head, party = said.tree, said.clause.head, said.party
    attribute = DATE_VERBS.get(tree.lemma(head))
    if attribute is None or party.kind not in {PartyKind.THING, PartyKind.OWN_THING}:
        return
    if tree.lemma(head) in {"plan", "schedule"} and not said.clause.passive:
        return
    if tree.lemma(head) == "be":
        due = next((one for one in tree.find_all(head, "acomp") if tree.lemma(one) == "due"), None)
        attribute, head = ("deadline", due) if due is not None else (attribute, head)
    for word in _DATE_WORDS:
        at = tree.preposition(head, word)
        if at is not None and is_day(tree, at):
            yield make_fact(said, attribute, read_day(tree, at), entity=party.noun)
            return


def is_day(tree: Tree, at: int) -> bool:
    return any(tree.tokens[one].entity == "DATE" for one in tree.descend(at, {"prep", "relcl"}))


def read_day(tree: Tree, at: int) -> str:
    """Return a day with its hour: "March 22 at 3 PM"."""
    last = at
    while last + 1 < len(tree.tokens) and (
        tree.tokens[last + 1].entity in {"DATE", "TIME"} or is_before_hour(tree, last + 1)
    ):
        last += 1
    return tree.slice(next(one for one in tree.descend(at, {"det"})), last).strip(",. ")


def is_before_hour(tree: Tree, at: int) -> bool:
    """Return whether a word stands between a day and its hour."""
    following = tree.tokens[at + 1].entity if at + 1 < len(tree.tokens) else ""
    return tree.tokens[at].text in {"at", "from"} and following == "TIME"
