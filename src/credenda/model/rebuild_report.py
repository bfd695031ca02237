"""What a rebuild compared and changed."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RebuildDifference", "RebuildReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildDifference:
    """One thing that a rebuild changes: the memory or contest (None: a new one), what is done, and its words.

    `fields` names what of it differs; `before` and `after` are its text as it is held and as it would be, "" for none.
    """

    id: str | None
    what: str
    fields: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildReport:
    """What a rebuild compared, what differed, and whether it was put in place.

    `compared` counts memories. `unexplained` names memories and contests that the change log does not explain, which
    are left as they are; `redacted` and `unsupported` count those whose log an older version cut so far that standing,
    or evidence, could not be compared. `kept` names decisions of yours that found nothing to hold on to any more.

    With a model, `asked` counts the messages that it read this time and `unread` those that it could not read, of which
    what was believed stays. While `waiting` is not 0 nothing was compared, and `why` says what stopped it.
    """

    reextract: bool
    dry_run: bool
    compared: int
    differences: tuple[RebuildDifference, ...]
    applied: bool
    unexplained: tuple[str, ...] = ()
    redacted: int = 0
    unsupported: int = 0
    kept: tuple[str, ...] = ()
    asked: int = 0
    unread: int = 0
    waiting: int = 0
    why: str = ""
