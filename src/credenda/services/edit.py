"""Edits of beliefs by the user: correct, forget, restore, pin, and resolve a contest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, cast

from credenda import limits
from credenda.clock import to_datetime
from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import IdKind, parse_id_number, parse_serial
from credenda.limits import CONTEST_DAYS
from credenda.manage.lifecycle import LADDER, get_next_layer
from credenda.model.change import (
    Actor,
    Add,
    Change,
    ChangeKind,
    ChangeRecord,
    Contest,
    ContestCase,
    ContestState,
    Forget,
    Pin,
    Resolve,
    SetLayer,
    SlotLoop,
    Supersede,
)
from credenda.model.claim import Claim, Span
from credenda.model.event import Event, Source
from credenda.model.memory import Memory, Status
from credenda.model.query import Contradiction, Outcome, StatusStep
from credenda.model.report import Resolution, UndoneMemory, UndoReport
from credenda.runtime import Parts
from credenda.services.browse import get_current, get_expected, read_expectation, resolve_id, resolve_id_in
from credenda.storage.plan import commit_decided, return_decided
from credenda.storage.records import EMBED, READING_JOBS, take_turn
from credenda.storage.store import ChangeFilter, EventFilter, Job, JobFilter, JobStatus, MemoryFilter, Reader, Writer
from credenda.text.given_time import parse_start
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.validation import check_member, check_name, check_text
from credenda.write.apply import Application, Applied, apply
from credenda.write.contests import build_contradiction, decide_resolution, find_contradicted, find_slot_loops
from credenda.write.correct import Wanted, decide_correction, decide_status, find_renamed, write_words
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
        said = text.strip() or write_words(memory, value.strip())
        event = journal_correction(parts, writer, said, agent=wanted.agent, session=wanted.session, source=source)
        claims = () if value.strip() else extract_correction(parts, writer, event)
        claim = find_renamed(memory, event.text, claims)
        if claim is None:
            renamed = None
        else:
            pair = (normalise_name(claim.entity or ""), normalise_attribute(claim.attribute or ""))
            renamed = None if writer.find(MemoryFilter(pair=pair, statuses=CURRENT_STATUSES, limit=1)) else claim
        given = Wanted(
            text=event.text if text.strip() else None,
            value=value or None,
            claims=claims,
            renamed=renamed,
        )
        changes = decide_correction(
            memory,
            given,
            reason=reason,
            occasion=get_statement_context(event, parts.clock.now_us()),
            span=Span(event.id, 0, len(event.text)),
            slot_rows=read_slot(writer, memory),
        )
        check_not_deleted(writer, changes, said)
        run = make_application(parts, event.id, wanted.actor)
        applied = apply(writer, changes, run)
        successor = next(str(one.successor) for one in changes if isinstance(one, Supersede))
        corrected = writer.memories([applied.ids.get(successor, successor)])[0]
        _keep_contest(writer, memory, corrected, replace(run, cause=None))
        return get_current(writer, corrected.id)

    return commit_edit(parts, work)


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
            ids = tuple(dict.fromkeys(right.id if one == wrong.id else one for one in contest.memory_ids))
            values = tuple(display_value(memory) for memory in writer.memories(ids))
            reason = "one of the values was corrected"
            if len(ids) == 1:
                closed = Resolve(contest_id=contest.id, resolution=values[0], scopes={}, keep=ids, reason=reason)
                apply(writer, [closed], run)
                continue
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
    zone, now_us = parts.settings.zone, parts.clock.now_us()
    since_us = None if since is None else parse_start(since, zone, now_us)
    until_us = None if until is None else parse_start(until, zone, now_us)
    if since_us is not None and until_us is not None and until_us <= since_us:
        raise Invalid("until must come after since", why="no time lies between them", fix="swap them")
    named = check_name(session, "session")
    said = None if source is None else check_member(Source, check_text(source, "source"), "source").value

    def work(reader: Reader) -> UndoPlan:
        if named is None and said is None:
            causes = None
        else:
            found = reader.find_events(EventFilter(session=named, source=said, redacted=True))
            causes = {event.id for event in found}
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


def _run(parts: Parts, work: Callable[[Reader], UndoPlan], *, dry_run: bool) -> UndoReport:
    if dry_run:
        with parts.store.reader(parts.user_id) as reader:
            return _report(work(reader), (), ran=False)

    def decide(writer: Writer) -> UndoReport:
        undoing = work(writer)
        if undoing.conflicts:
            ids = [one.id for one in undoing.conflicts]
            more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
            named = f"{', '.join(ids[:_NAMED])}{more}"
            raise Conflict(
                "later changes depend on this",
                why=f"{named} came after it",
                fix="undo those first, or all together with cascade; a dry run lists them",
                changes=named,
            )
        application = Application(actor=Actor.USER, now_us=parts.clock.now_us(), embeds=parts.embedder is not None)
        applied = apply(writer, undoing.changes, application)
        return _report(undoing, applied.records, ran=True)

    with parts.active_calls:
        report = commit_decided(parts.store, parts.user_id, decide, return_decided)
    parts.jobs_ready.set()
    return report


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
    moments = {one.at_us for one in wanted if one.kind in _SHARED}
    waiting = {
        name
        for record in (*wanted, *[one for one in shared if one.at_us in moments])
        for name in _name_memories(record)
    }
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


def _name_memories(record: ChangeRecord) -> list[str]:
    found = [record.memory_id, record.after.get("superseded_by"), record.before.get("superseded_by")]
    for value in (record.after.get("members"), record.after.get("keep")):
        if isinstance(value, list):
            found += cast("list[object]", value)
    return [one for one in found if isinstance(one, str)]


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


# Resolve a contest: the user says which value is true.


# Show the outcome of messages, and the contradictions that they raise.


_STATES: Final = (
    ("failed", frozenset({JobStatus.DEAD})),
    ("running", frozenset({JobStatus.PROCESSING, JobStatus.FAILED})),
    ("queued", frozenset({JobStatus.QUEUED})),
)
"""The states of unfinished jobs, the one that counts most first; a failed job is tried again."""
_UNFINISHED: Final = frozenset[JobStatus]().union(*(statuses for _, statuses in _STATES))
_ENDS: Final = frozenset({ChangeKind.SUPERSEDE})
_REASON: Final = "the values exclude each other, and the user was asked"


def get_outcome(parts: Parts, event_ids: Sequence[str]) -> Outcome:
    """Return the outcome of some messages; raises `NotFound` for an unknown one, `Invalid` for none or too many."""
    wanted = list(dict.fromkeys(event_ids))
    if not 0 < len(wanted) <= limits.MESSAGES_PER_CALL:
        raise Invalid(
            f"{len(wanted)} events", why=f"it must be 1 to {limits.MESSAGES_PER_CALL}", fix="ask for some of them"
        )
    with parts.store.reader(parts.user_id) as reader:
        for name in wanted:
            parse_id_number(name, IdKind.EVENT, reader.tenant.tag)
        events = reader.events(wanted)
        if len(events) < len(wanted):
            known = {one.id for one in events}
            unknown = ", ".join(name for name in wanted if name not in known)
            raise NotFound(f"there is no event {unknown}", fix="copy an id from the receipt of `remember`")
        links = reader.evidence(event_ids=wanted)
        memories = [
            one for one in reader.memories(sorted({one.memory_id for one in links})) if one.status is not Status.DELETED
        ]
        numbers = {parse_serial(name) for name in wanted}
        jobs = reader.jobs(JobFilter(kinds=READING_JOBS, statuses=_UNFINISHED, until_event=max(numbers)))
        found = {job.status for job in jobs if any(job.first <= number <= job.last for number in numbers)}
        return Outcome(
            state=next((state for state, statuses in _STATES if statuses & found), "done"),
            events=tuple(events),
            memories=tuple(memories),
            contradictions=_find_contradictions(reader, memories, wanted),
        )


def _find_contradictions(
    reader: Reader, memories: Sequence[Memory], causes: Collection[str]
) -> tuple[Contradiction, ...]:
    """Return the open questions about some memories, each once."""
    contests = reader.contests()
    found: dict[str, Contradiction] = {}
    for memory in memories:
        asked = next((c for c in contests if c.state is ContestState.OPEN and memory.id in c.memory_ids), None)
        if asked is not None:
            found[asked.id] = Contradiction(
                id=asked.id,
                entity=asked.entity,
                attribute=asked.attribute,
                scope=asked.scope,
                values=asked.values,
                question=asked.question,
            )
            continue
        contest = find_contradiction(reader, memory, contests, causes)
        if contest is not None:
            found[memory.id] = Contradiction(
                id=memory.id,
                entity=contest.slot.entity,
                attribute=contest.slot.attribute,
                scope=contest.slot.scope,
                values=contest.values,
                question=contest.question,
            )
    return tuple(found.values())


def find_contradiction(
    reader: Reader, memory: Memory, contests: Sequence[ContestCase], causes: Collection[str] | None = None
) -> Contest | None:
    """Return the contest between a memory and earlier values of its slot that it contradicts without saying so.

    A memory of the same event is no earlier value, and one of a contest that was answered is decided. `contests` may be
    all of the tenant. With `causes` only these events may have replaced a value.
    """
    events = {link.span.event_id for link in reader.evidence(memory_ids=[memory.id])}
    decided = {link.memory_id for link in reader.evidence(event_ids=sorted(events))} if events else set[str]()
    decided.update(name for one in contests if one.state is ContestState.RESOLVED for name in one.memory_ids)
    found = [one for one in find_contradicted(memory, read_slot(reader, memory)) if one.id not in decided]
    if causes is not None and memory.status is Status.ACTIVE:
        found = [one for one in found if _find_cause(reader, one) in causes]
    return build_contradiction(memory, found, contests, _REASON)


def _find_cause(reader: Reader, replaced: Memory) -> str | None:
    """Return the event that ended a memory."""
    log = reader.changes(ChangeFilter(memory_ids=(replaced.id,), kinds=_ENDS))
    return log[-1].cause if log else None


def list_contests(parts: Parts) -> list[ContestCase]:
    """Return the contests, open ones first."""
    with parts.store.reader(parts.user_id) as reader:
        return reader.contests()


def get_contest(parts: Parts, contest_id: str) -> ContestCase:
    """Return one contest; raises `NotFound`."""
    with parts.store.reader(parts.user_id) as reader:
        return _read_contest(reader, resolve_id_in(reader, contest_id))


def resolve(
    parts: Parts, contest_id: str, *, keep: str | None = None, scopes: Mapping[str, str] | None = None
) -> Resolution:
    """Resolve a contest: keep one value, or give each value a scope.

    The id of a memory names the contradiction between it and earlier values, which becomes a contest with its answer.
    """
    named = resolve_id(parts, check_text(contest_id, "contest_id"))
    if scopes is not None and not isinstance(scopes, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise Invalid("scopes must map each value to its scope", fix='pass for example {"consulting": "morning"}')
    policy = parts.settings.secrets_policy
    keep = require_label(keep, "the answer", policy)
    scopes = scopes and {
        require_label(scope, "a scope", policy): require_label(value, "a value", policy)
        for scope, value in scopes.items()
    }

    expected = read_expectation()

    def decide(writer: Writer) -> tuple[str, tuple[str, ...]]:
        contest = _open_contest(parts, writer, named)
        expected.check(contest.id, contest)
        pair = (normalise_name(contest.entity), normalise_attribute(contest.attribute))
        members = {memory.id: memory for memory in writer.memories(contest.memory_ids)}
        members.update((memory.id, memory) for memory in writer.find(MemoryFilter(pair=pair)))
        event = journal_correction(parts, writer, _word_answer(contest, keep, scopes))
        changes = decide_resolution(
            contest,
            tuple(memory for memory in members.values() if memory.status is not Status.DELETED),
            keep=keep,
            scopes=scopes,
            occasion=get_statement_context(event, parts.clock.now_us()),
            span=Span(event.id, 0, len(event.text)),
        )
        check_not_deleted(writer, changes, event.text)
        applied: Applied = apply(writer, changes, make_application(parts, event.id))
        return contest.id, tuple(applied.ids[change.key] for change in changes if isinstance(change, Add))

    def finish(writer: Writer, decided: tuple[str, tuple[str, ...]]) -> Resolution:
        contest_id, memory_ids = decided
        return Resolution(contest=_read_contest(writer, contest_id), memory_ids=memory_ids)

    with parts.active_calls:
        resolution = commit_decided(parts.store, parts.user_id, decide, finish)
    parts.jobs_ready.set()
    return resolution


def _open_contest(parts: Parts, writer: Writer, name: str) -> ContestCase:
    """Return the contest of an id; that of a memory is opened first, for the contradiction in which it stands."""
    if not name.startswith(IdKind.MEMORY):
        return _read_contest(writer, name)
    memory = get_current(writer, name)
    pair = (normalise_name(memory.entity or ""), normalise_attribute(memory.attribute or ""))
    contests = writer.contests(pair=pair)
    asked = next((one for one in contests if memory.id in one.memory_ids and one.state is ContestState.OPEN), None)
    if asked is not None:
        return asked
    contest = find_contradiction(writer, memory, contests)
    if contest is None:
        raise Conflict(
            f"{name} contradicts nothing that is undecided",
            why="it was answered, or one of the values is not believed any more",
            fix="to change a value, use `correct`",
        )
    apply(writer, [contest], make_application(parts))
    return next(one for one in writer.contests(pair=pair, state=ContestState.OPEN) if memory.id in one.memory_ids)


def _read_contest(reader: Reader, contest_id: str) -> ContestCase:
    found = reader.contests(id=contest_id)
    if not found:
        raise NotFound(f"there is no contest {contest_id}", fix="copy an id from `contests`")
    return found[0]


def _word_answer(contest: ContestCase, keep: str | None, scopes: Mapping[str, str] | None) -> str:
    about = f"{contest.entity} {contest.attribute}".replace("_", " ")
    if keep and not scopes:
        return f"About {about}: {keep}"
    if scopes and not keep:
        parts = "; ".join(f"{scope}: {value}" for scope, value in scopes.items())
        return f"About {about}: {parts}"
    raise Invalid(
        "a contest needs one answer",
        why="either one value to keep, or a scope for each value",
        fix=f"choose among {', '.join(contest.values)}",
    )


# Audit of slots whose values alternate.


_DAYS_MAX: Final = 36_500


def find_loops(parts: Parts, *, days: int | None = None) -> list[SlotLoop]:
    """Return slots that were replaced three or more times within a number of days, the worst first (R-084)."""
    span = CONTEST_DAYS if days is None else days
    if not isinstance(span, int) or isinstance(span, bool) or not 1 <= span <= _DAYS_MAX:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"{days!r} is not a number of days", why=f"it lies in 1 to {_DAYS_MAX}", fix="give 30")
    now_us = parts.clock.now_us()
    with parts.store.reader(parts.user_id) as reader:
        contests = reader.contests()
        replaced = reader.find(MemoryFilter(statuses=frozenset({Status.SUPERSEDED})))
        pairs = {(normalise_name(one.entity), normalise_attribute(one.attribute)) for one in contests}
        pairs |= {
            (normalise_name(one.entity), normalise_attribute(one.attribute))
            for one in replaced
            if one.entity and one.attribute
        }
        active = frozenset({Status.ACTIVE})
        held = [one for pair in sorted(pairs) for one in reader.find(MemoryFilter(pair=pair, statuses=active))]
    return find_slot_loops(replaced, held, contests, now_us=now_us, days=span)
