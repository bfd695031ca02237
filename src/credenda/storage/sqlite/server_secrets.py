"""Short-lived secrets of a server in SQLite."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from credenda.model.server_secret import SecretKind, ServerSecret
from credenda.storage.sqlite.connection import ReadPool
from credenda.storage.sqlite.group import GroupCommit
from credenda.storage.sqlite.tokens import insert_token
from credenda.storage.tokens import StoredToken

__all__ = ["SecretRows"]

_ADD: Final = "INSERT INTO server_secrets VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_FIND: Final = "SELECT * FROM server_secrets WHERE digest = ?"
_SPEND: Final = "UPDATE server_secrets SET used_at = ? WHERE digest = ? AND used_at IS NULL"
_DROP: Final = "DELETE FROM server_secrets WHERE expires_at < ?"


class SecretRows(ABC):
    """The part of a SQLite store that keeps short-lived secrets."""

    _readers: ReadPool

    @abstractmethod
    def _writable(self) -> tuple[sqlite3.Connection, GroupCommit]:
        """Return the connection that writes, and the commits that it shares."""

    def add_secret(self, secret: ServerSecret) -> None:
        """Store a secret, and delete those that have expired."""
        connection, commits = self._writable()
        commits.run(lambda: _add(connection, [secret]))

    def find_secret(self, digest: bytes) -> ServerSecret | None:
        """Return the secret with a digest; None for an unknown digest."""
        with self._readers.take() as connection:
            row = connection.execute(_FIND, (digest,)).fetchone()
        return None if row is None else _to_secret(row)

    def spend_secret(
        self, digest: bytes, now_us: int, *, successors: Sequence[ServerSecret] = (), token: StoredToken | None = None
    ) -> bool:
        """Mark a secret as used and store what it was exchanged for, in one transaction."""
        connection, commits = self._writable()

        def spend() -> bool:
            if connection.execute(_SPEND, (now_us, digest)).rowcount != 1:
                return False
            if token is not None:
                insert_token(connection, token)
            _add(connection, successors)
            return True

        return commits.run(spend)


def _add(connection: sqlite3.Connection, secrets: Sequence[ServerSecret]) -> None:
    for one in secrets:
        connection.execute(_DROP, (one.created_us,))
        times = one.created_us, one.expires_us, one.used_us
        data = json.dumps(dict(one.data), sort_keys=True)
        connection.execute(_ADD, (one.user, one.digest, one.kind, one.token_id, *times, data))


def _to_secret(row: sqlite3.Row) -> ServerSecret:
    return ServerSecret(
        digest=bytes(row["digest"]),
        kind=SecretKind(row["kind"]),
        user=row["user_id"],
        token_id=row["token_id"],
        created_us=row["created_at"],
        expires_us=row["expires_at"],
        used_us=row["used_at"],
        data=json.loads(row["data"]),
    )
