"""Markdown: each block becomes one event, with the headings above it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from credenda.portability.importers.blocks import make_document_piece, read_blocks
from credenda.portability.importers.format import Piece, Problem, Source
from credenda.portability.line_reader import Lines

_ENDINGS: Final = frozenset({".md", ".markdown", ".mdown"})


class MarkdownFormat:
    """Notes with headings."""

    name = "markdown"

    def takes(self, member: str) -> bool:
        """Return whether a file has a Markdown name."""
        return is_markdown(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether the file has a Markdown name and contains no binary data."""
        return is_markdown(path.name) and b"\x00" not in head

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem]:
        """Parse the file block by block."""
        for block in read_blocks(lines, source):
            yield block if isinstance(block, Problem) else make_document_piece(block, source)


def is_markdown(name: str) -> bool:
    """Return whether a file has a Markdown name."""
    return PurePosixPath(name.casefold().removesuffix(".gz")).suffix in _ENDINGS
