"""Erase a tenant, and manage legal holds and retention policies."""

from __future__ import annotations

from pathlib import Path

from credenda import portability
from credenda.errors import Invalid
from credenda.hook_files.removal import remove_hook_files
from credenda.model.report import EraseReceipt
from credenda.paths import check_path
from credenda.runtime import Parts
from credenda.storage.tenant_transfer import Erasure

__all__ = ["PHRASE", "erase"]

PHRASE = "DELETE MY DATA"
"""Confirms an erasure in place of the name, for clients that know their user by a token alone (R-173)."""


def erase(parts: Parts, confirm: str, *, export: str | Path | None = None) -> EraseReceipt:
    """Erase all data of this tenant; `confirm` must be its name or the phrase. A repeat completes an interrupted one.

    With `export` everything is first written to that file, and nothing is erased unless that succeeds. Raises `Invalid`
    for another name, `Conflict` under a legal hold or if data is written after the export.
    """
    if confirm not in {parts.user_id, PHRASE}:
        raise Invalid(
            "the confirmation does not name this user",
            why=f"nothing is erased without the exact name, or the phrase {PHRASE!r}",
            fix=f"confirm {parts.user_id!r}, or open the memory of the user you mean",
        )
    with parts.active_calls:
        exported = None if export is None else _export_first(parts, check_path(export))
        parts.accesses.drain()
        erasure = parts.store.erase(parts.user_id, exported=exported)
    remove_hook_files(parts.store_name, parts.user_id)
    if parts.resident.in_use:
        parts.indexes.drop(parts.user_id, store=parts.store_name)
    parts.questions.clear()
    return _make_receipt(erasure, None if export is None else str(export))


def _make_receipt(erasure: Erasure, exported: str | None) -> EraseReceipt:
    """Tell what an erasure did; of a proof that counts nothing, `remaining_matches` says whether it held."""
    proof = erasure.proof
    return EraseReceipt(
        rows=sum(erasure.rows.values()),
        windows_searched=int(proof.get("windows_searched", "0")),
        remaining_matches=int(proof.get("remaining_matches", "0" if erasure.held else "1")),
        tables=erasure.rows,
        log_emptied=proof.get("log_emptied", "yes") == "yes",
        backups=erasure.backups,
        owed=erasure.owed,
        exported=exported,
    )


def _export_first(parts: Parts, path: Path) -> dict[str, int]:
    return dict(portability.exporting.export_file(parts, path, "credenda").rows)
