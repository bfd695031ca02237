"""Import foreign files into a memory: detect the format, and store the content."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Final, cast

from credenda.current_call import read_zone
from credenda.errors import Conflict, Corrupt, CredendaError, Invalid, LimitExceeded, NotFound, Unavailable
from credenda.model.event import UPLOADED, Receipt
from credenda.model.memory import HELD
from credenda.model.report import ImportReport
from credenda.paths import find_path_kind
from credenda.portability.archive import FORMAT, load_archive
from credenda.portability.foreign_write import FileStates, ForeignIds, ForeignWriter, end_lost_memories, find_slot
from credenda.portability.importers import (
    agent_transcripts,
    chats,
    memory_databases,
    memory_files,
    memory_stores,
    messages,
    notes,
)
from credenda.portability.importers.format import (
    Boundary,
    Deletion,
    Format,
    Omitted,
    Parsed,
    Piece,
    Problem,
    Source,
    remove_placeholders,
    remove_placeholders_in_fields,
)
from credenda.portability.importers.json_checks import make_showable
from credenda.portability.sources import Entry, Lines, Meter, Progress, is_zip, list_folder, open_lines, open_zip
from credenda.private import cut_tagged
from credenda.runtime import Parts
from credenda.storage.store import EventFilter, JobFilter, JobStatus, MemoryFilter, Writer
from credenda.text.normalize import normalise_name, normalise_text
from credenda.write.forget.tombstones import put_deleted_texts
from credenda.write.intake.validate import Accepted, Submission, accept
from credenda.write.journal import Compared, commit_compared, file_submission
from credenda.write.messages import HeardMessages

# Store imported messages in batches, each message idempotent by its own key.


GROUP_TURNS: Final = 64
"""Messages per commit: they share one fsync, and hold the write lock for about ten milliseconds."""
GROUP_CHARACTERS: Final = 1 << 16
PROBLEMS_MAX: Final = 100
"""The number of problems to list; the rest are counted."""
_PERSONS_SHOWN: Final = 10
_PERSONS_OFFERED: Final = 3
PATIENCE_STEPS: Final = 200
_STEP_SECONDS: Final = 0.05
_DELETED_THERE: Final = "deleted memories"
_WAITING: Final = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})


@dataclass(slots=True)
class Tally:
    """The running counts and problems of an import; of a dry run, what they would be."""

    dry_run: bool = False
    uploaded: bool = False
    """Whether a server received the file."""
    me: str = ""
    """The normal form of the name that the file has for the user."""
    conversations: int = 0
    turns: int = 0
    skipped: int = 0
    ended: int = 0
    states: FileStates = field(default_factory=FileStates)
    known: ForeignIds = field(default_factory=dict[str, str])
    deleted: set[str] = field(default_factory=set[str])
    """Normal forms of the words that were deleted in the other memory."""
    _left_out: Counter[str] = field(default_factory=Counter[str])
    _problems: list[str] = field(default_factory=list[str])
    _untold: int = 0

    def trouble(self, place: str, what: str) -> None:
        """Record a problem without private text, up to a maximum number."""
        if len(self._problems) < PROBLEMS_MAX:
            self._problems.append(f"{cut_tagged(place)}: {cut_tagged(what)}")
        else:
            self._untold += 1

    def omit(self, omitted: Omitted) -> None:
        """Count items that were left out on purpose."""
        self._left_out[omitted.what] += omitted.count

    def report(self, path: Path, format_name: str) -> ImportReport:
        """Return the report: how much was imported, already present, or skipped as malformed."""
        more = (f"and {self._untold} more problems",) if self._untold else ()
        return ImportReport(
            path=str(path),
            format=format_name,
            conversations=self.conversations,
            turns=self.turns,
            skipped=self.skipped,
            ended=self.ended,
            passed_over=len(self._problems) + self._untold,
            left_out=dict(sorted(self._left_out.items())),
            problems=(*self._problems, *more),
            dry_run=self.dry_run,
        )


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A checked message that waits for its commit."""

    piece: Piece
    accepted: Accepted


def write_pieces(parts: Parts, pieces: Iterable[Parsed], tally: Tally) -> None:
    """Store everything that a format yields; skip messages that are stored already, so that an import can be continued.

    Raises `Unavailable` when the store cannot be written, or when the queue is full and not processed: everything
    stored until then stays, and the same import continues from there.
    """
    group: list[_Waiting] = []
    held = 0
    heard = _Heard(parts)
    for piece in pieces:
        if not isinstance(piece, Piece):
            _note(parts, piece, tally)
            continue
        waiting = _accept_piece(parts, _give_to_user(piece, tally.me), tally)
        if waiting is not None and heard.has(waiting):
            tally.skipped += 1
        elif waiting is not None:
            group.append(waiting)
            held += sum(len(event.text) for event in waiting.accepted.events)
        if len(group) >= GROUP_TURNS or held >= GROUP_CHARACTERS:
            _write_group(parts, group, tally)
            group, held = [], 0
    _write_group(parts, group, tally)
    if not (tally.dry_run or tally.uploaded):
        tally.ended = end_lost_memories(parts, tally.states)


def _note(parts: Parts, piece: Problem | Boundary | Omitted | Deletion, tally: Tally) -> None:
    match piece:
        case Problem():
            tally.trouble(piece.place, piece.what)
        case Boundary():
            tally.conversations += 1
        case Omitted():
            tally.omit(piece)
        case Deletion():
            _take_over_deletion(parts, piece.text, tally)


def _take_over_deletion(parts: Parts, text: str, tally: Tally) -> None:
    """Let words that were deleted in the other memory not come back, unless they are held here."""
    form = normalise_text(text)
    if not form or form in tally.deleted:
        return

    def put(writer: Writer) -> None:
        if not writer.find(MemoryFilter(same_text_as=text, statuses=HELD, limit=1)):
            put_deleted_texts(writer, [text], parts.clock.now_us())

    tally.deleted.add(form)
    if not tally.dry_run:
        parts.store.commit(parts.user_id, put)


@dataclass(slots=True)
class _Heard:
    """What hooks have stored of the sessions whose transcripts are imported; read once, and only if it is asked for."""

    _parts: Parts
    _messages: HeardMessages | None = None

    def has(self, waiting: _Waiting) -> bool:
        events = waiting.accepted.events
        if not events or not waiting.piece.submission.agent:
            return False
        if self._messages is None:
            with self._parts.store.reader(self._parts.user_id) as reader:
                self._messages = HeardMessages(reader.find_events(EventFilter(worded=True)))
        return all(map(self._messages.has, events))


def _list_messages(piece: Piece) -> Sequence[Mapping[str, object]]:
    return cast("Sequence[Mapping[str, object]]", piece.submission.content)


def _give_to_user(piece: Piece, me: str) -> Piece:
    """Return a piece in which the person of this name is the user."""
    messages = _list_messages(piece)
    if not me or all(normalise_name(str(one.get("name", ""))) != me for one in messages):
        return piece
    content = [
        {**one, "role": "user", "name": ""} if normalise_name(str(one.get("name", ""))) == me else one
        for one in messages
    ]
    return replace(piece, submission=piece.submission._replace(content=content))


def _require_user(parts: Parts, path: Path, known: Format, me: str | None) -> None:
    """Raise `Invalid` for chats of persons of whom none is the user: whose words they are is settled once.

    A name that is "" says that the user is none of them.
    """
    if me == "" or not known.of_persons or find_path_kind(path) == "other":  # a pipe is read once
        return
    wanted, names = normalise_name(me or ""), Counter[str]()
    for piece in read_file(path, known.name, parts.user_id):
        for message in _list_messages(piece) if isinstance(piece, Piece) else ():
            name = str(message.get("name", ""))
            if normalise_name(name) == wanted:
                return  # without a name it is the user
            names[name] += 1
    if names:
        listed = [make_showable(cut_tagged(name)) for name, _ in names.most_common(_PERSONS_SHOWN)]
        options = " or ".join(f'--me "{name}"' for name in listed[:_PERSONS_OFFERED])
        raise Invalid(
            f"nobody in this chat is called {me or parts.user_id}",
            why=f"its messages are from {', '.join(listed)}",
            fix=f"say which of them you are: {options} (me= in Python, a field on the page); "
            '--me "" imports what others wrote',
        )


def _accept_piece(parts: Parts, piece: Piece, tally: Tally) -> _Waiting | None:
    settings = parts.settings
    said = _list_messages(piece)
    if bool(tally.deleted) and any(normalise_text(str(one["content"])) in tally.deleted for one in said):
        tally.omit(Omitted(what=_DELETED_THERE))
        return None
    submission = _remove_placeholders(piece.submission)
    if submission is None:
        tally.trouble(piece.place, "it contains only the placeholder of deleted text")
        return None
    try:
        zone = read_zone(settings.zone)
        accepted = accept(submission, policy=settings.secrets_policy, zone=zone, now_us=parts.clock.now_us())
    except (Invalid, LimitExceeded) as error:
        tally.trouble(piece.place, error.what)
        return None
    for event in accepted.events:
        tally.states.add_text(event.text)
    if tally.uploaded:
        marked = tuple(replace(event, flags=(*event.flags, UPLOADED)) for event in accepted.events)
        accepted = replace(accepted, events=marked)
    if piece.held is not None and accepted.events:
        piece = replace(piece, held=find_slot(piece.held, accepted.events[0], parts.extractor))
    return _Waiting(piece, accepted)


def _remove_placeholders(submission: Submission) -> Submission | None:
    """Return a submission without the placeholders of deleted text; None if nothing else remains."""
    content: list[Mapping[str, object]] = []
    for message in cast("Sequence[Mapping[str, object]]", submission.content):
        said = message["content"]
        left = remove_placeholders(said) if isinstance(said, str) else said
        if left == said or normalise_text(str(left)):
            content.append({**message, "content": left})
    metadata = remove_placeholders_in_fields(submission.metadata or {})
    return submission._replace(content=content, metadata=metadata or None) if content else None


def _write_group(parts: Parts, group: list[_Waiting], tally: Tally) -> None:
    if not group:
        return
    now_us = parts.clock.now_us()

    def file(writer: Writer, compared: Sequence[Compared]) -> list[Receipt | None]:
        held = ForeignWriter(writer, tally.known, now_us)
        return [_write_turn(held, one, waiting.piece) for one, waiting in zip(compared, group, strict=True)]

    try:
        write = _try_group if tally.dry_run else _commit_and_wait
        receipts = write(parts, [waiting.accepted for waiting in group], file)
    except Unavailable as error:
        raise Unavailable(
            f"the import stopped after {tally.turns + tally.skipped} turns",
            why=f"{error.what}, {error.why}" if error.why else error.what,
            fix="let `credenda worker` or `settle` catch up, then repeat the import: it continues where it stopped",
            filed=str(tally.turns),
        ) from error
    for waiting, receipt in zip(group, receipts, strict=True):
        if receipt is None and not waiting.piece.by_content:
            tally.trouble(waiting.piece.place, "imported before with other text, time or speaker; the first stays")
        elif receipt is None or receipt.cached:
            tally.skipped += 1
        else:
            tally.turns += bool(receipt.event_ids)
            for refused in receipt.refused:
                tally.trouble(waiting.piece.place, refused)
    if not tally.dry_run:
        parts.jobs_ready.set()


_Filer = Callable[[Writer, Sequence[Compared]], list[Receipt | None]]


def _write_turn(held: ForeignWriter, compared: Compared, piece: Piece) -> Receipt | None:
    """Store one message; None if its key was used with other text, in which case nothing is written."""
    if piece.held is not None:
        return held.file(compared, piece.held)
    try:
        return file_submission(held.writer, compared)
    except Conflict:
        return None


def _commit_and_wait(parts: Parts, submissions: Sequence[Accepted], file: _Filer) -> list[Receipt | None]:
    """Commit; when the queue is full, wait for the workers as long as they make progress."""
    while True:
        oldest = _find_oldest(parts)
        try:
            with parts.active_calls:
                return commit_compared(parts.store, parts.user_id, submissions, file, extractor=parts.extractor)
        except Unavailable:
            if oldest is None or not _has_progress(parts, oldest):
                raise


class _Tried(Exception):  # noqa: N818 - no error: it takes a unit back once it is known what it would store
    """Ends a unit of a dry run."""


def _try_group(parts: Parts, submissions: Sequence[Accepted], file: _Filer) -> list[Receipt | None]:
    """Return the receipts that a commit would give, and store nothing."""
    receipts: list[Receipt | None] = []

    def take_back(writer: Writer, compared: Sequence[Compared]) -> None:
        receipts[:] = file(writer, compared)
        raise _Tried

    with suppress(_Tried):
        commit_compared(parts.store, parts.user_id, submissions, take_back, extractor=parts.extractor)
    return receipts


def _has_progress(parts: Parts, oldest: str) -> bool:
    pause = Event()
    for _ in range(PATIENCE_STEPS):
        pause.wait(_STEP_SECONDS)
        if _find_oldest(parts) != oldest:
            return True
    return False


def _find_oldest(parts: Parts) -> str | None:
    with parts.store.reader(parts.user_id) as reader:
        found = reader.jobs(JobFilter(statuses=_WAITING, limit=1))
    return found[0].id if found else None


ARCHIVE: Final = "credenda"
FORMATS: Final[tuple[Format, ...]] = (
    agent_transcripts.CodexFormat(),
    agent_transcripts.CopilotFormat(),
    agent_transcripts.GeminiCliFormat(),
    agent_transcripts.ClaudeCodeFormat(),
    chats.ChatGPTFormat(),
    chats.ClaudeFormat(),
    memory_files.McpMemoryFormat(),
    chats.TelegramFormat(),
    chats.OpenWebUIFormat(),
    agent_transcripts.SillyTavernFormat(),
    chats.GeminiTakeoutFormat(),
    memory_files.PamFormat(),
    memory_stores.LettaFormat(),
    memory_stores.HindsightFormat(),
    memory_databases.OpenMemoryFormat(),
    memory_databases.RecallFormat(),
    memory_databases.EngramFormat(),
    memory_files.SuzentFormat(),
    memory_stores.ZepFormat(),
    memory_stores.CogneeFormat(),
    memory_stores.Mem0Format(),
    messages.ConversationFormat(),
    messages.MessagesFormat(),
    chats.WhatsAppFormat(),
    notes.HermesFormat(),
    notes.OpenClawFormat(),
    notes.MemoryFolderFormat(),
    memory_files.MemoryListFormat(),
    notes.ObsidianFormat(),
    notes.MarkdownFormat(),
    notes.TextFormat(),
)
"""Formats, the most specific first."""
_DATABASES: Final = frozenset(
    {memory_databases.OpenMemoryFormat.name, memory_databases.RecallFormat.name, memory_databases.EngramFormat.name}
)
_NAMES: Final = (ARCHIVE, *(known.name for known in FORMATS))
_BOM: Final = b"\xef\xbb\xbf"
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")
_TEXT_BYTES: Final = 1 << 13
"""Where a zero byte shows that a file is no text; one further on may be damage."""
_BINARY: Final = (
    *_WIDE,
    b"%PDF",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"ID3",
    b"OggS",
    b"RIFF",
    b"7z\xbc\xaf",
    b"Rar!",
)
"""How files of other kinds begin whose beginning may have no zero byte."""
_SIDE_FILES: Final = frozenset(
    {"user.json", "user_settings.json", "message_feedback.json", "shared_conversations.json", "model_comparisons.json"}
    | {"group_chats.json", "export_manifest.json", "users.json", "projects.json"}
)
"""Files beside the conversations in exports of ChatGPT and Claude."""
_UNKNOWN: Final = "neither its content nor its suffix is known"
_NAME_FORMAT: Final = "name its format; `credenda import --help` lists them"
_LOOKED_AT: Final = 2_000
"""The maximum number of files opened to detect the format of a folder or zip."""


def import_file(
    parts: Parts,
    path: Path,
    format: str | None = None,
    *,
    me: str | None = None,
    dry_run: bool = False,
    uploaded: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a file, a folder or a zip of any size: an archive, conversations, other memories, documents.

    The format is detected by the beginning of a file, else by its suffix. Malformed items are skipped and named in the
    report. A repeated import stores nothing twice, and an interrupted one continues where it stopped (an archive is
    imported completely or not at all). `dry_run` reads everything and stores nothing. `uploaded` says that a server
    received the file: its standing instructions wait until the user confirms them. `me` is the name that the file has
    for the user, "" if the user is nobody in it; by default the user's own name. Raises `Invalid` for an unknown or
    undetectable format, `NotFound` or `Unavailable` for a file that cannot be opened, `Corrupt` for a damaged one,
    `LimitExceeded` for a decompression bomb.
    """
    tally = Tally(dry_run=dry_run, uploaded=uploaded, me=normalise_name(me or ""))
    with _open_source(path, format, parts.user_id, progress=progress, tally=tally) as found:
        if found.archive is not None:
            return load_archive(parts, path, found.archive, dry_run=dry_run, uploaded=uploaded)
        _require_user(parts, path, found.known, me)
        write_pieces(parts, found.pieces, tally)
        return tally.report(path, found.known.name)


def read_file(path: Path, format: str | None, user_id: str) -> Iterator[Parsed]:
    """Parse a file, a folder or a zip, as an import would; an archive yields nothing."""
    with _open_source(path, format, user_id) as found:
        yield from found.pieces


@dataclass(frozen=True, slots=True)
class _Found:
    """What is read of a file, a folder or a zip, and its format; an archive is read as a whole."""

    known: Format
    pieces: Iterable[Parsed] = ()
    archive: Lines | None = None


@contextmanager
def _open_source(
    path: Path, format: str | None, user_id: str, *, progress: Progress | None = None, tally: Tally | None = None
) -> Generator[_Found]:
    if format is not None and format not in _NAMES:
        raise Invalid(f"{format!r} is not a format", fix=f"choose one of {', '.join(_NAMES)}")
    tally = tally or Tally()

    def read_entries(entries: Sequence[Entry]) -> _Found:
        known, taken = _choose_format(path, entries, format)
        meter = Meter(progress, sum(entry.size_bytes for entry in taken))
        return _Found(known, _read_all_pieces(known, taken, user_id, meter=meter, states=tally.states))

    if find_path_kind(path) == "folder":
        yield read_entries(list_folder(path))
        return
    with open_lines(path, progress) as lines:
        _require_content(lines.head(), path)
        if not is_zip(lines.head()):
            chosen = format or _recognise(lines.head(), path)
            if chosen == ARCHIVE:
                yield _Found(FORMATS[0], archive=lines)
                return
            _check_text(lines.head(), path.name, chosen)
            known = _find_format(chosen)
            source = Source(path=path, user_id=user_id, modified_us=lines.modified_us, uploaded=tally.uploaded)
            yield _Found(known, tally.states.watch(known.pieces(lines, source), source, chosen))
            return
    with open_zip(path) as entries:
        yield read_entries(entries)


def _find_format(name: str) -> Format:
    return next(known for known in FORMATS if known.name == name)


def _choose_format(path: Path, entries: Sequence[Entry], format_name: str | None) -> tuple[Format, Sequence[Entry]]:
    """Return the format of the files of a folder or zip, and those to read."""
    if format_name == ARCHIVE:
        raise Invalid(f"{path.name} is not an archive", why="an archive is one file", fix="give that file")
    known = _find_format(format_name or _recognise_among(entries, path))
    taken = [entry for entry in entries if entry.link or known.takes(entry.name)]
    if isinstance(known, memory_files.SuzentFormat):
        taken.sort(
            key=lambda one: known.is_day(one.place or memory_files.locate(one.path))
        )  # a line that repeats an entry is no news, not the reverse
    if all(entry.link for entry in taken):
        why = "it contains only links, and links are not followed" if taken else ""
        what = f"{path.name} contains no file of the format {known.name}"
        raise Invalid(what, why=why, fix="name another format, or a file")
    return known, taken


def _read_all_pieces(
    known: Format, entries: Sequence[Entry], user_id: str, *, meter: Meter, states: FileStates
) -> Iterator[Parsed]:
    """Parse file after file; skip an unreadable file like any malformed item."""
    for entry in entries:
        name = make_showable(entry.name)
        try:
            with entry.open(meter) as lines:
                _check_text(lines.head(), name, known.name)
                source = Source(path=entry.path, user_id=user_id, modified_us=lines.modified_us, place=entry.place)
                for piece in states.watch(known.pieces(lines, source), source, known.name):
                    located = isinstance(piece, Piece | Problem)
                    yield replace(piece, place=f"{name}, {piece.place}") if located else piece
        except (Corrupt, Invalid, NotFound, Unavailable) as error:
            yield Problem(place=name, what=error.why or error.what)


def _check_text(head: bytes, name: str, format_name: str) -> None:
    """Raise `Invalid` for a file that is no UTF-8 text, such as a picture.

    That is no matter in a database that its format reads, or in a graph that a crash filled up with zero bytes.
    """
    if format_name in _DATABASES and head.startswith(memory_databases.SQLITE_HEAD):
        return
    if format_name == memory_files.McpMemoryFormat.name and not head.startswith(_WIDE):
        return
    if b"\x00" in head[:_TEXT_BYTES]:
        why, fix = _explain_binary(head)
        raise Invalid(f"{name} is not UTF-8 text", why=why, fix=fix)


def _explain_binary(head: bytes) -> tuple[str, str]:
    """Return why a file is no UTF-8 text, and the advice."""
    if head.startswith(_WIDE):
        return "it is UTF-16, not UTF-8", "save it as UTF-8 text"
    why = "it is binary, as pictures, PDF files and databases are"
    return why, "there is no text to import; a backup of a database is read by `credenda restore`"


def _recognise(head: bytes, path: Path) -> str:
    # The header of an archive, also with one letter damaged: its import tells that.
    line = head.partition(b"\n")[0]
    named = line.startswith(b"{") and f'"{FORMAT}"'.encode() in line
    if named or (b'"schema":' in line and b'"tenant":' in line and b'"version":' in line):
        return ARCHIVE
    unpacked = path.with_suffix("") if path.suffix.casefold() == ".gz" else path
    for known in FORMATS:
        if known.recognises(head.removeprefix(_BOM), unpacked):
            return known.name
    if broken := _find_json_fault(head, unpacked.suffix.casefold()):
        raise Invalid(f"{path.name} cannot be read", why=broken, fix="check the file, or export it again")
    why, fix = _explain_unknown(head, unpacked)
    raise Invalid(f"cannot detect the format of {path.name}", why=why, fix=fix)


def _require_content(head: bytes, path: Path) -> None:
    """Raise `Invalid` for an empty file, whatever its format is."""
    if len(head) < io.DEFAULT_BUFFER_SIZE and not head.removeprefix(_BOM).strip():
        raise Invalid(f"{path.name} cannot be read", why="it is empty", fix="check the file, or export it again")


def _find_json_fault(head: bytes, suffix: str) -> str:
    """Return the fault of a file that should be JSON; "" if it is sound, or another kind of file."""
    if suffix != ".json" or head.startswith(_WIDE):
        return ""
    text = head.removeprefix(_BOM).decode("utf-8", "replace")
    try:
        json.JSONDecoder().raw_decode(text, len(text) - len(text.lstrip()))
    except json.JSONDecodeError as error:
        cut_off = len(head) >= io.DEFAULT_BUFFER_SIZE  # only the head of a long file is here
        return "" if cut_off else f"it is no JSON: line {error.lineno}, column {error.colno}"
    except RecursionError:
        return "its JSON is nested too deeply"
    return ""


def _explain_unknown(head: bytes, path: Path) -> tuple[str, str]:
    """Return why a file has no known format, and the advice."""
    kept = head.removeprefix(_BOM).strip()
    if b"\x00" in head[:_TEXT_BYTES] or head.startswith(_BINARY):
        return _explain_binary(head)
    if kept in (b"[]", b"{}"):
        return "its JSON is empty: it has no conversation and no memory", "check the file, or export it again"
    if path.name.casefold() in _SIDE_FILES:
        why = "it looks like a side file of an export of ChatGPT or Claude, without conversations"
        return why, "import the zip of the export, or the conversations.json in it"
    if path.suffix.casefold() in {".html", ".htm"}:
        return _UNKNOWN, "import the zip of the export, or the JSON in it"
    if kept.startswith((b"{", b"[")):
        return "it is JSON of no known export", _NAME_FORMAT
    return _UNKNOWN, f"save it as UTF-8 text with the suffix .txt or .md, or {_NAME_FORMAT}"


def _is_of(known: Format, head: bytes, entry: Entry) -> bool:
    if isinstance(known, memory_files.SuzentFormat) and entry.place is not None:
        return known.recognises_at(head, entry.place)
    return known.recognises(head, entry.path)


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
        best = next((place for place in candidates if _is_of(FORMATS[place], head, entry)), best)
    if best < len(FORMATS):
        return FORMATS[best].name
    if trouble is not None:
        raise trouble
    raise Invalid(
        f"cannot detect the format of {path.name}",
        why="no file in it has a known format" if entries else "it has no file",
        fix=_NAME_FORMAT,
    )
