"""Audit records in SQLite."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from credenda.ids import draw_key
from credenda.model.audit import AuditDraft, AuditRecord, AuditReport
from credenda.storage.audit import (
    NO_HEAD,
    NamedAlias,
    compute_alias,
    compute_hash,
    find_changed_name,
    verify_chain,
    write_record,
)
from credenda.storage.sqlite.connection import ReadPool
from credenda.storage.sqlite.group import GroupCommit

__all__ = ["AuditRows"]

_PAGE: Final = 500
_HEAD: Final = "SELECT seq, CASE typeof(hash) WHEN 'blob' THEN hash END AS hash FROM audit_head"
_MOVE: Final = "INSERT OR REPLACE INTO audit_head VALUES (1, ?, ?)"
_APPEND: Final = "INSERT INTO audit_records VALUES (?, ?, ?)"
_READ: Final = "SELECT seq, record, hash FROM audit_records WHERE seq > ? ORDER BY seq LIMIT ?"
_CHAIN: Final = """SELECT seq, CASE typeof(record) WHEN 'text' THEN CAST(record AS BLOB) END,
CASE typeof(hash) WHEN 'blob' THEN hash END FROM audit_records ORDER BY seq"""
"""Everything, as bytes: a row with a number below 1 or a value of another type counts as changed."""
_READ_OF: Final = """SELECT seq, record, hash FROM audit_records
WHERE json_extract(record, '$.user') = ? AND seq > ? ORDER BY seq LIMIT ?"""
_SUBJECT: Final = "SELECT pseudonym, input_key FROM audit_subjects WHERE user_id = ?"
_NAME_SUBJECT: Final = "INSERT INTO audit_subjects VALUES (?, ?, ?)"
_NAME: Final = "INSERT OR IGNORE INTO audit_names VALUES (?, ?, ?)"
_NAMES: Final = "SELECT pseudonym, user_id FROM audit_subjects UNION ALL SELECT alias, name FROM audit_names"
_KEYED_NAMES: Final = """SELECT pseudonym, user_id, input_key FROM audit_subjects
UNION ALL SELECT alias, name, input_key FROM audit_names LEFT JOIN audit_subjects USING (user_id)"""
_IS_USER: Final = """SELECT 1 FROM tenants WHERE user_id = :user
UNION ALL SELECT 1 FROM api_tokens WHERE user_id = :user LIMIT 1"""


class AuditRows(ABC):
    """The part of a SQLite store that keeps audit records."""

    _readers: ReadPool

    @abstractmethod
    def _writable(self) -> tuple[sqlite3.Connection, GroupCommit]:
        """Return the connection that writes, and the commits that it shares."""

    def append_audit(self, drafts: Sequence[AuditDraft]) -> str:
        """Record calls at the end of the chain, in one transaction; returns the head."""
        connection, commits = self._writable()
        return commits.run(lambda: _append(connection, drafts))

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

    def verify_audit(self, anchors: Sequence[str] = ()) -> AuditReport:
        """Verify the whole chain in one consistent view, and then the names."""
        with self._readers.take() as connection:
            head = connection.execute(_HEAD).fetchone()
            rows = ((row[0], row[1], row[2]) for row in connection.execute(_CHAIN))
            report = verify_chain(rows, NO_HEAD if head is None else (head["seq"], head["hash"]), anchors)
            changed = find_changed_name(NamedAlias(*row) for row in connection.execute(_KEYED_NAMES))
        if report.ok and changed:
            return replace(report, ok=False, problem=f"the name behind {changed} was changed")
        return report

    def read_audit_names(self) -> dict[str, str]:
        """Return users and other names by their pseudonyms."""
        with self._readers.take() as connection:
            return {row[0]: row[1] for row in connection.execute(_NAMES)}


def _to_record(row: sqlite3.Row) -> AuditRecord:
    return AuditRecord(seq=row["seq"], fields=json.loads(row["record"]), hash=bytes(row["hash"]).hex())


def _append(connection: sqlite3.Connection, drafts: Sequence[AuditDraft]) -> str:
    """Append records; the end of the chain is read and moved in the same transaction, so that it never forks."""
    head = connection.execute(_HEAD).fetchone()
    seq, last = NO_HEAD if head is None else (head["seq"], bytes(head["hash"]))
    for draft in drafts:
        subject = _find_subject(connection, draft.user)
        seq += 1
        record = write_record(
            draft, seq=seq, pseudonym=subject.pseudonym, input_key=subject.key, name=subject.name_person
        )
        last = compute_hash(last, record.encode())
        connection.execute(_APPEND, (seq, record, last))
    connection.execute(_MOVE, (seq, last))
    return f"{seq}:{last.hex()}"


@dataclass(frozen=True, slots=True)
class _Subject:
    """A user of the records, with the key of the user's pseudonyms and inputs."""

    connection: sqlite3.Connection
    user: str
    pseudonym: str
    key: bytes
    is_known: bool

    def name_person(self, name: str) -> str:
        """Return the pseudonym of a name in this user's records, and store the name of a known user."""
        if not self.user:
            return ""
        alias = compute_alias(self.key, name)
        if self.is_known:
            self.connection.execute(_NAME, (self.user, alias, name))
        return alias


def _find_subject(connection: sqlite3.Connection, user: str) -> _Subject:
    """Find a user's pseudonym and key; a user without them gets a random key.

    It is stored for a user of this database alone: the name of one who was erased must not come back.
    """
    if not user:
        return _Subject(connection, "", "", b"\x00", is_known=False)
    known = connection.execute(_SUBJECT, (user,)).fetchone()
    if known is not None:
        return _Subject(connection, user, known["pseudonym"], bytes(known["input_key"]), is_known=True)
    key = draw_key()
    pseudonym = compute_alias(key, user)
    is_known = connection.execute(_IS_USER, {"user": user}).fetchone() is not None
    if is_known:
        connection.execute(_NAME_SUBJECT, (user, pseudonym, key))
    return _Subject(connection, user, pseudonym, key, is_known)
