"""Load the memory's side of a comparison: everything that has an entry in the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from credenda.ids import parse_serial
from credenda.model.claim import Evidence
from credenda.model.event import CODE
from credenda.portability.files.memory_side import View
from credenda.portability.files.parse import to_file_text
from credenda.portability.files.render import is_shown
from credenda.storage.store import EventFilter, MemoryFilter, Reader

_PAGE: Final = 500


def load_view(reader: Reader) -> View:
    """Load everything that has an entry in the files."""
    tenant = reader.tenant
    if not tenant.tag:
        return View(key=b"", tag="", memories=(), events=(), evidence={}, contests=())
    memories = sorted(
        (one for one in reader.find(MemoryFilter()) if is_shown(one)), key=lambda one: parse_serial(one.id)
    )
    evidence: dict[str, list[Evidence]] = {}
    for one in _read_evidence(reader, [memory.id for memory in memories]):
        evidence.setdefault(one.memory_id, []).append(one)
    events = [
        one for one in reader.find_events(EventFilter(worded=True)) if CODE not in one.flags and to_file_text(one.text)
    ]
    return View(
        key=tenant.key,
        tag=tenant.tag,
        memories=memories,
        events=events,
        evidence=evidence,
        contests=reader.contests(),
    )


def _read_evidence(reader: Reader, ids: Sequence[str]) -> Iterator[Evidence]:
    for start in range(0, len(ids), _PAGE):
        yield from reader.evidence(memory_ids=ids[start : start + _PAGE])
