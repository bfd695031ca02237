"""What a scan of code kept, and what has drifted between memories and code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["DriftFinding", "DriftLevel", "DriftReport", "ScanReport"]

DriftLevel = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReport:
    """What came of a scan: counts of memories, and of files.

    `files` were looked at; of them `passed_over` could not be read or kept, as `problems` say (the first hundred), and
    `binary` hold no text. `removed` memories ended because their file is gone; nothing ends where the scan was cut off
    (`whole` is False).
    """

    root: str
    files: int
    added: int
    changed: int
    unchanged: int
    removed: int
    binary: int
    passed_over: int
    masked: int = 0
    """Memories in which something that looks like a secret was masked."""
    problems: tuple[str, ...] = ()
    whole: bool = True
    ran: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftFinding:
    """A claim of a memory that does not hold: `code` as docs/how-to/code.md lists them, `what` as the memory names it.

    `where` says where was looked: a path, a module, a manifest, or "roots" for all that was read.
    """

    code: str
    level: DriftLevel
    memory_id: str
    what: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftReport:
    """How far memories and code agree: `score` from 0 to 100, and what is wrong.

    `checked` counts the claims of each kind that were held against the code; with `fix`, `invalidated` names the
    memories that were given up.

    `ran` is False, with the `reason`, where nothing could be held against anything.
    """

    roots: tuple[str, ...]
    score: int
    findings: tuple[DriftFinding, ...]
    memories: int
    checked: Mapping[str, int] = field(default_factory=dict[str, int])
    invalidated: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    fix: bool = False
    ran: bool = True
    reason: str = ""
