"""The storage of access tokens, beside the rows of tenants: a token is looked up before its tenant is known."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from credenda.model.access_token import AccessToken

__all__ = ["StoredToken", "TokenStore"]


class StoredToken(NamedTuple):
    """A token and the SHA-256 of its secret."""

    token: AccessToken
    digest: bytes


class TokenStore(Protocol):
    """The tokens of a database. Erasing a tenant deletes its tokens in the same transaction."""

    def add_token(self, stored: StoredToken) -> None:
        """Store a new token; durable on return."""
        ...

    def find_token(self, token_id: str) -> StoredToken | None:
        """Return the token with an id, valid or not; None for an unknown id."""
        ...

    def list_tokens(self, user: str | None = None) -> list[AccessToken]:
        """Return the tokens of a user, or of all users, the oldest first."""
        ...

    def revoke_token(self, token_id: str, now_us: int) -> None:
        """Revoke a token; one that is revoked already keeps its time."""
        ...

    def record_token_use(self, token_id: str, now_us: int) -> None:
        """Record when a token was last used."""
        ...
