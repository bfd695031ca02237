"""Storage access of model extraction: load the passages that wait, and apply the answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from credenda import limits
from credenda.ids import IdKind, format_id
from credenda.model.change import Actor, Change, Supersede
from credenda.model.claim import Claim, Extractor
from credenda.model.event import Event
from credenda.model.memory import Memory, Relation
from credenda.storage.job_kinds import THINK
from credenda.storage.store import Job, Reader, Writer
from credenda.text.normalize import is_same_value, normalise_name
from credenda.write.apply import Application, apply
from credenda.write.extract.verbatim import VerbatimExtractor
from credenda.write.extract_job import ExtractedTurn, extract_turns
from credenda.write.llm.known import make_passage
from credenda.write.llm.passage import Passage
from credenda.write.llm.reading import Understood, reread
from credenda.write.reconcile.slots import CURRENT_STATUSES, get_valid_from_us
from credenda.write.reconcile_job import apply_claims

__all__ = ["believe_again", "fallback", "group_jobs", "load_passage", "load_turn", "still_so"]


def group_jobs(reader: Reader, jobs: Sequence[Job], most: int) -> list[list[Job]]:
    """Group waiting jobs into at most `most` passages, in order: the next messages of a session together.

    A session has one passage at a time, so that the next one sees what followed from it. Messages without a session,
    and second attempts, are passages of their own.
    """
    tag = reader.tenant.tag
    ids = {format_id(IdKind.EVENT, job.first, tag): job for job in jobs}
    events = {ids[event.id].first: event for event in reader.events(list(ids))}
    groups: list[list[Job]] = []
    open_groups: dict[str, _Open] = {}
    for job in jobs:
        event = events.get(job.first)
        session = event.session if event is not None else ""
        started = open_groups.get(session)
        if started is not None and event is not None:
            if job.kind == THINK and started.has_room(event):
                started.add(job, event)
            else:
                started.room = 0
        elif len(groups) < most:
            groups.append([job])
            if session and event is not None:
                open_groups[session] = _Open(groups[-1], event, grows=job.kind == THINK)
    return groups


class _Open:
    """A passage that may take the next message of its session."""

    def __init__(self, jobs: list[Job], event: Event, *, grows: bool) -> None:
        self._jobs = jobs
        self.room = limits.LLM_PASSAGE_CHARACTERS - len(event.text) if grows else 0

    def has_room(self, event: Event) -> bool:
        return len(event.text) <= self.room and len(self._jobs) < limits.LLM_PASSAGE_TURNS

    def add(self, job: Job, event: Event) -> None:
        self._jobs.append(job)
        self.room -= len(event.text)


def load_turn(reader: Reader, number: int, extractor: Extractor) -> ExtractedTurn | None:
    """Load the message with this number and the claims of the reader; None if its text was deleted."""
    found = extract_turns(reader, number, number, extractor)
    return next((one for one in found if one.turn.event.text), None)


def load_passage(reader: Reader, numbers: Sequence[int], extractor: Extractor) -> Passage | None:
    """Load the passage of the messages with these numbers; None if all their texts were deleted."""
    found = [one for number in numbers if (one := load_turn(reader, number, extractor)) is not None]
    return make_passage(reader, found) if found else None


def still_so(writer: Writer, passage: Passage, understood: Understood) -> Iterator[tuple[Event, tuple[Claim, ...]]]:
    """Yield the messages of a passage that are unchanged, with the claims of an answer that hold now.

    The model ran outside any transaction: if a memory that it was shown has changed, its answer is checked without it.
    The model is not asked again.
    """
    held = {event.id: event for event in writer.events(passage.event_ids)}
    shown: Mapping[str, Memory] = {one.id: one for one in writer.memories([one.id for one in passage.known])}
    same = all(shown.get(one.id) == one for one in passage.known)
    claims = understood.claims if same else reread(understood, shown)
    for turn in passage.turns:
        now = held.get(turn.event.id)
        if now is not None and now.text == turn.event.text:
            yield turn.event, claims.get(turn.event.id, ())


def fallback(found: ExtractedTurn) -> tuple[Claim, ...]:
    """Return the claims to use without a model: the reader's claims, else the verbatim text (R-050)."""
    return found.claims or tuple(VerbatimExtractor().extract(found.turn))


def believe_again(writer: Writer, event: Event, claims: Sequence[Claim], now_us: int, *, embeds: bool) -> None:
    """Apply the claims of a later extraction of an event, in the caller's transaction.

    Existing evidence of the event is not counted again. Text that was stored verbatim for lack of an answer is
    superseded.
    """
    resting = _resting_on(writer, event)
    fresh = [claim for claim in claims if not any(_says_it(one, claim) for one in resting)]
    apply_claims(writer, [(event, tuple(fresh))], now_us, embeds=embeds)
    kept = [one for one in resting if one.provisional and one.status in CURRENT_STATUSES]
    successor = next(
        (one.id for one in _resting_on(writer, event) if not one.provisional and one.status in CURRENT_STATUSES), None
    )
    changes: list[Change] = [_gives_way(one, successor) for one in kept]
    if changes:
        apply(writer, changes, Application(actor=Actor.MODEL, now_us=now_us, cause=event.id, embeds=embeds))


def _resting_on(writer: Writer, event: Event) -> list[Memory]:
    return writer.memories(sorted({item.memory_id for item in writer.evidence(event_ids=[event.id])}))


def _says_it(memory: Memory, claim: Claim) -> bool:
    if memory.provisional:
        return False
    if claim.value is None or memory.value is None:
        return claim.value is memory.value and normalise_name(memory.text) == normalise_name(claim.text)
    return normalise_name(memory.entity or "") == normalise_name(claim.entity or "") and is_same_value(
        memory.value, claim.value
    )


def _gives_way(memory: Memory, successor: str | None) -> Supersede:
    """Supersede a verbatim memory: refined by the extracted claims, or superfluous without any."""
    return Supersede(
        memory_id=memory.id,
        successor=successor,
        relation=Relation.REFINED if successor else Relation.DUPLICATE,
        valid_until_us=get_valid_from_us(memory),
        reason="re-extracted with a language model" if successor else "the model found nothing to remember in it",
    )
