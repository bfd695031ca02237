"""Reading foreign files into a memory: which format it is, and where it goes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from credenda.errors import Invalid
from credenda.model.report import ImportReport
from credenda.parts import Parts
from credenda.portability.archive import FORMAT, load_archive
from credenda.portability.filing import Tally, file_pieces
from credenda.portability.importers.conversation import ConversationFormat
from credenda.portability.importers.markdown import MarkdownFormat
from credenda.portability.importers.port import Format, Source
from credenda.portability.importers.text import TextFormat
from credenda.portability.lines import Lines, Progress, open_lines

__all__ = ["ARCHIVE", "FORMATS", "import_file"]

ARCHIVE: Final = "credenda"
FORMATS: Final[tuple[Format, ...]] = (ConversationFormat(), MarkdownFormat(), TextFormat())
_NAMES: Final = (ARCHIVE, *(known.name for known in FORMATS))
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")


def import_file(
    parts: Parts, path: Path, format: str | None = None, *, progress: Progress | None = None
) -> ImportReport:
    """Read a file: an archive, a conversation file, Markdown or plain text, gzip'd or not, of any size.

    The format is recognised by what the file begins with, else by its ending. Malformed items are passed over and named
    in the report; repeating an import takes in nothing twice, and an interrupted one goes on where it stopped (an
    archive instead comes whole or not at all). Raises `Invalid` for a format that is unknown or cannot be told,
    `NotFound` or `Unavailable` for a file that cannot be opened, `Corrupt` for one that is damaged, `LimitExceeded` for
    one that unpacks beyond measure.
    """
    if format is not None and format not in _NAMES:
        raise Invalid(f"{format!r} is not a format", fix=f"choose one of {', '.join(_NAMES)}")
    with open_lines(path, progress) as lines:
        chosen = format or _recognised(lines, path)
        if chosen == ARCHIVE:
            return load_archive(parts, path, lines)
        known = next(one for one in FORMATS if one.name == chosen)
        tally = Tally()
        source = Source(path=path, user_id=parts.user_id, modified_us=lines.modified_us)
        file_pieces(parts, known.pieces(lines, source), tally)
    return tally.report(path, chosen)


def _recognised(lines: Lines, path: Path) -> str:
    head = lines.head()
    if f'"{FORMAT}"'.encode() in head.partition(b"\n")[0] and head.startswith(b"{"):
        return ARCHIVE
    unpacked = path.with_suffix("") if path.suffix.casefold() == ".gz" else path
    for known in FORMATS:
        if known.recognises(head, unpacked):
            return known.name
    raise Invalid(
        f"cannot tell what {path.name} is",
        why="it is UTF-16, not UTF-8" if head.startswith(_WIDE) else "neither its beginning nor its ending says so",
        fix=f"save it as UTF-8 text, or name the format: {', '.join(_NAMES)}",
    )
