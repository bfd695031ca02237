"""Result values of a code scan. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from credenda.manage.code.manifests import Manifest
from credenda.manage.code.outline import Outline

__all__ = ["ScanResult", "ScannedFile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedFile:
    """A scanned file: path from the root with slashes, hash of its bytes (32 hex digits), line count and outline."""

    path: str
    digest: str
    lines: int
    outline: Outline


@dataclass(slots=True)
class ScanResult:
    """The scan of one root.

    `paths` are all files seen, scanned or not; `whole` is False if a limit stopped the scan.
    """

    root: str
    files: list[ScannedFile] = field(default_factory=list[ScannedFile])
    manifests: list[Manifest] = field(default_factory=list[Manifest])
    paths: list[str] = field(default_factory=list[str])
    folders: set[str] = field(default_factory=set[str])
    binary: int = 0
    problems: list[str] = field(default_factory=list[str])
    whole: bool = True
