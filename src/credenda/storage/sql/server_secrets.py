"""Short-lived secrets of a server."""

from __future__ import annotations

import json
from collections.abc import Sequence

from credenda.model.server_secret import SecretKind, ServerSecret
from credenda.storage.sql.run import Record, StatementRunner
from credenda.storage.sql.server_tables import ServerTables
from credenda.storage.sql.tokens import insert_token
from credenda.storage.tokens import StoredToken

__all__ = ["SecretRows"]


class SecretRows(ServerTables):
    """The part of a store that keeps short-lived secrets."""

    def add_secret(self, secret: ServerSecret) -> None:
        """Store a secret, and delete those that have expired."""
        self._change_tables(lambda run: _add(run, [secret]))

    def find_secret(self, digest: bytes) -> ServerSecret | None:
        """Return the secret with a digest; None for an unknown digest."""
        with self._view_tables() as run:
            row = run("secret_by_digest", digest=digest).fetchone()
        return None if row is None else _to_secret(row)

    def spend_secret(
        self, digest: bytes, now_us: int, *, successors: Sequence[ServerSecret] = (), token: StoredToken | None = None
    ) -> bool:
        """Mark a secret as used and store what it was exchanged for, in one transaction."""

        def spend(run: StatementRunner) -> bool:
            if run("spend_secret", now_us=now_us, digest=digest).rowcount != 1:
                return False
            if token is not None:
                insert_token(run, token)
            _add(run, successors)
            return True

        return self._change_tables(spend)


def _add(run: StatementRunner, secrets: Sequence[ServerSecret]) -> None:
    for one in secrets:
        run("drop_expired_secrets", before_us=one.created_us)
        run(
            "insert_secret",
            user_id=one.user,
            digest=one.digest,
            kind=one.kind,
            token_id=one.token_id,
            created_us=one.created_us,
            expires_us=one.expires_us,
            used_us=one.used_us,
            data_text=json.dumps(dict(one.data), sort_keys=True),
        )


def _to_secret(row: Record) -> ServerSecret:
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
