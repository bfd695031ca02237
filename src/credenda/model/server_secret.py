"""Short-lived secrets of a server: login links, sessions, authorization codes, access tokens and refresh tokens.

Passwords are kept beside them, as hashes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["SecretKind", "ServerSecret"]


class SecretKind(StrEnum):
    """The purpose of a secret; it stands in the text of the secret, so that none serves another purpose."""

    LINK = "link"
    SESSION = "session"
    CODE = "code"
    ACCESS = "access"
    REFRESH = "refresh"
    PASSWORD = "password"  # noqa: S105 - the name of a kind
    """The hash of a password, found by the name of its person; it is no text that anyone sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSecret:
    """A secret as it is stored: its SHA-256, never its text."""

    digest: bytes
    kind: SecretKind
    user: str
    """The user whose erasure deletes it: of a link or session the person, else the memory."""
    token_id: str = ""
    """The token that it belongs to."""
    created_us: int
    expires_us: int
    used_us: int | None = None
    data: Mapping[str, str] = field(default_factory=dict[str, str])

    def is_valid_at(self, now_us: int) -> bool:
        """Return whether it is neither used nor expired."""
        return self.used_us is None and now_us < self.expires_us
