"""Access tokens in SQLite."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from typing import Final

from credenda.model.access_token import AccessToken
from credenda.storage.sqlite.connection import ReadPool
from credenda.storage.sqlite.group import GroupCommit
from credenda.storage.tokens import StoredToken

__all__ = ["TokenRows", "insert_token"]

_COLUMNS: Final = """id, name, user_id, scopes, created_at, expires_at, last_used_at, revoked_at, subject, client,
resource, digest"""
_INSERT: Final = f"INSERT INTO api_tokens ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - our own names
_FIND: Final = f"SELECT {_COLUMNS} FROM api_tokens WHERE id = ?"  # noqa: S608 - as above
_LIST: Final = f"SELECT {_COLUMNS} FROM api_tokens WHERE ?1 IS NULL OR user_id = ?1 ORDER BY created_at, id"  # noqa: S608 - as above
_REVOKE: Final = "UPDATE api_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
_USE: Final = "UPDATE api_tokens SET last_used_at = ? WHERE id = ?"


class TokenRows(ABC):
    """The part of a SQLite store that keeps access tokens."""

    _readers: ReadPool

    @abstractmethod
    def _writable(self) -> tuple[sqlite3.Connection, GroupCommit]:
        """Return the connection that writes, and the commits that it shares."""

    def add_token(self, stored: StoredToken) -> None:
        """Store a new token; durable on return."""
        self._run(_INSERT, *_list_cells(stored))

    def find_token(self, token_id: str) -> StoredToken | None:
        """Return the token with an id; None for an unknown id."""
        with self._readers.take() as connection:
            row = connection.execute(_FIND, (token_id,)).fetchone()
        return None if row is None else StoredToken(_to_token(row), bytes(row["digest"]))

    def list_tokens(self, user: str | None = None) -> list[AccessToken]:
        """Return the tokens of a user, or of all users, the oldest first."""
        with self._readers.take() as connection:
            return [_to_token(row) for row in connection.execute(_LIST, (user,))]

    def revoke_token(self, token_id: str, now_us: int) -> None:
        """Revoke a token."""
        self._run(_REVOKE, now_us, token_id)

    def record_token_use(self, token_id: str, now_us: int) -> None:
        """Record when a token was last used."""
        self._run(_USE, now_us, token_id)

    def _run(self, sql: str, *values: object) -> None:
        connection, commits = self._writable()
        commits.run(lambda: connection.execute(sql, values))


def insert_token(connection: sqlite3.Connection, stored: StoredToken) -> None:
    """Store a token in the present transaction."""
    connection.execute(_INSERT, _list_cells(stored))


def _list_cells(stored: StoredToken) -> tuple[object, ...]:
    """Return the cells of a token's row."""
    token = stored.token
    times = token.created_us, token.expires_us, token.last_used_us, token.revoked_us
    texts = token.subject, token.client, token.resource
    return token.id, token.name, token.user, " ".join(token.scopes), *times, *texts, stored.digest


def _to_token(row: sqlite3.Row) -> AccessToken:
    return AccessToken(
        id=row["id"],
        name=row["name"],
        user=row["user_id"],
        scopes=tuple(row["scopes"].split()),
        created_us=row["created_at"],
        expires_us=row["expires_at"],
        last_used_us=row["last_used_at"],
        revoked_us=row["revoked_at"],
        subject=row["subject"],
        client=row["client"],
        resource=row["resource"],
    )
