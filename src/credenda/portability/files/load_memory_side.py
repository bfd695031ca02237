"""Load the memory's side of a comparison: everything that has an entry in the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from credenda.ids import serial
from credenda.model.claim import Evidence
from credenda.model.event import CODE
from credenda.portability.files.layout import shows
from credenda.portability.files.markers import plain
from credenda.portability.files.memory_side import View
from credenda.storage.store import EventFilter, MemoryFilter, Reader

__all__ = ["view"]

_PAGE: Final = 500


def view(reader: Reader) -> View:
    """Load everything that has an entry in the files."""
    tenant = reader.tenant
    if not tenant.tag:
        return View(key=b"", tag="", memories=(), events=(), evidence={}, contests=())
    memories = sorted((one for one in reader.find(MemoryFilter()) if shows(one)), key=lambda one: serial(one.id))
    evidence: dict[str, list[Evidence]] = {}
    for one in _evidence(reader, [memory.id for memory in memories]):
        evidence.setdefault(one.memory_id, []).append(one)
    events = [one for one in reader.find_events(EventFilter(worded=True)) if CODE not in one.flags and plain(one.text)]
    return View(
        key=tenant.key,
        tag=tenant.tag,
        memories=memories,
        events=events,
        evidence=evidence,
        contests=reader.contests(),
    )


def _evidence(reader: Reader, ids: Sequence[str]) -> Iterator[Evidence]:
    for start in range(0, len(ids), _PAGE):
        yield from reader.evidence(memory_ids=ids[start : start + _PAGE])
