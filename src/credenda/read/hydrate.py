"""Read the rows that a search may show: candidates, their evidence, and their replacements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from credenda.ids import IdKind, format_id, parse_serial
from credenda.model.event import Event
from credenda.model.memory import Memory, Status
from credenda.storage.store import Reader, unpack_code

_SUCCESSION_STEPS: Final = 8
"""Maximum length of a chain of replacements that is followed to the current value."""
_EVIDENCE: Final = 16
"""Maximum number of events shown with a memory: the first, and the latest that confirm it."""
_REMOVED: Final = frozenset({Status.FORGOTTEN, Status.DELETED})


@dataclass(slots=True)
class Loaded:
    """Rows by id and the links between them; grows with each batch.

    `claims_of` has the memories of an event with their spans, `events_of` the events of a memory, oldest first; both
    are complete for the ids that were read.
    """

    memories: dict[str, Memory] = field(default_factory=dict[str, Memory])
    events: dict[str, Event] = field(default_factory=dict[str, Event])
    claims_of: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict[str, dict[str, tuple[int, int]]])
    events_of: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])

    def claims(self, event_id: str) -> list[Memory]:
        """Return the loaded memories that were derived from an event."""
        return [self.memories[name] for name in self.claims_of.get(event_id, ()) if name in self.memories]

    def removed_spans(self, event_id: str) -> list[tuple[int, int]]:
        """Return the spans of an event that support only forgotten memories."""
        spans = self.claims_of.get(event_id)
        if not spans:
            return []
        made = self.claims(event_id)
        gone = {spans[memory.id] for memory in made if memory.status in _REMOVED}
        if not gone:
            return []
        kept = {spans[memory.id] for memory in made if memory.status not in _REMOVED}
        return [span for span in gone if not any((span[0] < other[1] and other[0] < span[1]) for other in kept)]

    def successor(self, memory: Memory) -> Memory | None:
        """Return the current memory at the end of a chain of replacements, or None."""
        current = memory
        for _ in range(_SUCCESSION_STEPS):
            following = self.memories.get(current.superseded_by or "")
            if following is None:
                break
            current = following
        return None if current is memory else current


def name_document(code: int, tag: str) -> tuple[IdKind, str, int]:
    """Return the kind, public id and passage number of a document."""
    is_memory, number, ordinal = unpack_code(code)
    kind = IdKind.MEMORY if is_memory else IdKind.EVENT
    return kind, format_id(kind, number, tag), ordinal


def load(
    reader: Reader,
    loaded: Loaded,
    *,
    memory_ids: Sequence[str],
    event_ids: Sequence[str],
    known_at_us: int | None = None,
    evidence: bool = False,
) -> None:
    """Read memories and events with their links, in three reads.

    With `evidence` the same reads include the events that support the memories, which saves a read if most of them are
    shown.
    """
    _link(reader, loaded, memory_ids=memory_ids, event_ids=event_ids)
    linked = (name for event_id in event_ids for name in loaded.claims_of.get(event_id, ()))
    _read_memories(reader, loaded, [*memory_ids, *linked], known_at_us)
    rests = (one for name in memory_ids for one in _choose_shown_events(loaded, name)) if evidence else ()
    _read_events(reader, loaded, [*event_ids, *rests])


def load_successors(reader: Reader, loaded: Loaded, replaced: Iterable[Memory], known_at_us: int | None) -> None:
    """Read the replacements of these memories, and their replacements, up to a maximum number of steps."""
    wanted = {memory.superseded_by for memory in replaced if memory.superseded_by}
    for _ in range(_SUCCESSION_STEPS):
        _read_memories(reader, loaded, wanted, known_at_us)
        known = (loaded.memories.get(name) for name in wanted)
        wanted = {memory.superseded_by for memory in known if memory and memory.superseded_by}
        if not wanted:
            break


def load_evidence(
    reader: Reader,
    loaded: Loaded,
    memory_ids: Sequence[str],
    *,
    veiled: bool,
    known_at_us: int | None = None,
) -> Mapping[str, list[Event]]:
    """Read the events that support each memory, oldest first, at most `_EVIDENCE` of each.

    With `veiled` it also reads the other memories of these events, so that forgotten spans can be blanked.
    """
    _link(reader, loaded, memory_ids=[name for name in memory_ids if name not in loaded.events_of], event_ids=())
    chosen = {name: _choose_shown_events(loaded, name) for name in memory_ids}
    wanted = list(dict.fromkeys(event_id for ids in chosen.values() for event_id in ids))
    if veiled:
        unlinked = [event_id for event_id in wanted if event_id not in loaded.claims_of]
        _link(reader, loaded, memory_ids=(), event_ids=unlinked)
        _read_memories(
            reader, loaded, (name for event_id in unlinked for name in loaded.claims_of[event_id]), known_at_us
        )
    _read_events(reader, loaded, wanted)
    return {
        name: [loaded.events[event_id] for event_id in ids if event_id in loaded.events] for name, ids in chosen.items()
    }


def _choose_shown_events(loaded: Loaded, memory_id: str) -> list[str]:
    """Return the ids of the events shown with a memory, oldest first: all, or the first and the latest."""
    ids = loaded.events_of.get(memory_id, ())
    ordered = sorted(ids, key=parse_serial) if len(ids) > 1 else list(ids)
    return ordered if len(ordered) <= _EVIDENCE else [ordered[0], *ordered[1 - _EVIDENCE :]]


def _link(reader: Reader, loaded: Loaded, *, memory_ids: Sequence[str], event_ids: Sequence[str]) -> None:
    if not memory_ids and not event_ids:
        return
    loaded.events_of.update((name, {}) for name in memory_ids)
    loaded.claims_of.update((name, {}) for name in event_ids)
    for evidence in reader.evidence(memory_ids=memory_ids, event_ids=event_ids):
        span = evidence.span
        if evidence.memory_id in loaded.events_of:
            loaded.events_of[evidence.memory_id][span.event_id] = None
        if span.event_id in loaded.claims_of:
            loaded.claims_of[span.event_id].setdefault(evidence.memory_id, (span.start, span.stop))


def _read_memories(reader: Reader, loaded: Loaded, ids: Iterable[str], known_at_us: int | None) -> None:
    wanted = sorted({name for name in ids if name not in loaded.memories})
    if wanted:
        loaded.memories.update((memory.id, memory) for memory in reader.memories(wanted, known_at_us))


def _read_events(reader: Reader, loaded: Loaded, ids: Iterable[str]) -> None:
    wanted = [name for name in dict.fromkeys(ids) if name not in loaded.events]
    if wanted:
        loaded.events.update((event.id, event) for event in reader.events(wanted))
