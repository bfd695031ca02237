"""Verifying a SQLite file: that it is sound, and that what is derived still follows from what is true."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from credenda.storage.sqlite.writer import GENESIS, chain_link, content_hmac
from credenda.storage.store import Finding, Tenant

__all__ = ["check_store", "rebuild_words", "words_agree"]

_COUNTS: Final = {
    "current_version": (
        "memories without exactly one current version",
        """SELECT count(*) FROM (SELECT id FROM memories WHERE user_id = :user_id
           GROUP BY id HAVING sum(expired_at IS NULL) <> 1)""",
    ),
    "evidence": (
        "pieces of evidence that name a missing memory or event",
        """SELECT count(*) FROM evidence AS v WHERE user_id = :user_id AND (
           NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.user_id = v.user_id AND m.id = v.memory)
           OR NOT EXISTS (SELECT 1 FROM events AS e WHERE e.user_id = v.user_id AND e.id = v.event))""",
    ),
    "successor": (
        "memories superseded by a missing one",
        """SELECT count(*) FROM memories AS m WHERE user_id = :user_id AND superseded_by IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM memories AS n WHERE n.user_id = m.user_id AND n.id = m.superseded_by)""",
    ),
    "change_log": (
        "memories that no change in the log explains",
        """SELECT count(*) FROM memories AS m WHERE user_id = :user_id AND version = 1 AND NOT EXISTS (
           SELECT 1 FROM changes AS c WHERE c.user_id = m.user_id AND c.memory = m.id AND c.kind = 'add')""",
    ),
    "change_numbers": (
        "changes missing from the log",
        "SELECT coalesce(max(id), 0) - count(*) FROM changes WHERE user_id = :user_id",
    ),
    "journal_numbers": (
        "events missing from the journal",
        "SELECT coalesce(max(id), 0) - count(*) FROM events WHERE user_id = :user_id",
    ),
    "vectors": (
        "vectors of missing or redacted documents",
        """SELECT count(*) FROM embeddings AS v WHERE user_id = :user_id AND CASE WHEN code >= (1 << 43)
           THEN NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.user_id = v.user_id
                            AND m.id = (v.code & ((1 << 43) - 1)) >> 12 AND m.text <> '')
           ELSE NOT EXISTS (SELECT 1 FROM events AS e WHERE e.user_id = v.user_id
                            AND e.id = v.code >> 12 AND e.text <> '') END""",
    ),
    "dead_jobs": (
        "jobs gave up after too many attempts",
        "SELECT count(*) FROM operations WHERE user_id = :user_id AND status = 'dead'",
    ),
}


def check_store(connection: sqlite3.Connection, tenant: Tenant | None) -> list[Finding]:
    """Return everything that is wrong; an empty list means that all checks held."""
    findings = list(_soundness(connection))
    if tenant is not None:
        findings += _journal_chain(connection, tenant)
        for check, (what, sql) in _COUNTS.items():
            wrong = int(connection.execute(sql, {"user_id": tenant.user_id}).fetchone()[0])
            if wrong:
                findings.append(Finding(check=check, detail=f"{wrong} {what}"))
    return findings


def words_agree(connection: sqlite3.Connection) -> bool:
    """Say whether the full-text index holds exactly the words of the rows; needs a connection that may write."""
    try:
        connection.execute("INSERT INTO search_index (search_index, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
            return False
        raise
    return True


def rebuild_words(connection: sqlite3.Connection) -> None:
    """Make the full-text index afresh, and drop every index image, from the rows they are derived from."""
    connection.execute("INSERT INTO search_index (search_index) VALUES ('rebuild')")
    connection.execute("DELETE FROM index_blobs")


def _soundness(connection: sqlite3.Connection) -> Iterator[Finding]:
    for row in connection.execute("PRAGMA integrity_check(10)"):
        if row[0] != "ok":
            yield Finding(check="file", detail=str(row[0]))


def _journal_chain(connection: sqlite3.Connection, tenant: Tenant) -> Iterator[Finding]:
    previous = GENESIS
    found = connection.execute(
        """SELECT id, role, speaker, source, session_id AS session, agent_id AS agent, occurred_at AS occurred_us,
           recorded_at AS recorded_us, content_hmac, chain_hash, text, redacted_at FROM events
           WHERE user_id = ? ORDER BY id""",
        (tenant.user_id,),
    )
    for row in found:
        if chain_link(previous, dict(row)) != row["chain_hash"]:
            yield Finding(check="journal_chain", detail=f"the chain of the journal breaks at event {row['id']}")
            return
        if row["redacted_at"] is None and content_hmac(tenant.key, row["text"]) != row["content_hmac"]:
            yield Finding(check="journal_text", detail=f"the text of event {row['id']} is not what was recorded")
        previous = row["chain_hash"]
