"""Compare two sets of beliefs. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from credenda.model.browse import Axis, Diff, Difference, DifferenceKind
from credenda.model.change import ChangeKind, ChangeRecord
from credenda.model.memory import Memory, Relation, Status, get_valid_from_us
from credenda.storage.store import ChangeFilter, MemoryFilter, Reader
from credenda.text.normalize import normalise_name

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
    return [*replaced, *_find_added(beliefs, taken), *_find_changed(beliefs, taken)]


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


def _find_added(beliefs: Beliefs, taken: set[str]) -> Iterator[Difference]:
    for name, memory in beliefs.after.items():
        if name not in beliefs.before and name not in taken:
            kind = DifferenceKind.RESTORED if name in beliefs.known else DifferenceKind.ADDED
            yield _make_difference(beliefs, kind, memory)


def _find_changed(beliefs: Beliefs, taken: set[str]) -> Iterator[Difference]:
    for name, memory in beliefs.after.items():
        old = beliefs.before.get(name)
        if old is None:
            continue
        kind = _turn(old, memory)
        if kind is not None:
            yield _make_difference(beliefs, kind, memory)
        elif name not in taken and _count_confirmations(beliefs, name):
            yield _make_difference(beliefs, DifferenceKind.CONFIRMED, memory)


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


# Read the beliefs at two times and compare them.


_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
_TRUE_ONCE: Final = _HELD | {Status.SUPERSEDED, Status.MERGED}
_STEPS: Final = 1_000
"""Maximum length of a chain of replacements that is followed."""


def load_difference(
    reader: Reader, axis: Axis, since_us: int, until_us: int, *, topic: str | None = None, entity: str | None = None
) -> Diff:
    """Return the differences in belief between two times (microseconds UTC), oldest first.

    `topic` and `entity` keep only differences whose memory before or after has them; deleted memories have neither.
    """
    made = _compare_known(reader, since_us, until_us) if axis == "known" else _compare_valid(reader, since_us, until_us)
    found = [one for one in made if _is_about(one, topic, entity)]
    found.sort(key=lambda one: (one.at_us, one.memory.id))
    counts = Counter(one.kind.value for one in found)
    return Diff(axis=axis, since_us=since_us, until_us=until_us, differences=tuple(found), counts=dict(counts))


def _is_about(one: Difference, topic: str | None, entity: str | None) -> bool:
    sides = [side for side in (one.memory, one.previous) if side is not None]
    on_topic = topic is None or any(side.topic == topic for side in sides)
    named = entity is None or any(
        side.entity and normalise_name(side.entity) == normalise_name(entity) for side in sides
    )
    return on_topic and named


def _compare_known(reader: Reader, since_us: int, until_us: int) -> list[Difference]:
    """Compare the beliefs held at two times; only memories in the change log between them can differ."""
    changes = reader.changes(ChangeFilter(later_than_us=since_us, until_us=until_us))
    found: dict[str, list[ChangeRecord]] = defaultdict(list)
    for change in changes:
        if change.memory_id is not None:
            found[change.memory_id].append(change)
    log = found
    then = _index_by_id(reader.memories(sorted(log), since_us))
    links = _add_successors(reader, _index_by_id(reader.memories(sorted(log), until_us)), until_us)
    beliefs = Beliefs(
        before={
            name: one for name, one in then.items() if one.status in _HELD and not _was_redacted_later(links.get(name))
        },
        after={name: one for name, one in links.items() if one.status in _HELD and one.text},
        known=frozenset(then),
        links=links,
        log=log,
    )
    return compare(beliefs)


def _was_redacted_later(memory: Memory | None) -> bool:
    """Return whether the words of a memory were deleted after the later time; it is then left out of both states."""
    return memory is not None and not memory.text and memory.status is not Status.DELETED


def _compare_valid(reader: Reader, since_us: int, until_us: int) -> list[Difference]:
    """Compare the facts that were true at two times, as believed now."""
    before, after = (_find_valid_at(reader, moment_us) for moment_us in (since_us, until_us))
    gone = {name: one for name, one in before.items() if name not in after}
    come = {name: one for name, one in after.items() if name not in before}
    links = _add_successors(reader, {**gone, **come}, None)
    log = {name: reader.changes(ChangeFilter(memory_ids=(name,))) for name in (*gone, *come)}
    beliefs = Beliefs(before=gone, after=come, known=frozenset(gone), links=links, log=log)
    return [replace(one, at_us=_find_change_us(one), confirmations=0) for one in compare(beliefs)]


def _find_valid_at(reader: Reader, moment_us: int) -> dict[str, Memory]:
    return _index_by_id(reader.find(MemoryFilter(statuses=_TRUE_ONCE, as_of_us=moment_us)))


def _find_change_us(one: Difference) -> int:
    """Return when a memory became true, or when it ended."""
    ended = one.previous.valid_until_us if one.previous is not None else one.memory.valid_until_us
    if one.previous is not None or one.kind == "ended":
        return one.at_us if ended is None else ended
    return get_valid_from_us(one.memory)


def _add_successors(reader: Reader, memories: Mapping[str, Memory], known_at_us: int | None) -> dict[str, Memory]:
    """Add all replacements of the memories, to the end of each chain."""
    linked = dict(memories)
    for _ in range(_STEPS):
        wanted = {one.superseded_by for one in linked.values() if one.superseded_by} - linked.keys()
        found = reader.memories(sorted(wanted), known_at_us) if wanted else []
        if not found:
            break
        linked.update(_index_by_id(found))
    return linked


def _index_by_id(memories: Iterable[Memory]) -> dict[str, Memory]:
    return {memory.id: memory for memory in memories}
