"""What differs between two sets of beliefs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.model.change import ChangeKind, ChangeRecord
from credenda.model.diff import Difference, DifferenceKind
from credenda.model.memory import Memory, Relation, Status

__all__ = ["Beliefs", "compare"]

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
"""The changes that say why, by what became of a belief; where it ended, those that end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beliefs:
    """Two states of belief: what is believed before and after, by id.

    `known` are memories that are there before, whatever their status; `links` those that are there after, for who took
    whose place. `log` has the changes of each memory that lie between the two, oldest first.
    """

    before: Mapping[str, Memory]
    after: Mapping[str, Memory]
    known: frozenset[str]
    links: Mapping[str, Memory]
    log: Mapping[str, Sequence[ChangeRecord]]


def compare(beliefs: Beliefs) -> list[Difference]:
    """Say what differs, in no order. What came and went in between is no difference."""
    replaced = list(_gone(beliefs))
    taken = {one.memory.id for one in replaced if one.previous is not None}
    return [*replaced, *_come(beliefs, taken), *_kept(beliefs, taken)]


def _gone(beliefs: Beliefs) -> Iterator[Difference]:
    for name, old in beliefs.before.items():
        if name in beliefs.after:
            continue
        last = beliefs.links.get(name, old)
        new = _in_place_of(last, beliefs)
        if last.status is Status.DELETED:
            yield _made(beliefs, DifferenceKind.DELETED, last)
        elif new is None:
            yield _made(beliefs, DifferenceKind.ENDED, last)
        else:
            kind = DifferenceKind.CHANGED if last.relation is None else _REPLACED.get(last.relation)
            yield _made(beliefs, kind or DifferenceKind.CHANGED, new, previous=last)


def _in_place_of(memory: Memory, beliefs: Beliefs) -> Memory | None:
    """Follow who took whose place to what is believed after."""
    seen = {memory.id}
    following = memory.superseded_by
    while following is not None and following not in seen:
        if following in beliefs.after:
            return beliefs.after[following]
        seen.add(following)
        one = beliefs.links.get(following)
        following = None if one is None else one.superseded_by
    return None


def _come(beliefs: Beliefs, taken: set[str]) -> Iterator[Difference]:
    for name, memory in beliefs.after.items():
        if name not in beliefs.before and name not in taken:
            kind = DifferenceKind.RESTORED if name in beliefs.known else DifferenceKind.ADDED
            yield _made(beliefs, kind, memory)


def _kept(beliefs: Beliefs, taken: set[str]) -> Iterator[Difference]:
    for name, memory in beliefs.after.items():
        old = beliefs.before.get(name)
        if old is None:
            continue
        kind = _turn(old, memory)
        if kind is not None:
            yield _made(beliefs, kind, memory)
        elif name not in taken and _confirmations(beliefs, name):
            yield _made(beliefs, DifferenceKind.CONFIRMED, memory)


def _turn(old: Memory, new: Memory) -> DifferenceKind | None:
    """Say what became of a belief that is kept."""
    if old.contested != new.contested:
        return DifferenceKind.CONTESTED if new.contested else DifferenceKind.RESOLVED
    if old.status is not new.status:
        return DifferenceKind.DOUBTED if new.status is Status.CHALLENGED else DifferenceKind.RESTORED
    return None


def _confirmations(beliefs: Beliefs, name: str) -> int:
    return sum(change.kind is ChangeKind.CONFIRM for change in beliefs.log.get(name, ()))


def _made(beliefs: Beliefs, kind: DifferenceKind, memory: Memory, *, previous: Memory | None = None) -> Difference:
    """Give a difference with the reason of the change that decided it."""
    decided = beliefs.log.get(memory.id if previous is None else previous.id, ())
    telling = [one for one in decided if one.kind in _TELLING.get(kind, _ENDINGS)] or list(decided)
    own = beliefs.log.get(memory.id, ()) if previous is not None else ()
    return Difference(
        kind=kind,
        memory=memory,
        previous=previous,
        confirmations=_confirmations(beliefs, memory.id),
        reason=telling[-1].reason if telling else "",
        at_us=telling[-1].at_us if telling else memory.recorded_us,
        changes=tuple(dict.fromkeys(one.id for one in (*decided, *own))),
    )
