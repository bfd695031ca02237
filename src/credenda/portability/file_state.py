"""A document that is imported again from the same path is a new state: a memory that rests on lines it lost has ended.

A memory with other evidence stays, and so do pinned ones, those of a file that could not be read to its end, and all of
a log, which drops its oldest lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from credenda.model.change import Actor, end_memory
from credenda.model.claim import Evidence
from credenda.model.event import Event
from credenda.model.memory import Memory, Status
from credenda.portability.importers.blocks import name_file_session
from credenda.portability.importers.format import Parsed, Piece, Problem, Source
from credenda.runtime import Parts
from credenda.storage.plan import commit_decided, return_decided
from credenda.storage.store import EventFilter, Writer
from credenda.write.apply import Application, apply

_DOCUMENTS: Final = frozenset({"markdown", "obsidian", "text", "memory-folder", "hermes", "openclaw", "suzent"})
_LOG: Final = ".log"
_REASON: Final = "its file does not say it any more"


@dataclass(slots=True)
class FileStates:
    """The sessions of the documents that were read as a whole, and digests of all texts that were found."""

    _whole: set[str] = field(default_factory=set[str])
    _damaged: set[str] = field(default_factory=set[str])
    _texts: set[bytes] = field(default_factory=set[bytes])

    def watch(self, pieces: Iterable[Parsed], source: Source, format_name: str) -> Iterator[Parsed]:
        """Pass on the pieces of a file, and note its session once it has been read to its end without a loss."""
        session = name_file_session(source)
        found = False
        for piece in pieces:
            found = found or isinstance(piece, Piece)
            if isinstance(piece, Problem) and piece.lost:
                self._damaged.add(session)
            yield piece
        if found and format_name in _DOCUMENTS and source.path.suffix.casefold() != _LOG:
            self._whole.add(session)

    def list_sessions(self) -> list[str]:
        """Return the sessions of the files whose new state is known."""
        return sorted(self._whole - self._damaged)

    def add_text(self, text: str) -> None:
        """Note a text that stands in a file."""
        self._texts.add(_hash_text(text))

    def find_lost(self, events: Iterable[Event]) -> list[str]:
        """Return the ids of the events with a text that no file of this import has."""
        return [event.id for event in events if _hash_text(event.text) not in self._texts]


def end_lost_memories(parts: Parts, states: FileStates) -> int:
    """End the memories of lines that left their files; return their number."""
    return sum(_end_of_session(parts, states, session) for session in states.list_sessions())


def _end_of_session(parts: Parts, states: FileStates, session: str) -> int:
    now_us = parts.clock.now_us()

    def work(writer: Writer) -> int:
        lost = states.find_lost(writer.find_events(EventFilter(session=session, source="ingest")))
        ids = sorted({one.memory_id for one in writer.evidence(event_ids=lost)}) if lost else []
        ended = _choose_ended(*((writer.memories(ids), writer.evidence(memory_ids=ids)) if ids else ([], [])), lost)
        changes = [end_memory(memory, now_us, _REASON) for memory in ended]
        if changes:
            apply(writer, changes, Application(actor=Actor.FILE, now_us=now_us, cause="import"))
        return len(changes)

    with parts.store.reader(parts.user_id) as reader:
        if not states.find_lost(reader.find_events(EventFilter(session=session, source="ingest"))):
            return 0
    with parts.active_calls:
        return commit_decided(parts.store, parts.user_id, work, return_decided)


def _choose_ended(memories: Sequence[Memory], evidence: Sequence[Evidence], lost: Collection[str]) -> list[Memory]:
    """Return the active memories that rest on lost events alone."""
    gone = set(lost)
    kept = {one.memory_id for one in evidence if one.span.event_id not in gone}
    return [one for one in memories if one.status is Status.ACTIVE and not one.pinned and one.id not in kept]


def _hash_text(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
