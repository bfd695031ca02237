"""Plain text: each block between blank lines is one event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from credenda.portability.importers.blocks import (
    BLOCK_CHARACTERS_MAX,
    Block,
    TextLine,
    cut,
    decode_lines,
    has_words,
    make_document_piece,
)
from credenda.portability.importers.format import Piece, Problem, Source
from credenda.portability.line_reader import Lines

_ENDINGS: Final = frozenset({".txt", ".text", ".log", ""})


class TextFormat:
    """Text files without markup."""

    name = "text"

    def takes(self, member: str) -> bool:
        """Return whether a file has a text name, and is not hidden."""
        return PurePosixPath(member).suffix.casefold() in _ENDINGS - {""}

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether the file has a text name and contains no binary data."""
        return path.suffix.casefold() in _ENDINGS and b"\x00" not in head

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem]:
        """Parse the file block by block."""
        block: list[TextLine] = []
        held = 0
        for line in decode_lines(lines):
            if isinstance(line, Problem):
                yield line
                continue
            if block and (not line.text or held + len(line.text) > BLOCK_CHARACTERS_MAX):
                yield from _read_block(block, source)
                block, held = [], 0
            if line.text:
                block.append(line)
                held += len(line.text) + 1
        yield from _read_block(block, source)


def _read_block(block: list[TextLine], source: Source) -> Iterator[Piece]:
    for text in cut("\n".join(line.text for line in block)):
        if has_words(text):
            yield make_document_piece(Block(text=text, line=block[0].number, occurred_us=source.modified_us), source)
