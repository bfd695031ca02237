"""Export memories as Portable AI Memory 1.0: one JSON file with every memory, its times and its status.

Evidence, scopes and changes have no place in that format; the archive has them.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from credenda.clock import format_time
from credenda.ids import IdKind, parse_id_number
from credenda.model.derived import is_dreamed
from credenda.model.memory import Memory, Stance, Status
from credenda.model.report import ExportReport
from credenda.portability.atomic_write import replace_file
from credenda.runtime import Parts
from credenda.storage.store import MemoryFilter, Reader

__all__ = ["export_pam"]

_PAGE: Final = 500
_MEANT: Final = frozenset({Stance.ASSERTED, Stance.NEGATED})
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
        for memory in _read_memories(reader):
            file.write(b",\n" if counts["memories"] else b"\n")
            file.write(json.dumps(_describe(memory), ensure_ascii=False).encode())
            counts["memories"] += 1
            if memory.superseded_by:
                relations.append(_relate(memory))
        counts["relations"] = len(relations)
        file.write(b'\n], "relations": ' + json.dumps(relations).encode() + b"}\n")
    return ExportReport(path=str(path), rows=counts)


def _read_memories(reader: Reader) -> Iterator[Memory]:
    """Return the memories except derived and deleted ones, oldest first."""
    ids: list[str] = []
    below: int | None = None
    while True:
        found = reader.find(MemoryFilter(statuses=frozenset(_STATUS), below=below, limit=_PAGE))
        ids += [memory.id for memory in found if not is_dreamed(memory)]
        if len(found) < _PAGE:
            break
        below = parse_id_number(found[-1].id, IdKind.MEMORY, reader.tenant.tag)
    ids.reverse()
    for start in range(0, len(ids), _PAGE):
        chunk = ids[start : start + _PAGE]
        by_id = {memory.id: memory for memory in reader.memories(chunk)}
        yield from (by_id[one] for one in chunk if one in by_id and by_id[one].stance in _MEANT)


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


def _relate(memory: Memory) -> dict[str, object]:
    return {
        "id": f"{memory.superseded_by}-{memory.id}",
        "from": memory.superseded_by,
        "to": memory.id,
        "type": "supersedes",
        "created_at": format_time(memory.recorded_us),
    }


def hash_content(text: str) -> str:
    """Return the hash of a content as the format defines it: of the trimmed, lower-case, composed text.

    >>> hash_content(" I  like Tea. ") == hash_content("i like tea.")
    True
    """
    plain = _SPACES.sub(" ", unicodedata.normalize("NFC", text.strip().lower()))
    return f"sha256:{hashlib.sha256(plain.encode()).hexdigest()}"
