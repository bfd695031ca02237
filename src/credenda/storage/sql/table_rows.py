"""The rows of a tenant's tables as plain columns: which are sound, and how one is named without a word of its text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from credenda.errors import Corrupt
from credenda.ids import IdKind
from credenda.storage import rows
from credenda.storage.damage import name_document
from credenda.storage.evidence_rows import to_evidence
from credenda.storage.tenant_transfer import ARCHIVED, MIGRATED, Cell, TableRow

__all__ = ["DECODERS", "NOT_MOVED", "ORDER", "TABLES", "Column", "is_of_kind", "is_sound", "name_row"]

TABLES: Final = ARCHIVED
ORDER: Final = (*ARCHIVED, *MIGRATED)
"""The tables of a tenant, in the order in which a migration writes them."""
NOT_MOVED: Final = frozenset(
    {
        "tenants",
        "index_blobs",
        "redaction_permits",
        "duties",
        "api_tokens",
        "audit_subjects",
        "audit_names",
        "members",
        "server_secrets",
        *MIGRATED,
    }
)
"""Not exported: the tenant's row (in the header), snapshots, a flag, task runs, the pseudonyms, tasks of other agents,
which name ids of this database, and who has access or wrote through it.
"""
_INTEGERS: Final = range(-(1 << 63), 1 << 63)
DECODERS: Final[Mapping[str, Callable[[Any, str], object]]] = {
    "events": rows.to_event,
    "memories": rows.to_memory,
    "evidence": to_evidence,
    "changes": rows.to_change,
    "contests": rows.to_contest,
    "operations": rows.to_job,
    "embeddings": lambda row, _: rows.to_vector(row),
}
_LETTERS: Final = {
    "events": IdKind.EVENT,
    "memories": IdKind.MEMORY,
    "changes": IdKind.CHANGE,
    "contests": IdKind.CONTEST,
    "operations": IdKind.JOB,
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table of our schema."""

    name: str
    kinds: tuple[type, ...]
    required: bool
    key_place: int


def is_of_kind(cell: Cell, kinds: tuple[type, ...]) -> bool:
    """Return whether a cell that is not None can be in a column of these kinds."""
    if isinstance(cell, bool) or not isinstance(cell, kinds):
        return False
    return not isinstance(cell, int) or cell in _INTEGERS


def is_sound(table: str, row: TableRow, columns: Iterable[Column], tag: str) -> bool:
    """Return whether every cell has the type of its column, and the row can be decoded."""
    for column in columns:
        cell = row[column.name]
        if column.required if cell is None else not is_of_kind(cell, column.kinds):
            return False
    decode = DECODERS.get(table)
    try:
        if decode is not None:
            decode(row, tag)
    except Corrupt:
        return False
    return True


def name_row(table: str, row: TableRow, keys: Iterable[Column]) -> str:
    """Return the id of a row without a word of its text."""
    if table in _LETTERS:
        version = f" version {row['version']}" if table == "memories" else ""
        return f"{_LETTERS[table].value}{row['id']}{version}"
    if table == "embeddings":
        return name_document(row["code"])  # type: ignore[arg-type]
    named = {column.name: row[column.name] for column in keys}
    return ", ".join(f"{name} {cell}" for name, cell in named.items() if isinstance(cell, int)) or "a row"
