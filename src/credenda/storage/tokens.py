"""The storage of tokens, secrets and members, beside the rows of tenants: they are looked up to find the tenant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from credenda.model.access_token import AccessToken
from credenda.model.member import Member
from credenda.model.server_secret import ServerSecret

__all__ = ["MemberStore", "SecretStore", "StoredToken", "TokenStore"]


class StoredToken(NamedTuple):
    """A token and the SHA-256 of its secret; an empty digest for a token without a secret of its own."""

    token: AccessToken
    digest: bytes


class TokenStore(Protocol):
    """The tokens of a database. Erasing a tenant deletes its tokens in the same transaction."""

    def add_token(self, stored: StoredToken, *, now_us: int | None = None) -> None:
        """Store a token; durable on return. Raises `Conflict` if a token of its name and user is valid at `now_us`."""
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


class SecretStore(Protocol):
    """The short-lived secrets of a server. Erasing a user deletes them in the same transaction."""

    def add_secret(self, secret: ServerSecret) -> None:
        """Store a secret, and delete those that have expired; durable on return."""
        ...

    def find_secret(self, digest: bytes) -> ServerSecret | None:
        """Return the secret with a digest, valid or not; None for an unknown digest."""
        ...

    def spend_secret(
        self, digest: bytes, now_us: int, *, successors: Sequence[ServerSecret] = (), token: StoredToken | None = None
    ) -> bool:
        """Mark a secret as used and store what it was exchanged for, in one transaction.

        Returns False, and stores nothing, if it was used before or is unknown.
        """
        ...


class MemberStore(Protocol):
    """The members of shared memories. Erasing a user deletes the members, and the memberships of that user."""

    def add_member(self, member: Member) -> None:
        """Store a new member; durable on return. Raises `Conflict` for a present member of the same name."""
        ...

    def find_member(self, user: str, issuer: str, subject: str) -> Member | None:
        """Return the present member of a user's memory; None for others."""
        ...

    def list_members(self, user: str | None = None) -> list[Member]:
        """Return the members of a user's memory, or of all memories, present and removed, the oldest first."""
        ...

    def list_memberships(self, issuer: str, subject: str) -> list[Member]:
        """Return the present memberships of a person, ordered by memory."""
        ...

    def set_member_role(self, member: Member) -> None:
        """Store the role of a member."""
        ...

    def remove_member(self, member: Member, now_us: int) -> None:
        """Remove a member; repeating it keeps the first time."""
        ...
