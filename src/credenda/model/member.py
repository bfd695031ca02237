"""Members of a memory that several people share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Member", "MemberRole"]


class MemberRole(StrEnum):
    """The permissions of a member, the fewest first."""

    READER = "reader"
    WRITER = "writer"
    REVIEWER = "reviewer"
    OWNER = "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A person who may use a memory: issuer and subject name the person."""

    id: str
    """The author of what this member writes; "" for the user whose memory it is."""
    user: str
    """The user whose memory it is."""
    issuer: str
    """The external issuer that names the person; "" for this server."""
    subject: str
    role: MemberRole
    added_us: int
    removed_us: int | None = None
