"""The state of a server, as seen from outside."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCheck:
    """The result of one check: `ok` is None where it could not be made."""

    check: str
    ok: bool | None
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReport:
    """The results of all checks; `ok` if none failed."""

    oldest_unread_seconds: float | None
    """For how long the oldest message has waited to be read; None where the token may not see it."""
    ok: bool
    url: str
    checks: tuple[ServerCheck, ...]
