"""Edits of beliefs by the user: correct, forget, restore, pin, and resolve a contest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from credenda.errors import Conflict
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor, Add, Change, Contest
from credenda.model.claim import Claim, Span
from credenda.model.contest import ContestState
from credenda.model.event import Event, Source
from credenda.model.memory import Memory
from credenda.runtime import Parts
from credenda.services.expectation import read_expectation
from credenda.services.lookup import get_current, get_expected, resolve_id
from credenda.storage.job_kinds import EMBED
from credenda.storage.plan import commit_decided
from credenda.storage.store import Job, MemoryFilter, Reader, Writer
from credenda.storage.turns import take_turn
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.validation import check_text
from credenda.write.apply import Application, apply
from credenda.write.corrections.correct import Wanted, decide_correction, find_renamed
from credenda.write.extract_job import extract_turns
from credenda.write.forget.tombstones import is_deleted
from credenda.write.intake.validate import Submission, accept, require_label, screen_label
from credenda.write.reconcile.decide import format_question
from credenda.write.reconcile.slots import CURRENT_STATUSES, display_value, get_slot
from credenda.write.reconcile_job import get_statement_context


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
        memory = commit_decided(parts.store, parts.user_id, work, _read_filed)
    parts.jobs_ready.set()
    return memory


def _read_filed(writer: Writer, memory: Memory) -> Memory:
    return writer.memories([memory.id])[0]


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
