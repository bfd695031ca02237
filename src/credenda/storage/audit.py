"""The storage of audit records, and the chain that they form. Pure but for the protocol."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final, Protocol

from credenda.model.audit import AuditDraft, AuditRecord, AuditReport

__all__ = ["GENESIS", "AuditStore", "compute_hash", "verify_chain", "write_record"]

GENESIS: Final = sha256(b"\x00").digest()
"""The hash before the first record (R-203)."""


class AuditStore(Protocol):
    """The audit records of a database."""

    def append_audit(self, drafts: Sequence[AuditDraft]) -> None:
        """Record calls at the end of the chain, in one transaction; durable on return."""
        ...

    def read_audit(self, after: int = 0) -> Iterator[AuditRecord]:
        """Yield the records after a number, in order."""
        ...

    def read_audit_of(self, user: str, after: int, limit: int) -> list[AuditRecord]:
        """Return at most `limit` records of one user after a number, in order."""
        ...

    def verify_audit(self, anchor: str = "") -> AuditReport:
        """Verify the whole chain; `anchor` is the `head` of an earlier report."""
        ...

    def read_audit_subjects(self) -> dict[str, str]:
        """Return the users by their pseudonyms; without those that were erased."""
        ...


def write_record(draft: AuditDraft, *, seq: int, pseudonym: str, input_key: bytes) -> str:
    """Write a record as canonical JSON; of the inputs it has a keyed hash, which tells nothing without the key."""
    record = {
        "seq": seq,
        "at_us": draft.at_us,
        "request_id": draft.request_id,
        "user": pseudonym,
        "caller": draft.caller,
        "member": draft.member,
        "door": draft.door,
        "operation": draft.operation,
        "scope": draft.scope,
        "ids": list(draft.ids),
        "status": draft.status,
        "code": draft.code,
        "duration_ms": draft.duration_ms,
        "inputs_hash": hmac.digest(input_key, draft.inputs.encode(), "sha256").hex(),
    }
    return json.dumps(record, sort_keys=True, separators=(",", ":"))


def compute_hash(before: bytes, record: str) -> bytes:
    """Compute the hash of a record: over the hash before it, which has a fixed length, and all of its fields."""
    return sha256(before + record.encode()).digest()


def verify_chain(rows: Iterable[tuple[int, str, bytes]], head: tuple[int, bytes], anchor: str = "") -> AuditReport:
    """Verify (number, record, hash) of all records against the end of the chain, and an earlier `head` kept elsewhere.

    It finds an edit, a gap, another order and a missing end.
    """
    before, count, seen = GENESIS, 0, not anchor
    for seq, record, stored in rows:
        count += 1
        before = compute_hash(before, record)
        if seq != count or before != stored or not _has_number(record, seq):
            return _fail(count, stored, f"record {count} was changed, moved, or is missing")
        seen = seen or anchor == f"{seq}:{stored.hex()}"
    if (count, before) != head:
        return _fail(count, before, f"the records after {count} are missing")
    if not seen:
        return _fail(count, before, "the chain does not lead through the anchor")
    return AuditReport(ok=True, records=count, head=f"{count}:{before.hex()}")


def _fail(count: int, last: bytes, problem: str) -> AuditReport:
    return AuditReport(ok=False, records=count, head=f"{count}:{last.hex()}", problem=problem)


def _has_number(record: str, seq: int) -> bool:
    try:
        return json.loads(record)["seq"] == seq
    except (ValueError, KeyError, TypeError):
        return False
