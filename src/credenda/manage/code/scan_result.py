"""What a walk over a folder found: values that the pure parts decide by. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from credenda.manage.code.manifests import Manifest
from credenda.manage.code.outline import Outline

__all__ = ["Survey", "Surveyed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """A file: its path from the root with slashes, a hash of its bytes (32 hex digits), its lines and its outline."""

    path: str
    digest: str
    lines: int
    outline: Outline


@dataclass(slots=True)
class Survey:
    """What lies under a root. `paths` names every file seen, read or not; `whole` is False where a bound cut it off."""

    root: str
    files: list[Surveyed] = field(default_factory=list[Surveyed])
    manifests: list[Manifest] = field(default_factory=list[Manifest])
    paths: list[str] = field(default_factory=list[str])
    folders: set[str] = field(default_factory=set[str])
    binary: int = 0
    problems: list[str] = field(default_factory=list[str])
    whole: bool = True
