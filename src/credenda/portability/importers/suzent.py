"""Suzent: its memory folder, with consolidated entries, day files, tombstones and the watermark between them.

Lines of a day up to the watermark were folded into entries: they are history. Later ones are believed, as entries are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path, PurePosixPath
from typing import Final

from credenda.clock import from_datetime
from credenda.model.memory import Draft, Layer, MemoryType, Status
from credenda.portability.files.folder import Folder
from credenda.portability.files.foreign import find_days_of_lines
from credenda.portability.files.next_state import read_deleted_texts
from credenda.portability.files.parse import Parsed as Page
from credenda.portability.files.parse import Said, has_marks, keep_statements, parse
from credenda.portability.files.render import ARCHIVE, PAGES
from credenda.portability.files.state import Text, Tier
from credenda.portability.importers.blocks import has_words
from credenda.portability.importers.databases import read_metadata
from credenda.portability.importers.format import Deletion, ForeignMemory, Omitted, Parsed, Problem, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Statement,
    make_statement_piece,
    read_moment_or_none,
    read_text,
    read_whole,
)
from credenda.portability.importers.prose import make_prose_pieces
from credenda.portability.line_reader import Lines
from credenda.portability.sources import Place

_STATE: Final = ".consolidation_state.json"
_CORE: Final = "memory.md"
_USER: Final = "user.md"
_DAY: Final = re.compile(r"(\d{4}-\d{2}-\d{2})\.md", re.IGNORECASE)
_ENTRY: Final = re.compile(rb'<!--m \{(?!"id")[^\n]{0,500}"first_seen"')
_FOLDED: Final = "folded into an entry of Suzent before its watermark"
_ANY_TIME: Final = 1 << 62


def locate(path: Path) -> Place:
    """Return the place of a file on disk."""
    return Place(PurePosixPath(path.as_posix()), _load_file)


def _load_file(path: PurePosixPath) -> bytes:
    return Folder(Path(path).parent).load(path.name)


@dataclass(frozen=True, slots=True)
class _Root:
    """The folder of Suzent to which a page belongs, on disk or in a zip."""

    page: Place

    @property
    def path(self) -> PurePosixPath:
        above = self.page.path.parent
        return above.parent if above.name in (ARCHIVE, PAGES) else above

    def load(self, name: str) -> bytes:
        return self.page.load(self.path / name)


class SuzentFormat:
    """The folder in which Suzent keeps its memory."""

    name = "suzent"

    def takes(self, member: str) -> bool:
        """Return whether a file is a page or a day."""
        return member.casefold().endswith(".md")

    def is_day(self, place: Place) -> bool:
        """Return whether a file has the lines of a day."""
        return place.path.parent.name == ARCHIVE and _DAY.fullmatch(place.path.name) is not None

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a page lies in a folder with the state of Suzent, or has its entries."""
        return self.recognises_at(head, locate(path))

    def recognises_at(self, head: bytes, place: Place) -> bool:
        """Return the same for a page that may lie in a zip."""
        entered = place.path.parent.name == PAGES and _ENTRY.search(head) is not None
        return self.takes(place.path.name) and (entered or bool(_Root(place).load(_STATE)))

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse a page by its place in the folder, after what was deleted there."""
        found = source.place or locate(source.path)
        folder = _Root(found)
        for deleted in read_deleted_texts(folder):
            yield Deletion(text=deleted)
        try:
            text = read_whole(lines).decode("utf-8-sig")
        except (MalformedError, UnicodeDecodeError) as error:
            what = str(error) if isinstance(error, MalformedError) else "not UTF-8 text; save the file as UTF-8"
            yield Problem(place="file", what=what)
            return
        place = found.path.relative_to(folder.path).as_posix()
        page = keep_statements(parse(text), place)
        if has_marks(page):
            yield Omitted(what="pages of Credenda")
        elif place.casefold() == _CORE:
            yield Omitted(what="lines of the core", count=sum(isinstance(one, Said) for one in page.blocks))
        elif place.casefold() == _USER or found.path.parent.name in (ARCHIVE, PAGES):
            yield from _read_lines(
                page,
                place,
                read_text(read_metadata(folder.load(_STATE).decode("utf-8-sig", "replace")), "watermark_date")[:10],
                source,
            )
        else:
            yield from make_prose_pieces(text, source, place="page", name=source.path.stem)


def _read_lines(page: Page, place: str, watermark: str, source: Source) -> Iterator[Parsed]:
    """Yield the entries of a page, or the lines of a day, each with its time."""
    named = _DAY.fullmatch(source.path.name)
    folded = named is not None and named[1] <= watermark
    times = find_days_of_lines(Text(place, Tier.ARCHIVE, page), UTC, _ANY_TIME)
    for number, block in enumerate(page.blocks):
        if not isinstance(block, Said) or not has_words(block.text):
            continue
        moment = read_moment_or_none(times.get(number))
        statement = Statement(
            place=f"line {number + 1}",
            text=block.text,
            key=("suzent", place, block.text),
            occurred_at=moment,
            metadata={"document": source.path.stem},
            held=_hold(place, block.text, watermark if folded else ""),
        )
        yield make_statement_piece(statement, source)


def _hold(place: str, text: str, watermark: str) -> ForeignMemory:
    """Return a line that is believed, or that was folded into an entry before the watermark."""
    ended = read_moment_or_none(watermark)
    return ForeignMemory(
        id=f"{place} {text}",
        draft=Draft(
            text="",
            type=MemoryType.FACT,
            layer=Layer.EPISODIC if watermark else Layer.SEMANTIC,
            status=Status.MERGED if watermark else Status.ACTIVE,
            valid_until_us=None if ended is None else from_datetime(ended),
        ),
        reason=_FOLDED if watermark else "",
    )
