"""Storage access of model extraction: load what the prompt needs, and apply the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from credenda import limits
from credenda.model.change import Actor, Change, Supersede
from credenda.model.claim import Claim, Extractor, Turn
from credenda.model.event import Event
from credenda.model.memory import Memory, MemoryType, Relation
from credenda.storage.store import MemoryFilter, Reader, Writer
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.text.tokens import tokenize
from credenda.write.apply import Application, apply
from credenda.write.extract.verbatim import VerbatimExtractor
from credenda.write.extract_job import extract_turns
from credenda.write.llm.reading import Understood, reread
from credenda.write.reconcile.slots import CURRENT_STATUSES, get_valid_from_us
from credenda.write.reconcile_job import apply_claims
from credenda.write.related import sort_by_id

__all__ = ["Asked", "believe_again", "fallback", "still_so", "turn_of", "turns_waiting"]

_TERMS: Final = 24
_GONE: Final = Memory(text="", type=MemoryType.FACT, id="", version=1, created_us=0, recorded_us=0)
"""Placeholder of a memory that no longer exists; no claim can repeat it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An event for the model, with the memories that it may affect and the rules' claims."""

    turn: Turn
    readings: tuple[Claim, ...]

    @property
    def event(self) -> Event:
        """The event."""
        return self.turn.event


def turn_of(reader: Reader, number: int, extractor: Extractor) -> Asked | None:
    """Load the turn of an event; None if its text was deleted."""
    return next(turns_waiting(reader, number, number, extractor), None)


def turns_waiting(reader: Reader, first: int, last: int, extractor: Extractor) -> Iterator[Asked]:
    """Load the turns of the events with these numbers."""
    for read in extract_turns(reader, first, last, extractor):
        if read.turn.event.text:
            known = _known(reader, read.turn.event, read.claims)
            yield Asked(turn=replace(read.turn, known=tuple(known)), readings=read.claims)


def _known(reader: Reader, event: Event, readings: Sequence[Claim]) -> list[Memory]:
    """Find the memories that an event may repeat or replace: by the slots of the rules' claims, and by words."""
    found: dict[str, Memory] = {}
    for claim in readings:
        if claim.entity and claim.attribute:
            pair = (normalise_name(claim.entity), normalise_attribute(claim.attribute))
            wanted = MemoryFilter(pair=pair, statuses=CURRENT_STATUSES, limit=limits.LLM_KNOWN_MEMORIES)
            found.update((one.id, one) for one in reader.find(wanted))
    if len(found) < limits.LLM_KNOWN_MEMORIES:
        found.update((one.id, one) for one in _by_words(reader, event.text))
    held = [one for one in found.values() if one.text and not one.provisional and one.status in CURRENT_STATUSES]
    return held[: limits.LLM_KNOWN_MEMORIES]


def _by_words(reader: Reader, text: str) -> list[Memory]:
    terms = list(dict.fromkeys(tokenize(text)))[:_TERMS]
    found = reader.search_memories(terms, limits.CANDIDATES, most=limits.LLM_KNOWN_MEMORIES) if terms else []
    return sorted(sort_by_id(found), key=get_valid_from_us, reverse=True)


def still_so(writer: Writer, asked: Asked, understood: Understood) -> tuple[Claim, ...] | None:
    """Return the claims of an answer that hold now; None if the text has changed.

    The model ran outside any transaction: if a memory that it was shown has changed, its answer is checked against the
    current one. The model is not asked again.
    """
    event = next(iter(writer.events([asked.event.id])), None)
    if event is None or event.text != asked.event.text:
        return None
    shown = writer.memories([one.id for one in asked.turn.known])
    held = {one.id: one for one in shown if one.status in CURRENT_STATUSES}
    if all(held.get(one.id) == one for one in asked.turn.known) or not understood.answer:
        return understood.claims
    known = tuple(held.get(one.id, _GONE) for one in asked.turn.known)
    return reread(understood.answer, replace(asked.turn, known=known), asked.readings, understood.reader)


def fallback(asked: Asked) -> tuple[Claim, ...]:
    """Return the claims to use without a model: the rules' claims, else the verbatim text (R-050)."""
    return asked.readings or tuple(VerbatimExtractor().extract(asked.turn))


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
