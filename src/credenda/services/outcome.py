"""Show the outcome of messages, and the contradictions that they raise."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from credenda import limits
from credenda.errors import Invalid, NotFound
from credenda.ids import IdKind, parse_id_number, parse_serial
from credenda.model.change import ChangeKind, Contest
from credenda.model.contest import ContestCase, ContestState
from credenda.model.memory import Memory, Status
from credenda.model.query import Contradiction, Outcome
from credenda.runtime import Parts
from credenda.services.edit import read_slot
from credenda.storage.job_kinds import EXTRACT, THINK
from credenda.storage.store import ChangeFilter, JobFilter, JobStatus, Reader
from credenda.write.contests.resolve import build_contradiction, find_contradicted

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
        return Outcome(
            state=_find_state(reader, {parse_serial(name) for name in wanted}),
            events=tuple(events),
            memories=tuple(memories),
            contradictions=_find_contradictions(reader, memories, wanted),
        )


def _find_state(reader: Reader, numbers: set[int]) -> str:
    jobs = reader.jobs(JobFilter(kinds=_READING, statuses=_UNFINISHED, until_event=max(numbers)))
    found = {job.status for job in jobs if any(job.first <= number <= job.last for number in numbers)}
    return next((state for state, statuses in _STATES if statuses & found), "done")


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
