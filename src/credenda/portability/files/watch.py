"""Telling when something has changed and come to rest, by looking at it now and then."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from credenda.portability.files.folder import stamp_file
from credenda.portability.files.layout import ARCHIVE, CORE, INDEX, PAGES

__all__ = ["Rest", "compute_signature"]


class Rest:
    """Says when to act: what is seen differs from what was handled, and was the same at the look before.

    A page that is being saved has another size or time at each look, so that half of it is never taken for all.

    >>> rest = Rest()
    >>> rest.handled(1)
    >>> [rest.ready(seen) for seen in (1, 2, 3, 3)]
    [False, False, False, True]
    """

    def __init__(self) -> None:
        """Begin with nothing handled."""
        self._handled: object = None
        self._before: object = None

    def handled(self, seen: object) -> None:
        """Take what is seen now for granted."""
        self._handled = self._before = seen

    def ready(self, seen: object) -> bool:
        """Look once."""
        still = seen == self._before
        self._before = seen
        return still and seen != self._handled


def compute_signature(root: Path) -> Mapping[str, tuple[int, ...]]:
    """Give what tells whether a page changed since: sizes and times of all pages, without reading any."""
    return dict(_stamp_pages(root))


def _stamp_pages(root: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    for place in (root / ARCHIVE, root / PAGES):
        for folder, below, names in os.walk(place):
            below[:] = [name for name in below if not name.startswith(".")]
            for name in names:
                yield from _stamp_page(Path(folder) / name)
    for name in (CORE, INDEX):
        yield from _stamp_page(root / name)


def _stamp_page(path: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    with suppress(OSError):
        if path.suffix == ".md" and not path.name.startswith("."):
            yield str(path), stamp_file(path.lstat())
