"""Tokens with which callers of a server prove who they are."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AccessToken", "IssuedToken"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """A token as it is stored: everything but its secret."""

    id: str
    name: str
    user: str
    scopes: tuple[str, ...]
    created_us: int
    expires_us: int | None = None
    last_used_us: int | None = None
    """The last use, recorded at most once a minute."""
    revoked_us: int | None = None
    subject: str = ""
    """The member of the memory who has the token; "" for the user whose memory it is."""
    client: str = ""
    """The id of the OAuth client that was connected; "" for a token of `credenda token create`."""
    resource: str = ""
    """The address that it is for; "" for every address of the server."""

    @property
    def person(self) -> str:
        """The person who has it."""
        return self.subject or self.user

    def is_valid_at(self, now_us: int) -> bool:
        """Return whether it is neither revoked nor expired."""
        return self.revoked_us is None and (self.expires_us is None or now_us < self.expires_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A new token with its text, which is shown once and stored nowhere."""

    token: str
    id: str
    name: str
    user: str
    scopes: tuple[str, ...]
    created_us: int
    expires_us: int | None
    subject: str
