"""Split plain documents into blocks of lines, separated by blank lines, within the size of one event."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from credenda import limits
from credenda.clock import to_datetime
from credenda.portability.importers.format import Piece, Problem, Source, make_stable_key
from credenda.portability.line_reader import Line
from credenda.private import PrivateParts, cut_tagged
from credenda.write.intake.validate import Submission

__all__ = [
    "BLOCK_CHARACTERS_MAX",
    "Block",
    "TextLine",
    "cut",
    "decode_lines",
    "has_words",
    "make_document_piece",
    "name_file_session",
]

BLOCK_CHARACTERS_MAX: Final = limits.EVENT_TEXT_BYTES // 4
"""A character takes at most four bytes, so a block of this length always fits into an event."""
_WORD: Final = re.compile(r"\w")
_BOM: Final = "\ufeff"
_SESSION_CHARACTERS: Final = limits.NAME_CHARACTERS - 8


@dataclass(frozen=True, slots=True)
class TextLine:
    """A decoded line without its end."""

    number: int
    text: str


def decode_lines(lines: Iterable[Line]) -> Iterator[TextLine | Problem]:
    """Decode lines, without their private parts; a run of undecodable lines is one problem."""
    broken = False
    private = PrivateParts()
    for line in lines:
        try:
            text = None if line.too_long else line.data.decode().rstrip()
        except UnicodeDecodeError:
            text = None
        if text is None:
            if not broken:
                what = "too long" if line.too_long else "not UTF-8 text; save the file as UTF-8"
                yield Problem(place=f"line {line.number}", what=what)
            broken = True
            private.cut(line.data.decode("utf-8", "replace"))
            continue
        broken = False
        text = private.cut(text.removeprefix(_BOM) if line.number == 1 else text)
        yield TextLine(line.number, text.rstrip())


def has_words(text: str) -> bool:
    """Return whether a text contains words."""
    return _WORD.search(text) is not None


def cut(text: str) -> Iterator[str]:
    """Split a text into parts that fit into an event, at a space if possible; private parts are cut before."""
    rest = cut_tagged(text)
    while len(rest) > BLOCK_CHARACTERS_MAX:
        place = max(rest.rfind(sign, BLOCK_CHARACTERS_MAX // 2, BLOCK_CHARACTERS_MAX) for sign in "\n .")
        end = place + 1 if place > 0 else BLOCK_CHARACTERS_MAX
        yield rest[:end]
        rest = rest[end:]
    yield rest


def name_file_session(source: Source) -> str:
    """Return the session of a file's content, so that it can be deleted as a whole."""
    path = source.path.as_posix().encode("utf-8", "replace").decode()
    return f"file:{path[-_SESSION_CHARACTERS:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A run of lines of a document; `details` name the page and its headings."""

    text: str
    line: int
    occurred_us: int | None
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    tags: tuple[str, ...] = ()


def make_document_piece(block: Block, source: Source) -> Piece:
    """Make a block a document's statement. Equal text is the same block in every file."""
    name = source.path.name.encode("utf-8", "replace").decode()
    message: dict[str, object] = {"role": "document", "content": block.text}
    if block.occurred_us is not None:
        message["timestamp"] = to_datetime(block.occurred_us)
    submission = Submission(
        content=[message],
        user_id=source.user_id,
        session=name_file_session(source),
        source="ingest",
        tags=block.tags,
        metadata={"document": name, **block.details},
        idempotency_key=make_stable_key("document", block.text),
    )
    return Piece(place=f"line {block.line}", submission=submission, by_content=True)
