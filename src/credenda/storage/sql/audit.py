"""Audit records."""

from __future__ import annotations

import json
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
from credenda.storage.sql.run import Record, StatementRunner
from credenda.storage.sql.server_tables import ServerTables

__all__ = ["AuditRows"]

_PAGE: Final = 500


class AuditRows(ServerTables):
    """The part of a store that keeps audit records."""

    def append_audit(self, drafts: Sequence[AuditDraft]) -> str:
        """Record calls at the end of the chain, in one transaction; returns the head."""
        return self._change_tables(lambda run: _append(run, drafts), alone="audit")

    def read_audit(self, after: int = 0) -> Iterator[AuditRecord]:
        """Yield the records after a number, in order."""
        while True:
            with self._view_tables() as run:
                rows = run("audit_after", seq=after, limit=_PAGE).fetchall()
            yield from map(_to_record, rows)
            if len(rows) < _PAGE:
                return
            after = rows[-1]["seq"]

    def read_audit_of(self, user: str, after: int, limit: int) -> list[AuditRecord]:
        """Return at most `limit` records of one user after a number, in order."""
        with self._view_tables() as run:
            known = run("audit_subject", user_id=user).fetchone()
            if known is None:
                return []
            found = run("audit_of_user", pseudonym=known["pseudonym"], seq=after, limit=limit)
            return [_to_record(row) for row in found]

    def verify_audit(self, anchors: Sequence[str] = ()) -> AuditReport:
        """Verify the whole chain in one consistent view, and then the names."""
        with self._view_tables() as run:
            head = run("audit_head").fetchone()
            rows = ((row[0], row[1], row[2]) for row in run("audit_chain"))
            report = verify_chain(rows, NO_HEAD if head is None else (head["seq"], head["hash"]), anchors)
            changed = find_changed_name(NamedAlias(*row) for row in run("keyed_audit_names"))
        if report.ok and changed:
            return replace(report, ok=False, problem=f"the name behind {changed} was changed")
        return report

    def read_audit_names(self) -> dict[str, str]:
        """Return users and other names by their pseudonyms."""
        with self._view_tables() as run:
            return {row[0]: row[1] for row in run("audit_names")}


def _to_record(row: Record) -> AuditRecord:
    return AuditRecord(seq=row["seq"], fields=json.loads(row["record"]), hash=bytes(row["hash"]).hex())


def _append(run: StatementRunner, drafts: Sequence[AuditDraft]) -> str:
    """Append records; the end of the chain is read and moved in the same transaction, so that it never forks."""
    head = run("audit_head").fetchone()
    seq, last = NO_HEAD if head is None else (head["seq"], bytes(head["hash"]))
    for draft in drafts:
        subject = _find_subject(run, draft.user)
        seq += 1
        record = write_record(
            draft, seq=seq, pseudonym=subject.pseudonym, input_key=subject.key, name=subject.name_person
        )
        last = compute_hash(last, record.encode())
        run("append_audit", seq=seq, record=record, hash=last)
    run("move_audit_head", seq=seq, hash=last)
    return f"{seq}:{last.hex()}"


@dataclass(frozen=True, slots=True)
class _Subject:
    """A user of the records, with the key of the user's pseudonyms and inputs."""

    run: StatementRunner
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
            self.run("insert_audit_name", user_id=self.user, alias=alias, name=name)
        return alias


def _find_subject(run: StatementRunner, user: str) -> _Subject:
    """Find a user's pseudonym and key; a user without them gets a random key.

    It is stored for a user of this database alone: the name of one who was erased must not come back.
    """
    if not user:
        return _Subject(run, "", "", b"\x00", is_known=False)
    known = run("audit_subject", user_id=user).fetchone()
    if known is not None:
        return _Subject(run, user, known["pseudonym"], bytes(known["input_key"]), is_known=True)
    key = draw_key()
    pseudonym = compute_alias(key, user)
    is_known = run("is_user", user_id=user).fetchone() is not None
    if is_known:
        run("insert_subject", user_id=user, pseudonym=pseudonym, input_key=key)
    return _Subject(run, user, pseudonym, key, is_known)
