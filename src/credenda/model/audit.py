"""Records of the calls to a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

__all__ = ["AuditDraft", "AuditRecord", "AuditReport"]

_REFUSED: Final = 400
_STATUSES: Final[Mapping[int, str]] = {401: "denied", 403: "denied", 421: "denied", 429: "limited", 504: "timeout"}
_CODES: Final[Mapping[str, str]] = {"unauthenticated": "denied", "forbidden": "denied", "TOOL_TIMEOUT": "timeout"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDraft:
    """A call that ended, before it is recorded. Names of people are replaced by pseudonyms when it is."""

    at_us: int
    request_id: str
    user: str = ""
    """The user whose memory it reached; "" for a caller who was not found out."""
    issuer: str = ""
    """The issuer of the caller's identity; "" for a caller who was not found out."""
    subject: str = ""
    """The caller's name at the issuer."""
    credential: str = ""
    """The credential of the caller, without its secret."""
    member: str = ""
    """The id of the member who called; "" for the user whose memory it is."""
    client: str = ""
    """The program that called, by its own word or that of the authorization server."""
    actor: str = ""
    """The agent for which it called, as it said."""
    door: str = ""
    operation: str = ""
    scope: str = ""
    ids: tuple[str, ...] = ()
    """The ids that the call named and that its answer showed."""
    more_ids: int = 0
    """How many further ids the answer showed."""
    status: int
    """The HTTP status; 0 where no answer began."""
    code: str = ""
    """The code of the error; "" where it went well."""
    duration_ms: float
    tokens_in: int = 0
    """Tokens that language models read for the call."""
    tokens_out: int = 0
    cost_usd: float = 0.0
    count: int = 1
    """How many calls of this kind the record stands for: more than one only where no more could be queued."""
    inputs: str = field(default="", repr=False)
    """The SHA-256 of the inputs, which is never stored."""

    @property
    def outcome(self) -> str:
        """The outcome in one word: ok, denied, limited, timeout or failed."""
        found = _STATUSES.get(self.status) or _CODES.get(self.code)
        if found is not None:
            return found
        return "failed" if self.code or not 0 < self.status < _REFUSED else "ok"


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
