"""Records of the calls to a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["AuditDraft", "AuditRecord", "AuditReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDraft:
    """A call that ended, before it is recorded; `inputs` is the SHA-256 of its inputs, and never stored."""

    at_us: int
    request_id: str
    user: str
    """The user whose memory it reached; "" for a caller who was not found out."""
    caller: str
    """The credential of the caller, without its secret; "" for a caller who was not found out."""
    member: str = ""
    """The id of the member who called; "" for the user whose memory it is."""
    door: str
    operation: str
    scope: str
    ids: tuple[str, ...]
    status: int
    code: str
    """The code of the error; "" where it went well."""
    duration_ms: float
    inputs: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """A recorded call: its place in the chain, its fields, and the hash over them and all records before."""

    seq: int
    fields: Mapping[str, object]
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """The result of verifying the chain."""

    ok: bool
    records: int
    head: str
    """Number and hash of the last record, `SEQ:HASH`; keep it elsewhere to notice later that records are missing."""
    problem: str = ""
    """The first contradiction."""
