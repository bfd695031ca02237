"""Export beliefs in the format of the MCP reference memory server: entities, observations, relations.

The file contains only current beliefs, without history, confidence and evidence; the archive contains those.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from credenda.ids import IdKind, parse_id_number
from credenda.model.derived import is_dreamed
from credenda.model.memory import Memory, Stance, Status
from credenda.model.report import ExportReport
from credenda.portability.atomic_write import replace_file
from credenda.portability.importers.mcp_memory import ABOUT_USER, word_observation, word_relation
from credenda.runtime import Parts
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.normalize import normalise_name, normalise_text

__all__ = ["MCP_MEMORY", "export_mcp_memory"]

MCP_MEMORY: Final = "mcp-memory"
_PAGE: Final = 500
_MEANT: Final = frozenset({Stance.ASSERTED, Stance.NEGATED})
_SELF: Final = "user"
_NO_TYPE: Final = "concept"
_PERSON: Final = "person"


def export_mcp_memory(parts: Parts, path: Path) -> ExportReport:
    """Write every active, asserted memory. Raises the same errors as the export of an archive."""
    graph = _Graph()
    with replace_file(path) as file, parts.store.reader(parts.user_id) as reader:
        for memory in _read_active(reader):
            graph.take(memory)
        for line in graph.lines():
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    return ExportReport(path=str(path), rows=graph.counts())


def _read_active(reader: Reader) -> Iterator[Memory]:
    """Return the active memories except derived ones, oldest first, so that a later export appends."""
    ids: list[str] = []
    below: int | None = None
    while True:
        wanted = MemoryFilter(statuses=frozenset({Status.ACTIVE}), below=below, limit=_PAGE)
        found = reader.find(wanted)
        ids += [memory.id for memory in found if not is_dreamed(memory)]
        if len(found) < _PAGE:
            break
        below = parse_id_number(found[-1].id, IdKind.MEMORY, reader.tenant.tag)
    ids.reverse()
    for start in range(0, len(ids), _PAGE):
        chunk = ids[start : start + _PAGE]
        by_id = {memory.id: memory for memory in reader.memories(chunk)}
        yield from (by_id[one] for one in chunk if one in by_id and by_id[one].stance in _MEANT)


@dataclass(slots=True)
class _Graph:
    """The content of the file; observations and relations keep their order, without duplicates."""

    _types: dict[str, str] = field(default_factory=dict[str, str])
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _observations: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])
    _relations: dict[tuple[str, str, str], None] = field(default_factory=dict[tuple[str, str, str], None])

    def take(self, memory: Memory) -> None:
        """Add a memory: in its imported form if its text is unchanged, else as an observation of its entity."""
        relation = _find_imported_relation(memory)
        if relation is not None:
            begin, kind, end = relation
            self._relations[self._entity(begin), kind, self._entity(end)] = None
            return
        entity = memory.metadata.get("entity")
        if isinstance(entity, str) and entity:
            kind = memory.metadata.get("entity_type")
            name = self._entity(entity, kind if isinstance(kind, str) else "")
            observation = memory.metadata.get("observation")
        else:
            name, observation = self._native(memory), memory.text
        if isinstance(observation, str):
            stands = observation == memory.text or _is_same(memory.text, word_observation(name, observation))
            self._observations[name][observation if stands else memory.text] = None

    def _native(self, memory: Memory) -> str:
        about_user = normalise_name(memory.entity or _SELF) == _SELF
        return self._entity(ABOUT_USER, _PERSON) if about_user else self._entity(memory.entity or "")

    def _entity(self, name: str, kind: str = "") -> str:
        """Return the exported name of an entity, for any spelling."""
        shown = self._names.setdefault(normalise_name(name) or name, name)
        self._observations.setdefault(shown, {})
        if kind or shown not in self._types:
            self._types[shown] = kind
        return shown

    def lines(self) -> Iterator[dict[str, object]]:
        """Return the lines of the file: entities first."""
        for name, observations in self._observations.items():
            kind = self._types.get(name) or _NO_TYPE
            yield {"type": "entity", "name": name, "entityType": kind, "observations": list(observations)}
        for begin, kind, end in self._relations:
            yield {"type": "relation", "from": begin, "to": end, "relationType": kind}

    def counts(self) -> dict[str, int]:
        """Count the exported entities, observations and relations."""
        observations = sum(map(len, self._observations.values()))
        return {"entities": len(self._observations), "observations": observations, "relations": len(self._relations)}


def _find_imported_relation(memory: Memory) -> tuple[str, str, str] | None:
    """Return the relation that a memory was imported from, if its text is unchanged."""
    found = memory.metadata.get("relation")
    if not isinstance(found, dict):
        return None
    table = cast("dict[str, object]", found)
    begin, kind, end = (str(table.get(name) or "") for name in ("from", "type", "to"))
    return (begin, kind, end) if _is_same(memory.text, word_relation(begin, kind, end)) else None


def _is_same(text: str, statement: str) -> bool:
    return normalise_text(text) == normalise_text(statement)
