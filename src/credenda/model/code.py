"""Reports of code scans and of drift between memories and code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

DriftLevel = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReport:
    """The result of a scan: counts of memories, and of files.

    `files` counts the examined files; `passed_over` of them could not be read or stored (`problems` lists the first
    hundred), and `binary` contain no text. `removed` counts memories that ended because their file is gone; none ends
    if the scan was cut off (`whole` is False).
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
    """Memories in which a suspected secret was masked."""
    problems: tuple[str, ...] = ()
    whole: bool = True
    ran: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftFinding:
    """A claim of a memory that is not true: `code` as listed in docs/how-to/code.md, `what` as in the memory.

    `where` is the place that was checked: a path, a module, a manifest, or "roots" for all scanned files.
    """

    code: str
    level: DriftLevel
    memory_id: str
    what: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftReport:
    """The agreement of memories and code: `score` from 0 to 100, and the findings.

    `checked` counts the compared claims of each kind; with `fix`, `invalidated` lists the memories that were
    invalidated.

    `ran` is False, with the `reason`, if nothing could be compared.
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
