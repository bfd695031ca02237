"""The values of a slot over time, and the provenance of a memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from credenda import limits
from credenda.errors import Invalid, NotFound
from credenda.ids import parse_serial
from credenda.model.change import ChangeKind, ChangeRecord
from credenda.model.memory import Memory, Stance, Status, get_type_class, get_valid_from_us, mark_over
from credenda.model.query import Explanation, SlotVersion
from credenda.read.visibility import was_valid_at
from credenda.storage.current_trust import find_current_trust
from credenda.storage.store import ChangeFilter, MemoryFilter, Reader
from credenda.text.normalize import normalise_attribute, normalise_name

_ENDINGS: Final = frozenset(
    {ChangeKind.SUPERSEDE, ChangeKind.SET_STATUS, ChangeKind.FORGET, ChangeKind.DELETE, ChangeKind.RESOLVE}
)
_OVER: Final = "it ended by its own words"
_OUT_OF_USE: Final = frozenset({Status.FORGOTTEN, Status.CANDIDATE})
_HELD: Final = Status.ACTIVE.value
_CHAIN_STEPS: Final = limits.SLOT_ROWS


def read_slot_history(  # noqa: PLR0913 - the conditions of the public verb, and the time
    reader: Reader,
    *,
    id: str | None = None,
    entity: str | None = None,
    attribute: str | None = None,
    as_of_us: int | None = None,
    known_at_us: int | None = None,
    latest: int | None = None,
    now_us: int = 0,
) -> list[SlotVersion]:
    """Return every value of a slot, oldest first; corrected values are marked, deleted ones have no text.

    Select by the `id` of a memory (its slot; without a slot, the chain of replacements) or by `entity` and `attribute`,
    over all scopes and speakers. `known_at_us` returns the history as it was believed at that time, `as_of_us` only the
    values that were true at that time; both leave out deleted values. `latest` limits the number of rows read per slot.
    Values whose time was over at `now_us` say so. Raises `NotFound` for an unknown id, `Invalid` if neither is
    given.
    """
    view = _View(reader, as_of_us, known_at_us, latest, now_us)
    if id is not None:
        found = view.around(_get_memory(reader, id))
    elif entity is not None and attribute is not None:
        found = view.with_successors(view.of_pair((normalise_name(entity), normalise_attribute(attribute))))
    else:
        raise Invalid(
            "no slot was selected", why="history needs an id, or an entity and an attribute", fix="pass one of them"
        )
    return [view.version(memory) for memory in sorted(view.seen(found), key=_order_by_age)]


def read_explanation(reader: Reader, memory_id: str) -> Explanation:
    """Return the evidence of a memory as (event, start, stop), and its changes, oldest first.

    Changes by which it took the place of others are among them. Raises `NotFound` for an unknown id.
    """
    memory = _get_memory(reader, memory_id)
    links = reader.evidence(memory_ids=[memory_id])
    names = list(dict.fromkeys(link.span.event_id for link in links))
    events = {event.id: event for event in reader.events(names)}
    shown = (link.span for link in links if link.span.event_id in events)
    changes = reader.changes(ChangeFilter(memory_ids=(memory_id,)))
    # The changes of other memories that ended for this one, by what caused its own.
    for cause in dict.fromkeys(one.cause for one in changes if one.cause):
        ended = reader.changes(ChangeFilter(cause=cause, kinds=frozenset({ChangeKind.SUPERSEDE})))
        changes += [one for one in ended if one.memory_id != memory_id and one.after.get("superseded_by") == memory_id]
    changes.sort(key=lambda one: (one.at_us, parse_serial(one.id)))
    return Explanation(
        memory=find_current_trust(reader, [memory])[0],
        evidence=tuple((events[span.event_id], span.start, span.stop) for span in shown),
        changes=tuple(changes),
        authors=reader.authors([*events], [change.id for change in changes]),
    )


def _get_memory(reader: Reader, memory_id: str) -> Memory:
    found = reader.memories([memory_id])
    if not found:
        raise NotFound(f"no memory is called {memory_id!r}", fix="copy an id from `list` or `search`")
    return found[0]


def _order_by_age(memory: Memory) -> tuple[int, int, str]:
    since = get_valid_from_us(memory)
    return since, memory.created_us, memory.id


@dataclass(frozen=True, slots=True)
class _View:
    """A store as seen at a given time."""

    reader: Reader
    as_of_us: int | None
    known_at_us: int | None
    latest: int | None
    now_us: int

    def of_pair(self, pair: tuple[str, str]) -> list[Memory]:
        """Return the memories of an entity and attribute; these names never change between versions."""
        return self.reader.find(MemoryFilter(pair=pair, limit=self.latest))

    def around(self, memory: Memory) -> list[Memory]:
        """Return the memories that shared a slot with a memory or belong to its chain of replacements."""
        added = self.reader.changes(ChangeFilter(memory_ids=(memory.id,), kinds=frozenset({ChangeKind.ADD})))
        causes = {change.cause for change in added if change.cause is not None}
        replaced: list[str] = []
        for cause in sorted(causes):
            changes = self.reader.changes(ChangeFilter(cause=cause, kinds=frozenset({ChangeKind.SUPERSEDE})))
            replaced += (change.memory_id for change in changes if change.memory_id is not None)
        line = self.with_successors(
            [memory, *[other for other in self.reader.memories(replaced) if other.superseded_by == memory.id]]
        )
        if memory.entity is None or memory.attribute is None:
            return line
        slot = (memory.speaker, memory.scope, get_type_class(memory.type))
        rest = self.of_pair((normalise_name(memory.entity), normalise_attribute(memory.attribute)))
        same = [other for other in rest if (other.speaker, other.scope, get_type_class(other.type)) == slot]
        return list({memory.id: memory for memory in [*line, *self.with_successors(same)]}.values())

    def with_successors(self, memories: Iterable[Memory]) -> list[Memory]:
        """Follow replacements to their end; a deleted value has lost its slot and can be found only this way."""
        known = {memory.id: memory for memory in memories}
        for _ in range(_CHAIN_STEPS):
            following = {memory.superseded_by for memory in known.values() if memory.superseded_by} - known.keys()
            if not following:
                break
            known.update((memory.id, memory) for memory in self.reader.memories(sorted(following)))
            if following - known.keys():
                break
        return list(known.values())

    def seen(self, memories: Iterable[Memory]) -> list[Memory]:
        """Return the memories that are visible at the time of the view, in their version of that time."""
        found = list(memories)
        if self.known_at_us is not None:
            found = self.reader.memories(sorted(memory.id for memory in found), self.known_at_us)
        if self.as_of_us is not None:
            found = [one for one in found if was_valid_at(one, self.as_of_us) and one.status not in _OUT_OF_USE]
        travels = self.as_of_us is not None or self.known_at_us is not None
        return [memory for memory in found if memory.text and memory.status is not Status.DELETED] if travels else found

    def version(self, memory: Memory) -> SlotVersion:
        """Return a memory as a version of its slot."""
        gone = memory.status is Status.DELETED
        if mark_over([memory], self.now_us)[0].over:
            reason = _OVER
        else:
            changes = self.reader.changes(ChangeFilter(memory_ids=(memory.id,), until_us=self.known_at_us))
            reason = _choose_reason(changes)
        return SlotVersion(
            memory_id=memory.id,
            text="" if gone else memory.text,
            value=None if gone else memory.value,
            scope=None if gone else memory.scope,
            status=memory.status,
            relation=memory.relation,
            superseded_by=memory.superseded_by,
            reason=reason,
            valid_from_us=memory.valid_from_us,
            valid_until_us=memory.valid_until_us,
            recorded_us=memory.created_us,
            entity=memory.entity,
            attribute=memory.attribute,
            speaker=memory.speaker,
            kind=get_type_class(memory.type),
            contested=memory.contested,
            denied=memory.stance is Stance.NEGATED,
        )


def _choose_reason(changes: Sequence[ChangeRecord]) -> str:
    """Return the reason of the change that ended a memory, else of the one that added it; none of an undone change."""
    undone: set[str] = set()
    for one in reversed(changes):
        if one.kind is ChangeKind.UNDO and one.id not in undone and one.cause is not None:
            undone.add(one.cause)
    standing = [one for one in changes if one.id not in undone]
    ended = [one for one in standing if one.kind in _ENDINGS]
    left = [one for one in standing if one.kind is ChangeKind.UNDO and one.after.get("status", _HELD) != _HELD]
    chosen = ended[-1:] or left[-1:] or standing[:1]
    return chosen[0].reason if chosen else ""
