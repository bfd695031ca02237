"""Edits of beliefs by the user: correct, forget, restore, pin, and resolve a contest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor, Add, Change, Contest, Forget, Pin
from credenda.model.claim import Span
from credenda.model.contest import ContestCase, ContestState
from credenda.model.event import Event, Source
from credenda.model.memory import Memory, Status
from credenda.model.report import Resolution
from credenda.runtime import Parts
from credenda.services.lookup import get_current
from credenda.services.short_ids import resolve_id
from credenda.storage.job_kinds import EMBED
from credenda.storage.store import ChangeFilter, Job, MemoryFilter, Reader, Writer
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.validation import check_text
from credenda.write.apply import Application, Applied, apply
from credenda.write.contests.resolve import decide_resolution
from credenda.write.corrections.correct import decide_correction
from credenda.write.corrections.set_status import decide_status
from credenda.write.forget.tombstones import is_deleted
from credenda.write.intake.validate import Submission, accept
from credenda.write.reconcile.contest_trigger import format_question
from credenda.write.reconcile.slots import display_value, get_slot
from credenda.write.reconcile_job import get_statement_context

__all__ = [
    "Correction",
    "check_not_deleted",
    "correct",
    "forget",
    "journal_correction",
    "list_contests",
    "make_application",
    "pin",
    "put_right",
    "read_slot",
    "resolve",
    "restore",
]

_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})


def read_slot(writer: Writer, memory: Memory) -> list[Memory]:
    """Return the memories with the entity and attribute of a memory."""
    if not memory.entity or not memory.attribute:
        return []
    return writer.find(MemoryFilter(pair=(normalise_name(memory.entity), normalise_attribute(memory.attribute))))


def _commit(parts: Parts, work: Callable[[Writer], Memory]) -> Memory:
    with parts.active_calls:
        memory = parts.store.commit(parts.user_id, work)
    parts.jobs_ready.set()
    return memory


def make_application(parts: Parts, cause: str | None = None, actor: Actor = Actor.USER) -> Application:
    """Return the actor, time and cause of changes that are applied now."""
    embeds = parts.embedder is not None
    return Application(actor=actor, now_us=parts.clock.now_us(), cause=cause, embeds=embeds)


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
    event = writer.events([writer.put(accepted.events[0])])[0]
    if parts.embedder is not None:
        number = parse_id_number(event.id, IdKind.EVENT, writer.tenant.tag)
        writer.put(Job(kind=EMBED, first=number, last=number))
    return event


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
    agent: str | None = None,
    session: str | None = None,
) -> Memory:
    """Replace a memory by its corrected content; the wrong memory leaves every as-of answer.

    `agent` and `session` say where the correction was made.
    """
    wanted = Correction(text=text, value=value, reason=reason, agent=agent, session=session)
    return put_right(parts, resolve_id(parts, memory_id), wanted)


def put_right(parts: Parts, memory_id: str, wanted: Correction) -> Memory:
    """Apply a correction."""
    text, value = check_text(wanted.text, "text"), check_text(wanted.value, "value")
    reason = check_text(wanted.reason, "reason")
    source = Source.FILE if wanted.actor is Actor.FILE else Source.HUMAN

    def work(writer: Writer) -> Memory:
        memory = get_current(writer, memory_id)
        said = text.strip() or f"Correction: {value.strip()}".strip()
        event = journal_correction(parts, writer, said, agent=wanted.agent, session=wanted.session, source=source)
        changes = decide_correction(
            memory,
            text=event.text if text.strip() else None,
            value=value or None,
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

    return _commit(parts, work)


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


def forget(parts: Parts, memory_id: str, reason: str = "") -> Memory:
    """Take a memory out of use; `restore` reverses this. Forgetting it twice changes nothing."""
    why = check_text(reason, "reason").strip() or "forgotten by the user"
    memory_id = resolve_id(parts, memory_id)

    def work(writer: Writer) -> Memory:
        memory = get_current(writer, memory_id)
        if memory.status is not Status.FORGOTTEN:
            change = Forget(memory_id=memory_id, reason=why)
            apply(writer, [change], make_application(parts))
        return get_current(writer, memory_id)

    return _commit(parts, work)


def restore(parts: Parts, memory_id: str) -> Memory:
    """Restore a forgotten memory with its former status; it replaces the value its slot has had since."""
    memory_id = resolve_id(parts, memory_id)

    def work(writer: Writer) -> Memory:
        memory = get_current(writer, memory_id)
        if memory.status is not Status.FORGOTTEN:
            raise Conflict(
                f"{memory_id} is not forgotten", why=f"it is {memory.status}", fix="only forgotten memories come back"
            )
        log = writer.changes(ChangeFilter(memory_id=memory_id))
        forgets = [one for one in log if one.after.get("status") == Status.FORGOTTEN]
        status = Status(str(forgets[-1].before.get("status", Status.ACTIVE))) if forgets else Status.ACTIVE
        why, run = "restored by the user", make_application(parts)
        changes = decide_status(memory, status, why, slot_rows=read_slot(writer, memory), now_us=run.now_us)
        apply(writer, changes, run)
        return get_current(writer, memory_id)

    return _commit(parts, work)


def pin(parts: Parts, memory_id: str, *, pinned: bool) -> Memory:
    """Pin or unpin a memory; pinned memories are in every context. Repeating this changes nothing."""
    memory_id = resolve_id(parts, memory_id)

    def work(writer: Writer) -> Memory:
        memory = get_current(writer, memory_id)
        if memory.status not in _HELD and pinned:
            raise Conflict(f"{memory_id} cannot be pinned", why=f"it is {memory.status}", fix="restore it first")
        if memory.pinned != pinned:
            reason = "pinned by the user" if pinned else "unpinned by the user"
            apply(writer, [Pin(memory_id=memory_id, pinned=pinned, reason=reason)], make_application(parts))
        return get_current(writer, memory_id)

    return _commit(parts, work)


def list_contests(parts: Parts) -> list[ContestCase]:
    """Return the contests, open ones first."""
    with parts.store.reader(parts.user_id) as reader:
        return reader.contests()


def resolve(
    parts: Parts, contest_id: str, *, keep: str | None = None, scopes: Mapping[str, str] | None = None
) -> Resolution:
    """Resolve a contest: keep one value, or give each value a scope."""
    contest_id = resolve_id(parts, contest_id)

    def work(writer: Writer) -> Resolution:
        contest = _read_contest(writer, contest_id)
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
        return Resolution(contest=_read_contest(writer, contest_id), memory_ids=_find_added_ids(changes, applied))

    with parts.active_calls:
        resolution = parts.store.commit(parts.user_id, work)
    parts.jobs_ready.set()
    return resolution


def _read_contest(reader: Reader, contest_id: str) -> ContestCase:
    found = reader.contests(id=contest_id)
    if not found:
        raise NotFound(f"there is no contest {contest_id}", fix="copy an id from `list_contests`")
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


def _find_added_ids(changes: list[Change], applied: Applied) -> tuple[str, ...]:
    return tuple(applied.ids[change.key] for change in changes if isinstance(change, Add))
