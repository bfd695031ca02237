"""Import foreign files into a memory: detect the format, and store the content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from credenda.errors import Corrupt, CredendaError, Invalid, NotFound, Unavailable
from credenda.model.report import ImportReport
from credenda.paths import find_path_kind
from credenda.portability.archive import FORMAT, load_archive
from credenda.portability.batch_write import Tally, write_pieces
from credenda.portability.file_state import FileStates
from credenda.portability.importers.chatgpt import ChatGPTFormat
from credenda.portability.importers.claude import ClaudeFormat
from credenda.portability.importers.claude_code import ClaudeCodeFormat
from credenda.portability.importers.codex import CodexFormat
from credenda.portability.importers.cognee import CogneeFormat
from credenda.portability.importers.conversation import ConversationFormat
from credenda.portability.importers.copilot import CopilotFormat
from credenda.portability.importers.format import Format, Parsed, Piece, Problem, Source
from credenda.portability.importers.gemini_cli import GeminiCliFormat
from credenda.portability.importers.gemini_takeout import GeminiTakeoutFormat
from credenda.portability.importers.hermes import HermesFormat
from credenda.portability.importers.hindsight import HindsightFormat
from credenda.portability.importers.json_checks import make_showable
from credenda.portability.importers.letta import LettaFormat
from credenda.portability.importers.markdown import MarkdownFormat
from credenda.portability.importers.mcp_memory import McpMemoryFormat
from credenda.portability.importers.mem0 import Mem0Format
from credenda.portability.importers.memory_folder import MemoryFolderFormat
from credenda.portability.importers.memory_list import MemoryListFormat
from credenda.portability.importers.messages import MessagesFormat
from credenda.portability.importers.obsidian import ObsidianFormat
from credenda.portability.importers.open_webui import OpenWebUIFormat
from credenda.portability.importers.openclaw import OpenClawFormat
from credenda.portability.importers.openmemory import SQLITE_HEAD, OpenMemoryFormat
from credenda.portability.importers.pam import PamFormat
from credenda.portability.importers.sillytavern import SillyTavernFormat
from credenda.portability.importers.telegram import TelegramFormat
from credenda.portability.importers.text import TextFormat
from credenda.portability.importers.whatsapp import WhatsAppFormat
from credenda.portability.importers.zep import ZepFormat
from credenda.portability.line_reader import Lines, Meter, Progress, open_lines
from credenda.portability.sources import Entry, is_zip, list_folder, open_zip
from credenda.runtime import Parts

__all__ = ["ARCHIVE", "FORMATS", "import_file", "read_file"]

ARCHIVE: Final = "credenda"
FORMATS: Final[tuple[Format, ...]] = (
    CodexFormat(),
    CopilotFormat(),
    GeminiCliFormat(),
    ClaudeCodeFormat(),
    ChatGPTFormat(),
    ClaudeFormat(),
    McpMemoryFormat(),
    TelegramFormat(),
    OpenWebUIFormat(),
    SillyTavernFormat(),
    GeminiTakeoutFormat(),
    PamFormat(),
    LettaFormat(),
    HindsightFormat(),
    OpenMemoryFormat(),
    ZepFormat(),
    CogneeFormat(),
    Mem0Format(),
    ConversationFormat(),
    MessagesFormat(),
    WhatsAppFormat(),
    HermesFormat(),
    OpenClawFormat(),
    MemoryFolderFormat(),
    MemoryListFormat(),
    ObsidianFormat(),
    MarkdownFormat(),
    TextFormat(),
)
"""Formats, the most specific first."""
_NAMES: Final = (ARCHIVE, *(known.name for known in FORMATS))
_BOM: Final = b"\xef\xbb\xbf"
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")
_TEXT_BYTES: Final = 1 << 13
"""Where a zero byte shows that a file is no text; one further on may be damage."""
_LOOKED_AT: Final = 2_000
"""The maximum number of files opened to detect the format of a folder or zip."""


def import_file(
    parts: Parts,
    path: Path,
    format: str | None = None,
    *,
    dry_run: bool = False,
    uploaded: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a file, a folder or a zip of any size: an archive, conversations, other memories, documents.

    The format is detected by the beginning of a file, else by its suffix. Malformed items are skipped and named in the
    report. A repeated import stores nothing twice, and an interrupted one continues where it stopped (an archive is
    imported completely or not at all). `dry_run` reads everything and stores nothing. `uploaded` says that a server
    received the file: its standing instructions wait until the user confirms them. Raises `Invalid` for an unknown or
    undetectable format, `NotFound` or `Unavailable` for a file that cannot be opened, `Corrupt` for a damaged one,
    `LimitExceeded` for a decompression bomb.
    """
    if format is not None and format not in _NAMES:
        raise Invalid(f"{format!r} is not a format", fix=f"choose one of {', '.join(_NAMES)}")
    tally = Tally(dry_run=dry_run, uploaded=uploaded)
    if find_path_kind(path) == "folder":
        return _import_many(parts, _choose_format(path, list_folder(path), format), progress, tally)
    with open_lines(path, progress) as lines:
        if not is_zip(lines.head()):
            return _import_lines(parts, path, lines, format, tally=tally)
    with open_zip(path) as entries:
        return _import_many(parts, _choose_format(path, entries, format), progress, tally)


def read_file(path: Path, format: str | None, user_id: str) -> Iterator[Parsed]:
    """Parse a file, a folder or a zip, as an import would; an archive yields nothing."""
    if format is not None and format not in _NAMES:
        raise Invalid(f"{format!r} is not a format", fix=f"choose one of {', '.join(_NAMES)}")
    if find_path_kind(path) == "folder":
        yield from _read_all_pieces(_choose_format(path, list_folder(path), format), user_id, Meter(None, 0))
        return
    with open_lines(path, None) as lines:
        if not is_zip(lines.head()):
            chosen = format or _recognise(lines.head(), path)
            _check_text(lines.head(), path.name, chosen)
            source = Source(path=path, user_id=user_id, modified_us=lines.modified_us)
            yield from () if chosen == ARCHIVE else _find_format(chosen).pieces(lines, source)
            return
    with open_zip(path) as entries:
        yield from _read_all_pieces(_choose_format(path, entries, format), user_id, Meter(None, 0))


def _import_lines(parts: Parts, path: Path, lines: Lines, format_name: str | None, *, tally: Tally) -> ImportReport:
    chosen = format_name or _recognise(lines.head(), path)
    if chosen == ARCHIVE:
        return load_archive(parts, path, lines, dry_run=tally.dry_run, uploaded=tally.uploaded)
    _check_text(lines.head(), path.name, chosen)
    source = Source(path=path, user_id=parts.user_id, modified_us=lines.modified_us)
    write_pieces(parts, tally.states.watch(_find_format(chosen).pieces(lines, source), source, chosen), tally)
    return tally.report(path, chosen)


def _find_format(name: str) -> Format:
    return next(known for known in FORMATS if known.name == name)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The files of a folder or zip to read, and their format."""

    path: Path
    known: Format
    entries: Sequence[Entry]


def _choose_format(path: Path, entries: Sequence[Entry], format_name: str | None) -> _Chosen:
    if format_name == ARCHIVE:
        raise Invalid(f"{path.name} is not an archive", why="an archive is one file", fix="give that file")
    known = _find_format(format_name or _recognise_among(entries, path))
    taken = [entry for entry in entries if entry.link or known.takes(entry.name)]
    if all(entry.link for entry in taken):
        why = "it contains only links, and links are not followed" if taken else ""
        what = f"{path.name} contains no file of the format {known.name}"
        raise Invalid(what, why=why, fix="name another format, or a file")
    return _Chosen(path, known, taken)


def _import_many(parts: Parts, chosen: _Chosen, progress: Progress | None, tally: Tally) -> ImportReport:
    meter = Meter(progress, sum(entry.size_bytes for entry in chosen.entries))
    write_pieces(parts, _read_all_pieces(chosen, parts.user_id, meter, tally.states), tally)
    return tally.report(chosen.path, chosen.known.name)


def _read_all_pieces(chosen: _Chosen, user_id: str, meter: Meter, states: FileStates | None = None) -> Iterator[Parsed]:
    """Parse file after file; skip an unreadable file like any malformed item."""
    for entry in chosen.entries:
        name = make_showable(entry.name)
        try:
            with entry.open(meter) as lines:
                _check_text(lines.head(), name, chosen.known.name)
                source = Source(path=entry.path, user_id=user_id, modified_us=lines.modified_us)
                pieces = chosen.known.pieces(lines, source)
                for piece in pieces if states is None else states.watch(pieces, source, chosen.known.name):
                    located = isinstance(piece, Piece | Problem)
                    yield replace(piece, place=f"{name}, {piece.place}") if located else piece
        except (Corrupt, Invalid, NotFound, Unavailable) as error:
            yield Problem(place=name, what=error.why or error.what)


def _check_text(head: bytes, name: str, format_name: str) -> None:
    """Raise `Invalid` for a file that is no UTF-8 text, such as a picture, except a database that its format reads."""
    if format_name == OpenMemoryFormat.name and head.startswith(SQLITE_HEAD):
        return
    if b"\x00" in head[:_TEXT_BYTES]:
        raise Invalid(
            f"{name} is not UTF-8 text",
            why="it is UTF-16, not UTF-8"
            if head.startswith(_WIDE)
            else "it contains zero bytes, as databases and pictures do",
            fix="save it as UTF-8 text; a backup of a database is read by `credenda restore`",
        )


def _has_archive_header(line: bytes) -> bool:
    """Return whether a first line is the header of an archive, also with one letter damaged: its import tells that."""
    named = line.startswith(b"{") and f'"{FORMAT}"'.encode() in line
    return named or (b'"schema":' in line and b'"tenant":' in line and b'"version":' in line)


def _recognise(head: bytes, path: Path) -> str:
    if _has_archive_header(head.partition(b"\n")[0]):
        return ARCHIVE
    unpacked = path.with_suffix("") if path.suffix.casefold() == ".gz" else path
    for known in FORMATS:
        if known.recognises(head.removeprefix(_BOM), unpacked):
            return known.name
    raise Invalid(
        f"cannot detect the format of {path.name}",
        why="it is UTF-16, not UTF-8" if head.startswith(_WIDE) else "neither its content nor its suffix is known",
        fix=f"save it as UTF-8 text, or name the format: {', '.join(_NAMES)}",
    )


def _recognise_among(entries: Sequence[Entry], path: Path) -> str:
    """Detect the format of a folder or zip: the first of `FORMATS` that a file in it has."""
    best = len(FORMATS)
    trouble: CredendaError | None = None
    for entry in entries[:_LOOKED_AT]:
        candidates = [place for place, known in enumerate(FORMATS[:best]) if known.takes(entry.name)]
        if entry.link or not candidates:
            continue
        try:
            with entry.open(Meter()) as lines:
                head = lines.head().removeprefix(_BOM)
        except (Corrupt, Invalid, NotFound, Unavailable) as error:
            trouble = error
            continue
        best = next((place for place in candidates if FORMATS[place].recognises(head, entry.path)), best)
    if best < len(FORMATS):
        return FORMATS[best].name
    if trouble is not None:
        raise trouble
    raise Invalid(
        f"cannot detect the format of {path.name}",
        why="no file in it has a known format",
        fix=f"name the format: {', '.join(_NAMES)}",
    )
