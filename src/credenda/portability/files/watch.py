"""Detect by polling that something has changed and settled."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from credenda.portability.files.folder import stamp_file

__all__ = ["Rest", "compute_signature"]


class Rest:
    """Ready when the state differs from the handled one and equals the previous poll's.

    A page that is being saved has another size or time at each poll, so that a partial page is never read.

    >>> rest = Rest()
    >>> rest.handled(1)
    >>> [rest.ready(seen) for seen in (1, 2, 3, 3)]
    [False, False, False, True]
    """

    def __init__(self) -> None:
        """Start with nothing handled."""
        self._handled: object = None
        self._before: object = None

    def handled(self, seen: object) -> None:
        """Record a state as handled."""
        self._handled = self._before = seen

    def ready(self, seen: object) -> bool:
        """Poll once; return whether to act."""
        still = seen == self._before
        self._before = seen
        return still and seen != self._handled


def compute_signature(root: Path) -> Mapping[str, tuple[int, ...]]:
    """Return the sizes and times of all pages, without reading any."""
    return dict(_stamp_pages(root))


def _stamp_pages(root: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if not name.startswith(".")]
        for name in names:
            yield from _stamp_page(Path(folder) / name)


def _stamp_page(path: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    with suppress(OSError):
        if path.suffix == ".md" and not path.name.startswith("."):
            yield str(path), stamp_file(path.lstat())
