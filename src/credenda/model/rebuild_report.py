"""Reports of a rebuild."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildDifference:
    """One difference: the memory or contest (None: a new one), the action, and the texts.

    `fields` lists the differing fields; `before` and `after` are the current and the rebuilt text, "" for none.
    """

    id: str | None
    what: str
    fields: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildReport:
    """The result of a rebuild: what it compared, the differences, and whether they were applied.

    `compared` counts memories. `unexplained` lists memories and contests that the change log does not explain and that
    stay unchanged; `redacted` and `unsupported` count those whose log an older version redacted so far that status, or
    evidence, could not be compared. `kept` lists decisions of persons that no longer apply to any memory.

    With a model, `asked` counts the messages sent to it in this run and `unread` those without an answer, whose beliefs
    stay. While `waiting` is not 0 nothing was compared, and `why` is the reason.
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
