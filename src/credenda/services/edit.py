"""Edits of beliefs by the user: correct, forget, restore, pin, and resolve a contest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, cast

from credenda.clock import parse_time, to_datetime
from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import IdKind, parse_id_number
from credenda.manage.lifecycle import LADDER, get_next_layer
from credenda.model.change import (
    Actor,
    Add,
    Change,
    ChangeKind,
    ChangeRecord,
    Contest,
    ContestState,
    Forget,
    Pin,
    SetLayer,
)
from credenda.model.claim import Claim, Span
from credenda.model.event import Event, Source
from credenda.model.memory import Memory, Status
from credenda.model.query import StatusStep
from credenda.model.report import UndoneMemory, UndoReport
from credenda.runtime import Parts
from credenda.services.browse import get_current, get_expected, read_expectation, resolve_id, resolve_id_in
from credenda.storage.plan import commit_decided, return_decided
from credenda.storage.records import EMBED, take_turn
from credenda.storage.store import ChangeFilter, EventFilter, Job, MemoryFilter, Reader, Writer
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.validation import check_member, check_name, check_text
from credenda.write.apply import Application, apply
from credenda.write.correct import Wanted, decide_correction, decide_status, find_renamed
from credenda.write.forget.tombstones import is_deleted
from credenda.write.intake.validate import Submission, accept, require_label, screen_label
from credenda.write.reconcile.alternation import format_question
from credenda.write.reconcile.slots import CURRENT_STATUSES, display_value, get_slot
from credenda.write.reconcile_job import extract_turns, get_statement_context
from credenda.write.undo import LogView, UndoPlan, decide_undo


def read_slot(reader: Reader, memory: Memory) -> list[Memory]:
    """Return the memories with the entity and attribute of a memory."""
    if not memory.entity or not memory.attribute:
        return []
    return reader.find(MemoryFilter(pair=(normalise_name(memory.entity), normalise_attribute(memory.attribute))))


def commit_edit(parts: Parts, work: Callable[[Writer], Memory]) -> Memory:
    """Decide an edit on a view, file it in a short unit, and wake the worker; returns the memory as filed.

    `work` returns the memory and may run several times (`storage.plan`).
    """
    with parts.active_calls, take_turn(parts.store, parts.user_id):
        memory = commit_decided(
            parts.store, parts.user_id, work, lambda writer, memory: writer.memories([memory.id])[0]
        )
    parts.jobs_ready.set()
    return memory


def make_application(parts: Parts, cause: str | None = None, actor: Actor = Actor.USER) -> Application:
    """Return the actor, time and cause of changes that are applied now."""
    embeds = parts.embedder is not None
    return Application(actor=actor, now_us=parts.clock.now_us(), cause=cause, embeds=embeds)


# Correct a memory that was wrong.


def journal_correction(
    parts: Parts,
    writer: Writer,
    text: str,
    *,
    agent: str | None = None,
    session: str | None = None,
    source: Source = Source.HUMAN,
) -> Event:
    """Record the user's words about a memory as an event, as evidence of the change."""
    accepted = accept(
        Submission(content=text, user_id=parts.user_id, agent=agent, session=session, source=source.value),
        policy=parts.settings.secrets_policy,
        zone=parts.settings.zone,
        now_us=parts.clock.now_us(),
    )
    event = writer.events([writer.put(accepted.get_event())])[0]
    if parts.embedder is not None:
        number = parse_id_number(event.id, IdKind.EVENT, writer.tenant.tag)
        writer.put(Job(kind=EMBED, first=number, last=number))
    return event


def extract_correction(parts: Parts, reader: Reader, event: Event) -> tuple[Claim, ...]:
    """Extract the claims of a corrected text, which give the value of its slot."""
    number = parse_id_number(event.id, IdKind.EVENT, reader.tenant.tag)
    return tuple(one for turn in extract_turns(reader, number, number, parts.extractor) for one in turn.claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """The corrected content of a memory and its origin; `actor` is the user, through an interface or a page."""

    text: str | None = None
    value: str | None = None
    reason: str = ""
    agent: str | None = None
    session: str | None = None
    actor: Actor = Actor.USER


def correct(
    parts: Parts,
    memory_id: str,
    *,
    text: str | None = None,
    value: str | None = None,
    reason: str = "",
) -> Memory:
    """Replace a memory by its corrected content; the wrong memory leaves every as-of answer."""
    return put_right(parts, resolve_id(parts, memory_id), Correction(text=text, value=value, reason=reason))


def put_right(parts: Parts, memory_id: str, wanted: Correction) -> Memory:
    """Apply a correction."""
    policy = parts.settings.secrets_policy
    text = check_text(wanted.text, "text")
    value = require_label(check_text(wanted.value, "value"), "the value", policy)
    reason = screen_label(check_text(wanted.reason, "reason"), policy)
    source = Source.FILE if wanted.actor is Actor.FILE else Source.HUMAN
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        said = text.strip() or f"Correction: {value.strip()}".strip()
        event = journal_correction(parts, writer, said, agent=wanted.agent, session=wanted.session, source=source)
        claims = () if value.strip() else extract_correction(parts, writer, event)
        given = Wanted(
            text=event.text if text.strip() else None,
            value=value or None,
            claims=claims,
            renamed=_find_free(writer, find_renamed(memory, event.text, claims)),
        )
        changes = decide_correction(
            memory,
            given,
            reason=reason,
            occasion=get_statement_context(event, parts.clock.now_us()),
            span=Span(event.id, 0, len(event.text)),
        )
        check_not_deleted(writer, changes, said)
        run = make_application(parts, event.id, wanted.actor)
        applied = apply(writer, changes, run)
        corrected = writer.memories([next(iter(applied.ids.values()))])[0]
        _keep_contest(writer, memory, corrected, replace(run, cause=None))
        return get_current(writer, corrected.id)

    return commit_edit(parts, work)


def _find_free(reader: Reader, claim: Claim | None) -> Claim | None:
    """Return a claim unless another current memory is in its slot."""
    if claim is None:
        return None
    pair = (normalise_name(claim.entity or ""), normalise_attribute(claim.attribute or ""))
    return None if reader.find(MemoryFilter(pair=pair, statuses=CURRENT_STATUSES, limit=1)) else claim


def check_not_deleted(writer: Writer, changes: Sequence[Change], said: str) -> None:
    """Raise `Conflict` if a change would restore deleted content."""
    if any(is_deleted(writer, change.draft, said) for change in changes if isinstance(change, Add)):
        raise Conflict(
            "this was deleted",
            why="a tombstone covers its words or its slot and value",
            fix="to say it again on purpose, use remember(…, allow_deleted=True)",
        )


def _keep_contest(writer: Writer, wrong: Memory, right: Memory, run: Application) -> None:
    """Let the corrected memory replace the wrong one in an open contest."""
    slot = get_slot(right)
    for contest in writer.contests(state=ContestState.OPEN):
        if wrong.id in contest.memory_ids and slot is not None:
            ids = tuple(right.id if one == wrong.id else one for one in contest.memory_ids)
            values = tuple(display_value(memory) for memory in writer.memories(ids))
            reason = "one of the values was corrected"
            asked = format_question(slot, values)
            change = Contest(slot=slot, memory_ids=ids, values=values, question=asked, reason=reason)
            apply(writer, [change], run)


# Undo one change, or all changes of a session, a source or a span of time.


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
            # Read all memories with the entity and attribute of a memory.
            if memory.entity and memory.attribute:
                pair = (normalise_name(memory.entity), normalise_attribute(memory.attribute))
                if pair not in pairs:
                    pairs.add(pair)
                    near.update((one.id, one) for one in reader.find(MemoryFilter(pair=pair)))
        waiting |= {one.id for one in near.values() if one.superseded_by in memories or one.status is Status.ACTIVE}
        waiting -= memories.keys() | unknown
    return LogView(tuple(records.values()), memories, {one.id: one for one in reader.contests()})


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


# Set the status of a memory, and list its earlier statuses.


def set_status(parts: Parts, memory_id: str, status: str, reason: str) -> Memory:
    """Set the status of a memory and return the memory that now has its value."""
    wanted = check_member(Status, check_text(status, "status"), "status")
    why = screen_label(check_text(reason, "reason").strip(), parts.settings.secrets_policy) or "set by the user"
    memory_id = resolve_id(parts, memory_id)
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        now_us = parts.clock.now_us()
        changes = decide_status(memory, wanted, why, slot_rows=read_slot(writer, memory), now_us=now_us)
        embeds = parts.embedder is not None
        apply(writer, changes, Application(actor=Actor.USER, now_us=now_us, embeds=embeds))
        after = get_current(writer, memory_id)
        moved_on = wanted is Status.ACTIVE and after.superseded_by is not None
        return get_current(writer, after.superseded_by) if moved_on and after.superseded_by else after

    return commit_edit(parts, work)


def read_status_history(parts: Parts, memory_id: str) -> list[StatusStep]:
    """Return every status that a memory has had, oldest first."""
    with parts.store.reader(parts.user_id) as reader:
        memory_id = get_current(reader, resolve_id_in(reader, memory_id)).id
        records = reader.changes(ChangeFilter(memory_ids=(memory_id,)))
    steps: list[StatusStep] = []
    previous: Status | None = None
    for record in records:
        named = record.after.get("status")
        status = Status(str(named)) if named is not None else Status.ACTIVE if previous is None else previous
        if status is previous:
            continue
        steps.append(
            StatusStep(
                status=status,
                previous=previous,
                kind=record.kind,
                actor=record.actor,
                reason=record.reason,
                at_us=record.at_us,
                change_id=record.id,
            )
        )
        previous = status
    return steps


# Pin and unpin a memory.


_PINNABLE: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})


def pin(parts: Parts, memory_id: str, *, pinned: bool) -> Memory:
    """Pin or unpin a memory; pinned memories are in every context. Repeating this changes nothing."""
    memory_id = resolve_id(parts, memory_id)
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        if memory.status not in _PINNABLE and pinned:
            raise Conflict(f"{memory_id} cannot be pinned", why=f"it is {memory.status}", fix="restore it first")
        if memory.pinned != pinned:
            reason = "pinned by the user" if pinned else "unpinned by the user"
            apply(writer, [Pin(memory_id=memory_id, pinned=pinned, reason=reason)], make_application(parts))
        return get_current(writer, memory_id)

    return commit_edit(parts, work)


# Move a memory to the next or the previous layer.


def move_layer(parts: Parts, memory_id: str, *, up: bool) -> Memory:
    """Move a memory one layer up or down (E-061).

    Raises `Conflict` at the ends of the ladder and for layers outside it, and `NotFound`.
    """
    memory_id = resolve_id(parts, memory_id)
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        layer = get_next_layer(memory.layer, up=up)
        if layer is None:
            raise Conflict(
                f"{memory_id} cannot be {'promoted' if up else 'demoted'}",
                why=f"it is {memory.layer}, and the ladder is {' → '.join(LADDER)}",
                fix="no further move is possible",
            )
        reason = "promoted by the user" if up else "demoted by the user"
        application = Application(actor=Actor.USER, now_us=parts.clock.now_us())
        apply(writer, [SetLayer(memory_id=memory_id, layer=layer, reason=reason)], application)
        return get_current(writer, memory_id)

    return commit_edit(parts, work)


# Forget a memory, and restore a forgotten one.


def forget(parts: Parts, memory_id: str, reason: str = "") -> Memory:
    """Take a memory out of use; `restore` reverses this. Forgetting it twice changes nothing."""
    why = screen_label(check_text(reason, "reason").strip(), parts.settings.secrets_policy) or "forgotten by the user"
    memory_id = resolve_id(parts, memory_id)
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        if memory.status is not Status.FORGOTTEN:
            change = Forget(memory_id=memory_id, reason=why)
            apply(writer, [change], make_application(parts))
        return get_current(writer, memory_id)

    return commit_edit(parts, work)


def restore(parts: Parts, memory_id: str) -> Memory:
    """Restore a forgotten memory with its former status; it replaces the value its slot has had since."""
    memory_id = resolve_id(parts, memory_id)
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        if memory.status is not Status.FORGOTTEN:
            raise Conflict(
                f"{memory_id} is not forgotten", why=f"it is {memory.status}", fix="only forgotten memories come back"
            )
        log = writer.changes(ChangeFilter(memory_ids=(memory_id,)))
        forgets = [one for one in log if one.after.get("status") == Status.FORGOTTEN]
        status = Status(str(forgets[-1].before.get("status", Status.ACTIVE))) if forgets else Status.ACTIVE
        why, run = "restored by the user", make_application(parts)
        changes = decide_status(memory, status, why, slot_rows=read_slot(writer, memory), now_us=run.now_us)
        apply(writer, changes, run)
        return get_current(writer, memory_id)

    return commit_edit(parts, work)
