"""Markdown: a block is one event, which knows the headings that it stands under."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from credenda.portability.importers.blocks import make_document_piece
from credenda.portability.importers.format import Piece, Problem, Source
from credenda.portability.importers.pages import read_blocks
from credenda.portability.line_reader import Lines

__all__ = ["MarkdownFormat", "is_markdown"]

_ENDINGS: Final = frozenset({".md", ".markdown", ".mdown"})


class MarkdownFormat:
    """Notes with headings."""

    name = "markdown"

    def takes(self, member: str) -> bool:
        """Take what is called like Markdown."""
        return is_markdown(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Say whether the file is called like Markdown and holds no binary data."""
        return is_markdown(path.name) and b"\x00" not in head

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem]:
        """Read the file block by block."""
        for block in read_blocks(lines, source):
            yield block if isinstance(block, Problem) else make_document_piece(block, source)


def is_markdown(name: str) -> bool:
    """Say whether a file is called like Markdown."""
    return PurePosixPath(name.casefold().removesuffix(".gz")).suffix in _ENDINGS
