"""Texts of another memory's documents: blocks between blank lines, with the document's name and time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from credenda.clock import from_datetime
from credenda.portability.importers.blocks import Block, cut, has_words, make_document_piece
from credenda.portability.importers.format import Piece, Source
from credenda.portability.importers.json_checks import mend_surrogates
from credenda.private import cut_tagged

_BLANK: Final = re.compile(r"\n[ \t]*\n")


def make_prose_pieces(
    text: str, source: Source, *, place: str, name: str = "", moment: datetime | None = None, tags: tuple[str, ...] = ()
) -> Iterator[Piece]:
    """Yield the blocks of a text as statements of a document; without a time they have that of the file."""
    occurred_us = source.modified_us if moment is None else from_datetime(moment)
    for block in _BLANK.split(cut_tagged(mend_surrogates(text))):
        for part in cut(block.strip()):
            if has_words(part):
                details = {"document": name} if name else {}
                made = Block(text=part, line=1, occurred_us=occurred_us, details=details, tags=tags)
                yield replace(make_document_piece(made, source), place=place)
