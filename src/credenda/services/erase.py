"""Erase a tenant, and manage legal holds and retention policies."""

from __future__ import annotations

from pathlib import Path

from credenda import limits
from credenda.errors import Conflict, Invalid
from credenda.model.report import EraseReceipt
from credenda.model.retention_policy import LegalHold, RetentionPolicy
from credenda.paths import check_path
from credenda.runtime import Parts
from credenda.storage.store import Writer
from credenda.storage.tenant_transfer import Erasure
from credenda.validation import check_condition, check_text

__all__ = ["erase", "hold", "lift_hold", "list_holds", "set_policy"]


def erase(parts: Parts, confirm: str, *, export: str | Path | None = None) -> EraseReceipt:
    """Erase all data of this tenant; `confirm` must be its name. Repeating it completes an interrupted erasure.

    With `export` everything is first written to that file, and nothing is erased unless that succeeds. Raises `Invalid`
    for another name, `Conflict` under a legal hold or if data is written after the export.
    """
    if confirm != parts.user_id:
        raise Invalid(
            "the confirmation does not name this user",
            why="nothing is erased without the exact name",
            fix=f"confirm {parts.user_id!r}, or open the memory of the user you mean",
        )
    with parts.active_calls:
        exported = None if export is None else _export_first(parts, check_path(export))
        parts.accesses.drain()
        erasure = parts.store.erase(parts.user_id, exported=exported)
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
        exported=exported,
    )


def _export_first(parts: Parts, path: Path) -> dict[str, int]:
    from credenda.portability.exporting import export_file

    return dict(export_file(parts, path, "credenda").rows)


def hold(parts: Parts, reason: str) -> LegalHold:
    """Forbid every deletion in this tenant until the hold is lifted; raises `Conflict` if a hold is in force."""
    why = _check_reason(reason)

    def work(writer: Writer) -> LegalHold:
        if writer.tenant.hold is not None:
            raise Conflict("a legal hold is in force", why=writer.tenant.hold, fix="lift it before setting another")
        made = LegalHold(reason=why, set_us=parts.clock.now_us())
        writer.put(made)
        return made

    with parts.active_calls:
        return parts.store.commit(parts.user_id, work)


def lift_hold(parts: Parts, reason: str) -> LegalHold:
    """Allow deletions again; raises `Conflict` if no hold is in force."""
    why = _check_reason(reason)

    def work(writer: Writer) -> None:
        if writer.tenant.hold is None:
            raise Conflict("there is no legal hold", why="none is in force", fix="see `credenda holds`")
        writer.put(LegalHold(reason="", set_us=0, lifted_us=parts.clock.now_us(), lifted_reason=why))

    with parts.active_calls:
        parts.store.commit(parts.user_id, work)
    return list_holds(parts)[-1]


def list_holds(parts: Parts) -> tuple[LegalHold, ...]:
    """Return every legal hold, oldest first, with when and why it was lifted."""
    return parts.store.rules(parts.user_id).holds


def _check_reason(reason: str) -> str:
    why = check_text(reason, "reason").strip()
    if not why:
        raise Invalid(
            "a legal hold needs a reason",
            why="the hold is kept as a record",
            fix="pass a reason, such as a case number",
        )
    return why


def set_policy(
    parts: Parts, days: int | None, topic: str | None, *, remove: bool = False
) -> tuple[RetentionPolicy, ...]:
    """Set or remove a policy, or change nothing; return the policies in force, by topic."""
    name = check_condition(topic, "topic")
    if remove and days is not None:
        raise Invalid("a policy is set or removed, not both", why="days and remove are both given", fix="give one")
    if days is not None and not (type(days) is int and 1 <= days <= limits.POLICY_DAYS):
        raise Invalid(
            f"a policy cannot be {days!r} days", why=f"it must be 1 to {limits.POLICY_DAYS}", fix="give whole days"
        )
    if days is None and not remove and topic is not None:
        raise Invalid("a topic alone is not a policy", why="neither days nor remove is given", fix="give one of them")
    if days is not None or remove:
        row = RetentionPolicy(topic=name, days=days or 0, set_us=parts.clock.now_us())
        with parts.active_calls:
            parts.store.commit(parts.user_id, lambda writer: writer.put(row))
    return parts.store.rules(parts.user_id).policies
