"""Undo one change, or all changes of a session, a source or a span of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, cast

from credenda.clock import parse_time, to_datetime
from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.event import Source
from credenda.model.memory import Memory, Status
from credenda.model.report import UndoneMemory, UndoReport
from credenda.runtime import Parts
from credenda.services.lookup import resolve_id
from credenda.storage.plan import commit_decided, return_decided
from credenda.storage.store import ChangeFilter, EventFilter, MemoryFilter, Reader, Writer
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.validation import check_member, check_name, check_text
from credenda.write.apply import Application, apply
from credenda.write.corrections.undo import LogView, UndoPlan, decide_undo

_SHARED: Final = frozenset({ChangeKind.CONTEST, ChangeKind.RESOLVE, ChangeKind.UNDO})
_NAMED: Final = 5
"""Maximum number of changes named in an error; the others are counted."""


Conditions = Mapping[str, datetime | str | None]


def undo_any(
    parts: Parts, change_id: str | None, conditions: Conditions, *, cascade: bool, dry_run: bool
) -> UndoReport:
    """Undo one change, or those that meet the conditions: session, source, since, until."""
    named = {name: value for name, value in conditions.items() if value is not None}
    if any(isinstance(value, str) and not value.strip() for value in named.values()):
        raise Invalid("a condition is empty", why="it would match everything", fix="leave it out, or pass a value")
    if (change_id is None) == (not named):
        raise Invalid(
            "no change was selected",
            why="undo takes either the id of a change or conditions",
            fix="copy an id from `why`, or pass a session, a source, since or until",
        )
    if change_id is not None:
        return _undo(parts, resolve_id(parts, change_id), cascade=cascade, dry_run=dry_run)
    return _undo_where(parts, conditions, cascade=cascade, dry_run=dry_run)


def _undo(parts: Parts, change_id: str, *, cascade: bool = False, dry_run: bool = False) -> UndoReport:
    """Undo a change by a new change that restores the state before it."""

    def work(reader: Reader) -> UndoPlan:
        number = parse_id_number(change_id, IdKind.CHANGE, reader.tenant.tag)
        found = reader.changes(ChangeFilter(after=number - 1, limit=1))
        if not found or found[0].id != change_id.strip():
            raise NotFound(f"there is no change {change_id}", fix="copy an id from `why` or `changes`")
        record = found[0]
        ledger = _read_log_view(reader, [record])
        if record.kind is ChangeKind.DELETE or _is_deleted(record, ledger):
            raise Conflict(
                f"{change_id} cannot be undone",
                why="the words were deleted for good",
                fix="add it again with remember(…, allow_deleted=True)",
            )
        if not ledger.in_force(record):
            raise Conflict(
                f"{change_id} is undone already",
                why="a later change took it back",
                fix="undo that one to apply it again",
            )
        return decide_undo([record.id], ledger, cascade=cascade)

    return _run(parts, work, dry_run=dry_run)


def _undo_where(parts: Parts, conditions: Conditions, *, cascade: bool, dry_run: bool) -> UndoReport:
    """Undo every change whose cause and time meet all conditions."""
    since, until = conditions.get("since"), conditions.get("until")
    session, source = conditions.get("session"), conditions.get("source")
    zone = parts.settings.zone
    since_us = None if since is None else parse_time(since, zone)
    until_us = None if until is None else parse_time(until, zone)
    if since_us is not None and until_us is not None and until_us <= since_us:
        raise Invalid("until must come after since", why="no time lies between them", fix="swap them")
    named = check_name(session, "session")
    said = None if source is None else check_member(Source, check_text(source, "source"), "source").value

    def work(reader: Reader) -> UndoPlan:
        causes = None if named is None and said is None else _find_events(reader, named, said)
        wanted = [
            record
            for record in reader.changes(ChangeFilter())
            if record.kind is not ChangeKind.UNDO
            and (causes is None or record.cause in causes)
            and (since_us is None or record.at_us >= since_us)
            and (until_us is None or record.at_us < until_us)
        ]
        return decide_undo([one.id for one in wanted], _read_log_view(reader, wanted), cascade=cascade)

    return _run(parts, work, dry_run=dry_run)


def _find_events(reader: Reader, session: str | None, source: str | None) -> set[str]:
    found = reader.find_events(EventFilter(session=session, source=source, redacted=True))
    return {event.id for event in found}


def _run(parts: Parts, work: Callable[[Reader], UndoPlan], *, dry_run: bool) -> UndoReport:
    if dry_run:
        with parts.store.reader(parts.user_id) as reader:
            return _report(work(reader), (), ran=False)

    def decide(writer: Writer) -> UndoReport:
        undoing = work(writer)
        _require_no_later_changes(undoing)
        application = Application(actor=Actor.USER, now_us=parts.clock.now_us(), embeds=parts.embedder is not None)
        applied = apply(writer, undoing.changes, application)
        return _report(undoing, applied.records, ran=True)

    with parts.active_calls:
        report = commit_decided(parts.store, parts.user_id, decide, return_decided)
    parts.jobs_ready.set()
    return report


def _require_no_later_changes(undoing: UndoPlan) -> None:
    """Raise `Conflict` if later changes depend on the ones to undo."""
    if not undoing.conflicts:
        return
    ids = [one.id for one in undoing.conflicts]
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    named = f"{', '.join(ids[:_NAMED])}{more}"
    raise Conflict(
        "later changes depend on this",
        why=f"{named} came after it",
        fix="undo those first, or all together with cascade; a dry run lists them",
        changes=named,
    )


def _report(undoing: UndoPlan, applied: Sequence[ChangeRecord], *, ran: bool) -> UndoReport:
    return UndoReport(
        ran=ran,
        undone=tuple(one.id for one in undoing.undone),
        conflicts=undoing.conflicts,
        lasting=tuple(one.id for one in undoing.lasting),
        memories=tuple(
            UndoneMemory(id=one.memory_id, before=_format_fields(one.before), after=_format_fields(one.after))
            for one in undoing.differences
        ),
        changes=tuple(applied),
    )


def _format_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Convert fields to the form of the log; times become datetimes."""
    return {
        name.removesuffix("_us"): to_datetime(value) if name.endswith("_us") and isinstance(value, int) else value
        for name, value in fields.items()
    }


def _is_deleted(record: ChangeRecord, ledger: LogView) -> bool:
    memory = ledger.memories.get(record.memory_id or "")
    return memory is not None and memory.status is Status.DELETED


def _read_log_view(reader: Reader, wanted: Sequence[ChangeRecord]) -> LogView:
    """Read the log entries and memories that are linked to some changes."""
    shared = reader.changes(ChangeFilter(kinds=_SHARED))
    memories: dict[str, Memory] = {}
    near: dict[str, Memory] = {}
    pairs: set[tuple[str, str]] = set()
    records = {one.id: one for one in (*shared, *wanted)}
    waiting = {name for record in (*wanted, *_find_contest_changes(wanted, shared)) for name in _name_memories(record)}
    while waiting:
        found = reader.memories(sorted(waiting))
        memories.update((one.id, one) for one in found)
        unknown = waiting - memories.keys()
        for memory in found:
            log = reader.changes(ChangeFilter(memory_ids=(memory.id,)))
            records.update((one.id, one) for one in log)
            waiting |= {name for record in log for name in _name_memories(record)}
            _read_pair(reader, memory, pairs, near)
        waiting |= {one.id for one in near.values() if one.superseded_by in memories or one.status is Status.ACTIVE}
        waiting -= memories.keys() | unknown
    return LogView(tuple(records.values()), memories, {one.id: one for one in reader.contests()})


def _read_pair(reader: Reader, memory: Memory, pairs: set[tuple[str, str]], near: dict[str, Memory]) -> None:
    """Read all memories with the entity and attribute of a memory."""
    if memory.entity and memory.attribute:
        pair = (normalise_name(memory.entity), normalise_attribute(memory.attribute))
        if pair not in pairs:
            pairs.add(pair)
            near.update((one.id, one) for one in reader.find(MemoryFilter(pair=pair)))


def _find_contest_changes(wanted: Iterable[ChangeRecord], shared: Sequence[ChangeRecord]) -> list[ChangeRecord]:
    """Return the log entries of the contests that some changes belong to."""
    moments = {one.at_us for one in wanted if one.kind in _SHARED}
    return [one for one in shared if one.at_us in moments]


def _name_memories(record: ChangeRecord) -> list[str]:
    found = [record.memory_id, record.after.get("superseded_by"), record.before.get("superseded_by")]
    listed = [one for name in ("members", "keep") for one in _to_list(record.after.get(name))]
    return [one for one in (*found, *listed) if isinstance(one, str)]


def _to_list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
