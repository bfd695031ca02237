"""Erasing a tenant: everything, in one transaction, with the proof that it is gone."""

from __future__ import annotations

from pathlib import Path

from credenda.errors import Invalid
from credenda.model.report import EraseReceipt
from credenda.parts import Parts
from credenda.portability.exporting import export_file

__all__ = ["erase"]


def erase(parts: Parts, confirm: str, *, export: str | Path | None = None) -> EraseReceipt:
    """Erase everything of this tenant; `confirm` must be the tenant's name. Repeating it finishes what was broken off.

    With `export` everything is written to that file first, and nothing is erased unless that succeeds.
    Raises `Invalid` for another name, `Conflict` under a legal hold or when something is written after the export.
    """
    if confirm != parts.user_id:
        raise Invalid(
            "the confirmation does not name this user",
            why="nothing is erased without the exact name",
            fix=f"confirm {parts.user_id!r}, or open the memory of the user you mean",
        )
    with parts.foreground:
        exported = None if export is None else _exported(parts, Path(export))
        parts.accesses.drain()
        erasure = parts.store.erase(parts.user_id, exported=exported)
    if parts.resident.in_use:
        parts.indexes.drop(parts.user_id, store=parts.store_name)
    parts.questions.clear()
    return EraseReceipt(
        rows=sum(erasure.rows.values()),
        windows_searched=erasure.windows_searched,
        remaining_matches=erasure.remaining_matches,
        tables=erasure.rows,
        log_emptied=erasure.log_emptied,
        backups=erasure.backups,
        exported=None if export is None else str(export),
    )


def _exported(parts: Parts, path: Path) -> dict[str, int]:
    return dict(export_file(parts, path, "credenda").rows)
