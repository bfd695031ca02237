"""Read the beliefs at two times and compare them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from credenda.model.browse import Axis, Diff, Difference
from credenda.model.change import ChangeRecord
from credenda.model.memory import Memory, Status, get_believed_from_us
from credenda.read.diff import Beliefs, compare
from credenda.storage.store import ChangeFilter, MemoryFilter, Reader
from credenda.text.normalize import normalise_name

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
    # Whether the words of a memory were deleted after the later time; it is then left out of both states.
    beliefs = Beliefs(
        before={
            name: one
            for name, one in then.items()
            if one.status in _HELD
            and not (
                (memory := links.get(name)) is not None and not memory.text and memory.status is not Status.DELETED
            )
        },
        after={name: one for name, one in links.items() if one.status in _HELD and one.text},
        known=frozenset(then),
        links=links,
        log=log,
    )
    return compare(beliefs)


def _compare_valid(reader: Reader, since_us: int, until_us: int) -> list[Difference]:
    """Compare the facts that were true at two times, as believed now."""
    before, after = (
        _index_by_id(reader.find(MemoryFilter(statuses=_TRUE_ONCE, as_of_us=moment_us)))
        for moment_us in (since_us, until_us)
    )
    gone = {name: one for name, one in before.items() if name not in after}
    come = {name: one for name, one in after.items() if name not in before}
    links = _add_successors(reader, {**gone, **come}, None)
    log = {name: reader.changes(ChangeFilter(memory_ids=(name,))) for name in (*gone, *come)}
    beliefs = Beliefs(before=gone, after=come, known=frozenset(gone), links=links, log=log)
    return [replace(one, at_us=_find_change_us(one), confirmations=0) for one in compare(beliefs)]


def _find_change_us(one: Difference) -> int:
    """Return when a memory became true, or when it ended."""
    ended = one.previous.valid_until_us if one.previous is not None else one.memory.valid_until_us
    if one.previous is not None or one.kind == "ended":
        return one.at_us if ended is None else ended
    return get_believed_from_us(one.memory)


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
