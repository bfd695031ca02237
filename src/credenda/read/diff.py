"""Compare two sets of beliefs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.model.browse import Difference, DifferenceKind
from credenda.model.change import ChangeKind, ChangeRecord
from credenda.model.memory import Memory, Relation, Status

_ENDINGS: Final = frozenset(
    {ChangeKind.SUPERSEDE, ChangeKind.SET_STATUS, ChangeKind.FORGET, ChangeKind.DELETE, ChangeKind.RESOLVE}
)
_REPLACED: Final = {
    Relation.CORRECTED: DifferenceKind.CORRECTED,
    Relation.MERGED: DifferenceKind.MERGED,
    Relation.DUPLICATE: DifferenceKind.MERGED,
}
_TELLING: Final = {
    DifferenceKind.ADDED: frozenset({ChangeKind.ADD}),
    DifferenceKind.RESTORED: frozenset({ChangeKind.RESTORE, ChangeKind.SET_STATUS}),
    DifferenceKind.CONTESTED: frozenset({ChangeKind.CONTEST}),
    DifferenceKind.RESOLVED: frozenset({ChangeKind.RESOLVE}),
    DifferenceKind.CONFIRMED: frozenset({ChangeKind.CONFIRM}),
}
"""The kinds of changes that give the reason of a difference, by kind of difference; `_ENDINGS` for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beliefs:
    """Two states of belief: the memories believed before and after, by id.

    `known` are the ids of memories that existed before, in any status; `links` the memories that exist after, to follow
    replacements. `log` holds the changes of each memory between the two times, oldest first.
    """

    before: Mapping[str, Memory]
    after: Mapping[str, Memory]
    known: frozenset[str]
    links: Mapping[str, Memory]
    log: Mapping[str, Sequence[ChangeRecord]]


def compare(beliefs: Beliefs) -> list[Difference]:
    """Return the differences, in no order; beliefs that began and ended in between are left out."""
    replaced = list(_find_removed(beliefs))
    taken = {one.memory.id for one in replaced if one.previous is not None}
    added: list[Difference] = []
    for name, memory in beliefs.after.items():
        if name not in beliefs.before and name not in taken:
            kind = DifferenceKind.RESTORED if name in beliefs.known else DifferenceKind.ADDED
            added.append(_make_difference(beliefs, kind, memory))
    changed: list[Difference] = []
    for name, memory in beliefs.after.items():
        old = beliefs.before.get(name)
        if old is None:
            continue
        kind = _turn(old, memory)
        if kind is not None:
            changed.append(_make_difference(beliefs, kind, memory))
        elif name not in taken and _count_confirmations(beliefs, name):
            changed.append(_make_difference(beliefs, DifferenceKind.CONFIRMED, memory))
    return [*replaced, *added, *changed]


def _find_removed(beliefs: Beliefs) -> Iterator[Difference]:
    for name, old in beliefs.before.items():
        if name in beliefs.after:
            continue
        last = beliefs.links.get(name, old)
        new = _find_successor(last, beliefs)
        if last.status is Status.DELETED:
            yield _make_difference(beliefs, DifferenceKind.DELETED, last)
        elif new is None:
            yield _make_difference(beliefs, DifferenceKind.ENDED, last)
        else:
            kind = DifferenceKind.CHANGED if last.relation is None else _REPLACED.get(last.relation)
            yield _make_difference(beliefs, kind or DifferenceKind.CHANGED, new, previous=last)


def _find_successor(memory: Memory, beliefs: Beliefs) -> Memory | None:
    """Follow replacements to a memory that is believed after; None if there is none."""
    seen = {memory.id}
    following = memory.superseded_by
    while following is not None and following not in seen:
        if following in beliefs.after:
            return beliefs.after[following]
        seen.add(following)
        one = beliefs.links.get(following)
        following = None if one is None else one.superseded_by
    return None


def _turn(old: Memory, new: Memory) -> DifferenceKind | None:
    """Return how the state of a memory that is believed before and after changed, or None."""
    if old.contested != new.contested:
        return DifferenceKind.CONTESTED if new.contested else DifferenceKind.RESOLVED
    if old.status is not new.status:
        return DifferenceKind.DOUBTED if new.status is Status.CHALLENGED else DifferenceKind.RESTORED
    return None


def _count_confirmations(beliefs: Beliefs, name: str) -> int:
    return sum(change.kind is ChangeKind.CONFIRM for change in beliefs.log.get(name, ()))


def _make_difference(
    beliefs: Beliefs, kind: DifferenceKind, memory: Memory, *, previous: Memory | None = None
) -> Difference:
    """Build a difference with the reason of the change that caused it."""
    decided = beliefs.log.get(memory.id if previous is None else previous.id, ())
    telling = [one for one in decided if one.kind in _TELLING.get(kind, _ENDINGS)] or list(decided)
    own = beliefs.log.get(memory.id, ()) if previous is not None else ()
    return Difference(
        kind=kind,
        memory=memory,
        previous=previous,
        confirmations=_count_confirmations(beliefs, memory.id),
        reason=telling[-1].reason if telling else "",
        at_us=telling[-1].at_us if telling else memory.recorded_us,
        changes=tuple(dict.fromkeys(one.id for one in (*decided, *own))),
    )
