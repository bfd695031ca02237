"""Access tokens."""

from __future__ import annotations

from collections.abc import Iterable

from credenda.errors import Conflict
from credenda.model.access_token import AccessToken
from credenda.storage.sql.run import Record, StatementRunner
from credenda.storage.sql.server_tables import ServerTables
from credenda.storage.tokens import StoredToken

__all__ = ["TokenRows", "insert_token"]


class TokenRows(ServerTables):
    """The part of a store that keeps access tokens."""

    def add_token(self, stored: StoredToken, *, now_us: int | None = None) -> None:
        """Store a token; raises `Conflict` if a token of its name and user is valid at `now_us`."""
        user = stored.token.user

        def add(run: StatementRunner) -> None:
            if now_us is not None:
                _check_name(map(_to_token, run("list_tokens", user_id=user)), stored.token.name, now_us)
            insert_token(run, stored)

        self._change_tables(add, user, alone="token")

    def find_token(self, token_id: str) -> StoredToken | None:
        """Return the token with an id; None for an unknown id."""
        with self._view_tables() as run:
            row = run("token_by_id", id_text=token_id).fetchone()
        return None if row is None else StoredToken(_to_token(row), bytes(row["digest"]))

    def list_tokens(self, user: str | None = None) -> list[AccessToken]:
        """Return the tokens of a user, or of all users, the oldest first."""
        with self._view_tables() as run:
            return [_to_token(row) for row in run("list_tokens", user_id=user)]

    def revoke_token(self, token_id: str, now_us: int) -> None:
        """Revoke a token."""
        self._change_tables(lambda run: run("revoke_token", id_text=token_id, now_us=now_us).rowcount)

    def record_token_use(self, token_id: str, now_us: int) -> None:
        """Record when a token was last used."""
        self._change_tables(lambda run: run("use_token", id_text=token_id, now_us=now_us).rowcount)


def _check_name(held: Iterable[AccessToken], name: str, now_us: int) -> None:
    """Raise `Conflict` if a valid token has a name; a connected client has no name of its own."""
    same = next((one for one in held if one.name == name and not one.client and one.is_valid_at(now_us)), None)
    if same is not None:
        raise Conflict(
            f"{same.user[:64]} has a valid token {name[:64]!r} already",
            why=f"the name revokes one token, and {same.id} has it",
            fix="give another name, or revoke that token first",
        )


def insert_token(run: StatementRunner, stored: StoredToken) -> None:
    """Store a token in the present transaction."""
    token = stored.token
    run(
        "insert_token",
        id_text=token.id,
        name=token.name,
        user_id=token.user,
        scopes=" ".join(token.scopes),
        created_us=token.created_us,
        expires_us=token.expires_us,
        last_used_us=token.last_used_us,
        revoked_us=token.revoked_us,
        subject=token.subject,
        client=token.client,
        resource=token.resource,
        digest=stored.digest,
    )


def _to_token(row: Record) -> AccessToken:
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
