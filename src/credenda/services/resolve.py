"""List contests, and resolve one by a choice or by scopes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from credenda import limits
from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import IdKind, parse_id_number, parse_serial
from credenda.limits import CONTEST_DAYS
from credenda.model.change import Add, ChangeKind, Contest, ContestCase, ContestState, SlotLoop
from credenda.model.claim import Span
from credenda.model.memory import Memory, Status
from credenda.model.query import Contradiction, Outcome
from credenda.model.report import Resolution
from credenda.runtime import Parts
from credenda.services.browse import get_current, read_expectation, resolve_id, resolve_id_in
from credenda.services.edit import check_not_deleted, journal_correction, make_application, read_slot
from credenda.storage.plan import commit_decided
from credenda.storage.records import EXTRACT, THINK
from credenda.storage.store import ChangeFilter, JobFilter, JobStatus, MemoryFilter, Reader, Writer
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.validation import check_text
from credenda.write.apply import Applied, apply
from credenda.write.contests import build_contradiction, decide_resolution, find_contradicted, find_slot_loops
from credenda.write.intake.validate import require_label
from credenda.write.reconcile_job import get_statement_context

# Show the outcome of messages, and the contradictions that they raise.


_READING: Final = frozenset({EXTRACT, THINK})
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
        jobs = reader.jobs(JobFilter(kinds=_READING, statuses=_UNFINISHED, until_event=max(numbers)))
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
