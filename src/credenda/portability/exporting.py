"""Export a memory to a file, as an archive or in the format of another memory."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from credenda.clock import format_time
from credenda.errors import Invalid
from credenda.ids import IdKind, parse_id_number
from credenda.model.memory import Memory, Stance, Status, is_dreamed
from credenda.model.report import ExportReport
from credenda.portability.archive import export_archive
from credenda.portability.atomic_write import replace_file
from credenda.portability.importers.memory_files import ABOUT_USER, PAM, word_observation, word_relation
from credenda.runtime import Parts
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.normalize import normalise_name, normalise_text

# Export beliefs in the format of the MCP reference memory server: entities, observations, relations.


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
        for memory in _read_memories(reader, frozenset({Status.ACTIVE})):
            graph.take(memory)
        for line in graph.lines():
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    return ExportReport(path=str(path), rows=graph.counts())


def _read_memories(reader: Reader, statuses: frozenset[Status]) -> Iterator[Memory]:
    """Return the memories of some statuses except derived ones, oldest first, so that a later export appends."""
    ids: list[str] = []
    below: int | None = None
    while True:
        found = reader.find(MemoryFilter(statuses=statuses, below=below, limit=_PAGE))
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
            about_user = normalise_name(memory.entity or _SELF) == _SELF
            name, observation = (
                (self._entity(ABOUT_USER, _PERSON) if about_user else self._entity(memory.entity or "")),
                memory.text,
            )
        if isinstance(observation, str):
            stands = observation == memory.text or _is_same(memory.text, word_observation(name, observation))
            self._observations[name][observation if stands else memory.text] = None

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


# Export memories as Portable AI Memory 1.0: one JSON file with every memory, its times and its status.


_STATUS: Final = {
    Status.ACTIVE: "active",
    Status.CHALLENGED: "active",
    Status.SUPERSEDED: "superseded",
    Status.MERGED: "superseded",
    Status.ARCHIVED: "archived",
    Status.INVALIDATED: "retracted",
}
_KNOWN: Final = frozenset({"fact", "preference"})
_INSTRUCTION: Final = "instruction"
_TAG: Final = re.compile(r"[a-z0-9][a-z0-9_-]*")
_SPACES: Final = re.compile(r"\s+")
_VERSION: Final = "1.0"


def export_pam(parts: Parts, path: Path) -> ExportReport:
    """Write every asserted memory that is not deleted. Raises the same errors as the export of an archive."""
    now_us = parts.clock.now_us()
    counts = {"memories": 0, "relations": 0}
    head = {
        "schema": "portable-ai-memory",
        "schema_version": _VERSION,
        "export_id": hashlib.sha256(f"{parts.user_id}/{now_us}".encode()).hexdigest()[:32],
        "export_date": format_time(now_us),
        "export_type": "full",
        "owner": {"id": parts.user_id},
    }
    relations: list[dict[str, object]] = []
    with replace_file(path) as file, parts.store.reader(parts.user_id) as reader:
        file.write(json.dumps(head, ensure_ascii=False).encode()[:-1] + b', "memories": [')
        for memory in _read_memories(reader, frozenset(_STATUS)):
            file.write(b",\n" if counts["memories"] else b"\n")
            file.write(json.dumps(_describe(memory), ensure_ascii=False).encode())
            counts["memories"] += 1
            if memory.superseded_by:
                relations.append(
                    {
                        "id": f"{memory.superseded_by}-{memory.id}",
                        "from": memory.superseded_by,
                        "to": memory.id,
                        "type": "supersedes",
                        "created_at": format_time(memory.recorded_us),
                    }
                )
        counts["relations"] = len(relations)
        file.write(b'\n], "relations": ' + json.dumps(relations).encode() + b"}\n")
    return ExportReport(path=str(path), rows=counts)


def _describe(memory: Memory) -> Mapping[str, Any]:
    kind = "instruction" if memory.attribute == _INSTRUCTION else str(memory.type)
    custom = None if kind in _KNOWN or kind == _INSTRUCTION else kind
    slot = {"entity": memory.entity, "attribute": memory.attribute, "value": memory.value, "scope": memory.scope}
    return {
        "id": memory.id,
        "type": "custom" if custom else kind,
        "custom_type": custom,
        "status": _STATUS[memory.status],
        "content": memory.text,
        "content_hash": hash_content(memory.text),
        "tags": [tag for tag in memory.tags if _TAG.fullmatch(tag)],
        "confidence": {"initial": memory.confidence, "current": memory.confidence, "decay_model": "none"},
        "temporal": {
            "created_at": format_time(memory.created_us),
            "updated_at": format_time(memory.recorded_us),
            "valid_from": _show(memory.valid_from_us),
            "valid_until": _show(memory.valid_until_us or memory.expires_us),
            "superseded_by": memory.superseded_by or None,
        },
        "provenance": {"platform": "credenda", "extraction_method": "api_export"},
        "metadata": {name: value for name, value in slot.items() if value},
    }


def _show(time_us: int | None) -> str | None:
    return None if time_us is None else format_time(time_us)


def hash_content(text: str) -> str:
    """Return the hash of a content as the format defines it: of the trimmed, lower-case, composed text.

    >>> hash_content(" I  like Tea. ") == hash_content("i like tea.")
    True
    """
    plain = _SPACES.sub(" ", unicodedata.normalize("NFC", text.strip().lower()))
    return f"sha256:{hashlib.sha256(plain.encode()).hexdigest()}"


_ARCHIVE: Final = "credenda"
EXPORTS: Final[Mapping[str, Callable[[Parts, Path], ExportReport]]] = {
    _ARCHIVE: export_archive,
    MCP_MEMORY: export_mcp_memory,
    PAM: export_pam,
}


def export_file(parts: Parts, path: Path, format: str, *, skip_damaged: bool = False) -> ExportReport:
    """Write a file; raise `Invalid` for an unknown format or a folder, `Unavailable` if it cannot be written.

    Damaged rows raise `Corrupt`; `skip_damaged` leaves them out of an archive.
    """
    write = EXPORTS.get(format) if isinstance(format, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if write is None:
        raise Invalid(f"{format!r} is not an export format", fix=f"choose one of {', '.join(EXPORTS)}")
    if not skip_damaged:
        return write(parts, path)
    if format != _ARCHIVE:
        why = "only an archive names the rows that it lacks"
        raise Invalid("damaged rows cannot be left out of this format", why=why, fix=f"export as {_ARCHIVE}")
    return export_archive(parts, path, skip_damaged=True)
