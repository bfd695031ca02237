"""Store imported messages in batches, each message idempotent by its own key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Final, cast

from credenda.errors import Conflict, Invalid, LimitExceeded, Unavailable
from credenda.model.event import UPLOADED, Receipt
from credenda.model.report import ImportReport
from credenda.portability.file_state import FileStates, end_lost_memories
from credenda.portability.importers.format import Boundary, Omitted, Parsed, Piece, Problem
from credenda.portability.importers.placeholders import remove_placeholders, remove_placeholders_in_fields
from credenda.private import cut_tagged
from credenda.runtime import Parts
from credenda.storage.store import EventFilter, JobFilter, JobStatus, Writer
from credenda.text.normalize import normalise_text
from credenda.write.intake.validate import Accepted, Submission, accept
from credenda.write.journal import Compared, commit_compared, file_submission
from credenda.write.same_utterance import HeardMessages

__all__ = ["Tally", "write_pieces"]

GROUP_TURNS: Final = 64
"""Messages per commit: they share one fsync, and hold the write lock for about ten milliseconds."""
GROUP_CHARACTERS: Final = 1 << 16
PROBLEMS_MAX: Final = 100
"""The number of problems to list; the rest are counted."""
PATIENCE_STEPS: Final = 200
_STEP_SECONDS: Final = 0.05
_WAITING: Final = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})


@dataclass(slots=True)
class Tally:
    """The running counts and problems of an import; of a dry run, what they would be."""

    dry_run: bool = False
    uploaded: bool = False
    """Whether a server received the file."""
    conversations: int = 0
    turns: int = 0
    skipped: int = 0
    ended: int = 0
    states: FileStates = field(default_factory=FileStates)
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
        match piece:
            case Problem():
                tally.trouble(piece.place, piece.what)
            case Boundary():
                tally.conversations += 1
            case Omitted():
                tally.omit(piece)
            case Piece():
                waiting = _accept_piece(parts, piece, tally)
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


def _accept_piece(parts: Parts, piece: Piece, tally: Tally) -> _Waiting | None:
    settings = parts.settings
    submission = _remove_placeholders(piece.submission)
    if submission is None:
        tally.trouble(piece.place, "it contains only the placeholder of deleted text")
        return None
    try:
        accepted = accept(submission, policy=settings.secrets_policy, zone=settings.zone, now_us=parts.clock.now_us())
    except (Invalid, LimitExceeded) as error:
        tally.trouble(piece.place, error.what)
        return None
    for event in accepted.events:
        tally.states.add_text(event.text)
    if tally.uploaded:
        marked = tuple(replace(event, flags=(*event.flags, UPLOADED)) for event in accepted.events)
        accepted = replace(accepted, events=marked)
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

    try:
        write = _try_group if tally.dry_run else _commit_and_wait
        receipts = write(parts, [waiting.accepted for waiting in group])
    except Unavailable as error:
        raise Unavailable(
            f"the import stopped after {tally.turns + tally.skipped} turns",
            why=f"{error.what}, {error.why}" if error.why else error.what,
            fix="let `credenda worker` or `settle` catch up, then repeat the import: it continues where it stopped",
            filed=str(tally.turns),
        ) from error
    for waiting, receipt in zip(group, receipts, strict=True):
        _count(tally, waiting.piece, receipt)
    if not tally.dry_run:
        parts.jobs_ready.set()


def _write_turns(writer: Writer, compared: Sequence[Compared]) -> list[Receipt | None]:
    return [_write_turn(writer, one) for one in compared]


def _write_turn(writer: Writer, compared: Compared) -> Receipt | None:
    """Store one message; None if its key was used with other text, in which case nothing is written."""
    try:
        return file_submission(writer, compared)
    except Conflict:
        return None


def _count(tally: Tally, piece: Piece, receipt: Receipt | None) -> None:
    if receipt is None and not piece.by_content:
        tally.trouble(piece.place, "imported before with other text or another time; the first stays")
    elif receipt is None or receipt.cached:
        tally.skipped += 1
    else:
        tally.turns += bool(receipt.event_ids)
        for refused in receipt.refused:
            tally.trouble(piece.place, refused)


def _commit_and_wait(parts: Parts, submissions: Sequence[Accepted]) -> list[Receipt | None]:
    """Commit; when the queue is full, wait for the workers as long as they make progress."""
    while True:
        oldest = _find_oldest(parts)
        try:
            with parts.active_calls:
                return commit_compared(parts.store, parts.user_id, submissions, _write_turns, extractor=parts.extractor)
        except Unavailable:
            if oldest is None or not _has_progress(parts, oldest):
                raise


class _Tried(Exception):  # noqa: N818 - no error: it takes a unit back once it is known what it would store
    """Ends a unit of a dry run."""


def _try_group(parts: Parts, submissions: Sequence[Accepted]) -> list[Receipt | None]:
    """Return the receipts that a commit would give, and store nothing."""
    receipts: list[Receipt | None] = []

    def take_back(writer: Writer, compared: Sequence[Compared]) -> None:
        receipts[:] = _write_turns(writer, compared)
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
