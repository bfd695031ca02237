"""Figures of `bench beliefs`: shares of right decisions with confidence intervals, and every error.

A share comes with its 95 % Wilson score interval (Wilson, JASA 1927), which is valid for small samples and extreme
shares.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from credenda.model.memory import Memory, Status

_Z: Final = 1.959964
_HYPOTHETICAL_MAX: Final = 0.3
_PLAN_MAX: Final = 0.5
_REPLACING: Final = frozenset({"supersede", "refine"})
_STANDING: Final = frozenset({"coexist", "coexist_low"})


def list_kinds(line: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the types that a line accepts: none, one, or several where it names a list."""
    named = line.get("type")
    return tuple(named) if isinstance(named, list | tuple) else (named,) if named else ()  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - foreign JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A memory of a sentence: its type, confidence, whether it is a plan, and whether it is about the user."""

    type: str
    confidence: float
    planned: bool
    users: bool
    shown: str

    @property
    def uncertain(self) -> bool:
        """Return whether it is uncertain: confidence 0.3 at most, or a plan at 0.5 at most."""
        return self.confidence <= (_PLAN_MAX if self.planned else _HYPOTHETICAL_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A sentence and its memories."""

    line: Mapping[str, Any]
    kept: tuple[Kept, ...]

    @property
    def decision(self) -> str:
        """Return the memory's decision: store, skip or uncertain."""
        if not self.kept:
            return "skip"
        return "uncertain" if all(one.uncertain for one in self.kept) else "store"

    @property
    def decided_well(self) -> bool:
        """Return whether the decision matches the label."""
        return self.decision == self.line["label"]

    @property
    def kind_fits(self) -> bool:
        """Whether the first firm memory has a type that the line names."""
        kind = next((one.type for one in self.kept if not one.uncertain), None)
        return kind in list_kinds(self.line) if list_kinds(self.line) else kind is None

    @property
    def misattributed(self) -> bool:
        """Return whether a fact of another person, or an assistant's sentence, is stored as the user's."""
        others = self.line.get("about") == "other" or self.line.get("role") == "assistant"
        return others and any(one.users and not one.uncertain for one in self.kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """A pair, the final state of the old sentence's memories, and the active memories."""

    line: Mapping[str, Any]
    old: tuple[Memory, ...]
    active: tuple[Memory, ...]
    said: int

    @property
    def relation(self) -> str:
        """Return the label: the effect of the new sentence on the old one."""
        return str(self.line["relation"])

    @property
    def retired(self) -> bool:
        """Return whether a memory of the old sentence is no longer active."""
        gone = [one for one in self.old if one.status is not Status.ACTIVE]
        past = self.line.get("past")
        return any(past is None or _has_value(one, past) or len(self.old) == 1 for one in gone)

    @property
    def right(self) -> bool:
        """Return whether the result matches the label."""
        return bool(self.said) and _JUDGES[self.relation](self)

    def holds(self, value: str | None) -> bool:
        """Return whether a certain active memory contains the value; None and "" always match."""
        return not value or any(_has_value(one, value) for one in self.active if one.confidence > _HYPOTHETICAL_MAX)


def _has_value(memory: Memory, value: str) -> bool:
    return value.casefold() in f"{memory.value or ''} {memory.text}".casefold()


def _was_replaced(met: Met) -> bool:
    return met.retired and met.holds(met.line.get("current"))


def _is_beside(met: Met) -> bool:
    kept = all(one.status is Status.ACTIVE for one in met.old)
    faint = met.relation == "coexist" or all(
        one.confidence <= _PLAN_MAX for one in met.active if one.id not in {old.id for old in met.old}
    )
    wanted: Iterable[str] = met.line.get("both", [met.line.get("current")])
    return kept and faint and all(met.holds(value) for value in wanted)


def _is_same(met: Met) -> bool:
    return len(met.active) == int(met.line.get("count", 1))


def _is_late(met: Met) -> bool:
    kept = all(one.status is Status.ACTIVE for one in met.old)
    return kept and len(met.active) == met.said


_JUDGES: Final[Mapping[str, Callable[[Met], bool]]] = {
    "supersede": _was_replaced,
    "refine": _was_replaced,
    "coexist": _is_beside,
    "coexist_low": _is_beside,
    "same": _is_same,
    "late": _is_late,
}


def compute_wilson_interval(hits: int, n: int) -> dict[str, Any]:
    """Return a share with its 95 % interval; None for n = 0.

    >>> compute_wilson_interval(9, 10)["ci95"]
    [0.5958, 0.9821]
    """
    if not n:
        return {"value": None, "ci95": None, "hits": 0, "n": 0}
    share = hits / n
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return {"value": round(share, 4), "ci95": [round(low, 4), round(high, 4)], "hits": hits, "n": n}


def _compute_share(found: Iterable[bool]) -> dict[str, Any]:
    counted = list(found)
    return compute_wilson_interval(sum(counted), len(counted))


def report(heard: Sequence[Heard], met: Sequence[Met]) -> dict[str, Any]:
    """Return the document of `bench beliefs --json` for these results; all shares are in [0, 1]."""
    return {
        "utterances": _count_sentences(heard),
        "pairs": _count_pairs(met),
        "errors": [*_list_sentence_errors(heard), *_list_pair_errors(met)],
    }


def _count_sentences(heard: Sequence[Heard]) -> dict[str, Any]:
    stored = [one for one in heard if one.line["label"] == "store" and list_kinds(one.line)]
    skips = [one for one in heard if one.line["label"] == "skip"]
    plans = [kept.confidence for one in heard if one.line.get("plan") for kept in one.kept]
    unmeant = [
        kept.confidence
        for one in heard
        if one.line["label"] == "uncertain" and not one.line.get("plan")
        for kept in one.kept
        if not kept.planned
    ]
    return {
        "n": len(heard),
        "decisions": _compute_share(one.decided_well for one in heard),
        "confusion": _count_confusion(heard),
        "kinds": _compute_share(one.kind_fits for one in stored if one.decision == "store"),
        "kinds_of_all": _compute_share(one.kind_fits for one in stored),
        "junk_rate": _compute_share(one.decision == "store" for one in skips),
        "misattributed": sum(one.misattributed for one in heard),
        "highest_hypothetical": max(unmeant, default=0.0),
        "highest_plan": max(plans, default=0.0),
    }


def _count_confusion(heard: Sequence[Heard]) -> dict[str, dict[str, int]]:
    counted = Counter((str(one.line["label"]), one.decision) for one in heard)
    labels = ("store", "skip", "uncertain")
    return {label: {decision: counted[label, decision] for decision in labels} for label in labels}


def _count_pairs(met: Sequence[Met]) -> dict[str, Any]:
    retired = [one for one in met if one.retired and one.relation != "same"]
    relations = sorted({one.relation for one in met})
    return {
        "n": len(met),
        "right": _compute_share(one.right for one in met),
        "by_relation": {name: _compute_share(one.right for one in met if one.relation == name) for name in relations},
        "supersession_recall": _compute_share(one.right for one in met if one.relation == "supersede"),
        "supersession_precision": _compute_share(one.relation in _REPLACING for one in retired),
        "false_invalidation": _compute_share(one.retired for one in met if one.relation in _STANDING),
        "duplicates": _compute_share(
            len(one.active) > int(one.line.get("count", 1)) for one in met if one.relation == "same"
        ),
    }


def _list_sentence_errors(heard: Sequence[Heard]) -> list[dict[str, Any]]:
    return [
        {
            "text": one.line["text"],
            "wanted": " ".join(filter(None, (one.line["label"], "|".join(list_kinds(one.line))))),
            "decided": one.decision,
            "kept": [f"{kept.type} {kept.confidence:.2f} {kept.shown}" for kept in one.kept],
        }
        for one in heard
        if not one.decided_well or one.misattributed or (one.line["label"] == "store" and _has_wrong_kind(one))
    ]


def _has_wrong_kind(one: Heard) -> bool:
    return bool(list_kinds(one.line)) and not one.kind_fits


def _list_pair_errors(met: Sequence[Met]) -> list[dict[str, Any]]:
    return [
        {
            "old": one.line["old"],
            "new": one.line["new"],
            "wanted": one.relation,
            "was": [f"{old.status} {_name_slot(old)}" for old in one.old],
            "active": [_name_slot(held) for held in one.active],
        }
        for one in met
        if not one.right
    ]


def _name_slot(memory: Memory) -> str:
    scope = f" ({memory.scope})" if memory.scope else ""
    return (
        f"{memory.entity or '-'} / {memory.attribute or '-'}{scope} = {memory.value or memory.text} [{memory.stance}]"
    )
