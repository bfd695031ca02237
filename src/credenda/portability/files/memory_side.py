"""The memory's side of a comparison: a snapshot of everything that has an entry in the files. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.model.change import ContestCase
from credenda.model.claim import Evidence
from credenda.model.core import Section
from credenda.model.event import Event
from credenda.model.memory import Memory, Status
from credenda.portability.files.parse import to_file_text
from credenda.portability.files.state import MemorySide, hash_text

_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
_CHAIN_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Memories and events in the order of their numbers, with evidence by memory, contests, and the core block."""

    key: bytes
    tag: str
    memories: Sequence[Memory]
    events: Sequence[Event]
    evidence: Mapping[str, Sequence[Evidence]]
    contests: Sequence[ContestCase]
    core: Sequence[tuple[Section, str]] = ()


def build_memory_side(seen: View) -> dict[str, MemorySide]:
    """Return the side to compare with the files."""
    by_id = {one.id: one for one in seen.memories}
    found = {
        one.id: MemorySide(
            text=to_file_text(one.text),
            digest=hash_text(seen.key, one.text),
            held=one.status in _HELD,
            head=_follow_successors(one, by_id),
        )
        for one in seen.memories
    }
    for event in seen.events:
        text = to_file_text(event.text)
        found[event.id] = MemorySide(text=text, digest=hash_text(seen.key, text), held=True, head=None, event=True)
    return found


def _follow_successors(memory: Memory, by_id: Mapping[str, Memory]) -> str | None:
    """Return the current replacement of a memory."""
    found: Memory | None = memory
    for _ in range(_CHAIN_MAX):
        if found is None or found.status in _HELD:
            break
        found = by_id.get(found.superseded_by or "")
    return found.id if found is not None and found.status in _HELD else None
