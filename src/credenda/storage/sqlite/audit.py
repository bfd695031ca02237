"""Audit records in SQLite."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Final

from credenda.ids import draw_key, draw_request_id
from credenda.model.audit import AuditDraft, AuditRecord, AuditReport
from credenda.storage.audit import GENESIS, compute_hash, verify_chain, write_record
from credenda.storage.sqlite.connection import ReadPool
from credenda.storage.sqlite.group import GroupCommit

__all__ = ["AuditRows"]

_PAGE: Final = 500
_HEAD: Final = "SELECT seq, hash FROM audit_head"
_MOVE: Final = "INSERT OR REPLACE INTO audit_head VALUES (1, ?, ?)"
_APPEND: Final = "INSERT INTO audit_records VALUES (?, ?, ?)"
_READ: Final = "SELECT seq, record, hash FROM audit_records WHERE seq > ? ORDER BY seq LIMIT ?"
_READ_OF: Final = """SELECT seq, record, hash FROM audit_records
WHERE json_extract(record, '$.user') = ? AND seq > ? ORDER BY seq LIMIT ?"""
_SUBJECT: Final = "SELECT pseudonym, input_key FROM audit_subjects WHERE user_id = ?"
_NAME: Final = "INSERT INTO audit_subjects VALUES (?, ?, ?)"
_IS_USER: Final = """SELECT 1 FROM tenants WHERE user_id = :user
UNION ALL SELECT 1 FROM api_tokens WHERE user_id = :user LIMIT 1"""
_NOBODY: Final = ("", b"\x00")


class AuditRows(ABC):
    """The part of a SQLite store that keeps audit records."""

    _readers: ReadPool

    @abstractmethod
    def _writable(self) -> tuple[sqlite3.Connection, GroupCommit]:
        """Return the connection that writes, and the commits that it shares."""

    def append_audit(self, drafts: Sequence[AuditDraft]) -> None:
        """Record calls at the end of the chain, in one transaction."""
        connection, commits = self._writable()
        commits.run(lambda: _append(connection, drafts))

    def read_audit(self, after: int = 0) -> Iterator[AuditRecord]:
        """Yield the records after a number, in order."""
        while True:
            with self._readers.take() as connection:
                rows = connection.execute(_READ, (after, _PAGE)).fetchall()
            yield from map(_to_record, rows)
            if len(rows) < _PAGE:
                return
            after = rows[-1]["seq"]

    def read_audit_of(self, user: str, after: int, limit: int) -> list[AuditRecord]:
        """Return at most `limit` records of one user after a number, in order."""
        with self._readers.take() as connection:
            known = connection.execute(_SUBJECT, (user,)).fetchone()
            if known is None:
                return []
            return [_to_record(row) for row in connection.execute(_READ_OF, (known["pseudonym"], after, limit))]

    def verify_audit(self, anchor: str = "") -> AuditReport:
        """Verify the whole chain in one consistent view."""
        with self._readers.take() as connection:
            head = connection.execute(_HEAD).fetchone()
            rows = connection.execute(_READ, (0, -1))
            found = ((row["seq"], row["record"], bytes(row["hash"])) for row in rows)
            return verify_chain(found, (0, GENESIS) if head is None else (head["seq"], bytes(head["hash"])), anchor)

    def read_audit_subjects(self) -> dict[str, str]:
        """Return the users by their pseudonyms."""
        with self._readers.take() as connection:
            rows = connection.execute("SELECT pseudonym, user_id FROM audit_subjects")
            return {row["pseudonym"]: row["user_id"] for row in rows}


def _to_record(row: sqlite3.Row) -> AuditRecord:
    return AuditRecord(seq=row["seq"], fields=json.loads(row["record"]), hash=bytes(row["hash"]).hex())


def _append(connection: sqlite3.Connection, drafts: Sequence[AuditDraft]) -> None:
    """Append records; the end of the chain is read and moved in the same transaction, so that it never forks."""
    head = connection.execute(_HEAD).fetchone()
    seq, last = (0, GENESIS) if head is None else (head["seq"], bytes(head["hash"]))
    for draft in drafts:
        pseudonym, key = _find_subject(connection, draft.user)
        seq += 1
        record = write_record(draft, seq=seq, pseudonym=pseudonym, input_key=key)
        last = compute_hash(last, record)
        connection.execute(_APPEND, (seq, record, last))
    connection.execute(_MOVE, (seq, last))


def _find_subject(connection: sqlite3.Connection, user: str) -> tuple[str, bytes]:
    """Return a user's pseudonym and key of inputs; a user without them gets random ones.

    They are stored for a user of this database alone: the name of one who was erased must not come back.
    """
    if not user:
        return _NOBODY
    known = connection.execute(_SUBJECT, (user,)).fetchone()
    if known is not None:
        return known["pseudonym"], bytes(known["input_key"])
    pseudonym, key = f"u-{draw_request_id()}", draw_key()
    if connection.execute(_IS_USER, {"user": user}).fetchone() is not None:
        connection.execute(_NAME, (user, pseudonym, key))
    return pseudonym, key
