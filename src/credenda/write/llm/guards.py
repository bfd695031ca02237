"""Check a model's proposals; the checks hold whatever the model answers. Pure.

A check returns a claim, a `Fault` that the model may correct, or `Dropped` for a proposal that cannot be corrected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from credenda import limits
from credenda.model.claim import Claim, Span, Turn, UpdateKind
from credenda.model.memory import Memory, Stance
from credenda.text.normalize import is_same_value, normalise_attribute
from credenda.write.extract.acts import Act, act_of, is_hedged, is_question, is_transient
from credenda.write.extract.clauses import open_contractions, straighten
from credenda.write.extract.lexicon import lexicon
from credenda.write.extract.moments import past_dates
from credenda.write.extract.spoken import premise_of
from credenda.write.extract.stances import CONFIDENCE_MAX
from credenda.write.extract.voices import Voice, is_playing, split_voices
from credenda.write.intake.secrets import screen_secrets
from credenda.write.llm.answer import Proposal
from credenda.write.llm.persons import about_another, named_in, owner_of, resolve_entity
from credenda.write.llm.words import locate, numbers, says
from credenda.write.reconcile.slots import UNCERTAIN_STANCES

__all__ = ["Dropped", "Fault", "check"]

_BY_ACT: Final = {Act.HYPOTHETICAL: Stance.HYPOTHETICAL, Act.ROLE_PLAY: Stance.ROLE_PLAY, Act.JOKE: Stance.SARCASTIC}
_SILENT: Final = frozenset({Act.PASTED, Act.SARCASM, Act.RUNNING_TASK, Act.RETRACTION})
_UNSURE: Final = frozenset({Stance.PLANNED, Stance.CONSIDERED, Stance.REPORTED})
_CAUTION: Final[Mapping[Stance, int]] = {
    Stance.ASSERTED: 0,
    Stance.NEGATED: 0,
    Stance.REPORTED: 1,
    Stance.CONSIDERED: 2,
    Stance.PLANNED: 2,
    Stance.SARCASTIC: 3,
    Stance.ROLE_PLAY: 3,
    Stance.HYPOTHETICAL: 3,
}
_HEDGED: Final = 0.5
_FAINTEST: Final = 0.2
"""Minimum importance of a stored claim (R-057)."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The error of a proposal, as a message to the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """Why a proposal is dropped without another try."""

    why: str


def check(
    proposal: Proposal, turn: Turn, readings: tuple[Claim, ...], known: Mapping[str, Memory]
) -> Claim | Fault | Dropped:
    """Turn a proposal about a turn into a claim, or return its error.

    `readings` are the rules' claims; `known` are the memories that the model was shown, by their names.
    """
    event = turn.event
    span = locate(event.text, proposal.quote, event.id)
    if span is None:
        return Fault(f"the words {proposal.quote[:80]!r} do not stand in the message")
    if span.stop - span.start > limits.MEMORY_TEXT_CHARACTERS:
        return Fault("the quote runs over too much of the message: quote one sentence")
    sentence = event.text[span.start : span.stop]
    owner = owner_of(event)
    if owner is None:
        return Dropped("a document")
    if _voice(turn, span) not in {Voice.OWN, Voice.ROLE_PLAY}:
        return Dropped("not the speaker's own words")
    return (
        _fault(proposal, sentence)
        or _silenced(proposal, sentence)
        or _stranger(proposal, turn, sentence, owner)
        or _as_known(_claim(proposal, turn, span, readings), known.get(proposal.known or ""), sentence)
    )


def _voice(turn: Turn, span: Span) -> Voice:
    """Return the voice of a span; of two, the one that is not own prose."""
    passages = split_voices(turn.event.text, playing=is_playing(turn))
    return max(one.voice for one in passages if one.start < span.stop and span.start < one.stop)


def _fault(proposal: Proposal, sentence: str) -> Fault | None:
    """Find the parts of a proposal that its sentence does not support."""
    for name, text in (("value", proposal.value), ("prior", proposal.prior)):
        if text is not None and not says(sentence, text):
            return Fault(f"the {name} {text[:80]!r} is not copied from the quoted sentence")
    odd = numbers(proposal.scope or "") - numbers(sentence)
    if odd:
        return Fault(f"the number {min(odd)} is not in the quoted sentence")
    if proposal.attribute is not None and not normalise_attribute(proposal.attribute):
        return Fault("an attribute must hold letters")
    if (proposal.attribute is None) != (proposal.value is None) and proposal.move is not UpdateKind.END:
        return Fault("attribute and value go together: give both or neither")
    if proposal.scope is not None and not says(sentence, proposal.scope):
        return Fault(f"the scope {proposal.scope[:80]!r} is not copied from the quoted sentence")
    return None


def _silenced(proposal: Proposal, sentence: str) -> Dropped | None:
    """Drop secrets, questions, sarcasm, the current task, transient and trivial facts: none of them is stored."""
    plain = straighten(sentence)
    if screen_secrets(sentence, "mask").masked:
        return Dropped("a secret")
    act = act_of(plain)
    if act in _SILENT:
        return Dropped("not meant to last")
    asks = plain.endswith("?") and premise_of(plain) is None
    if act not in _BY_ACT and (asks or is_question(open_contractions(plain))):
        return Dropped("a question")
    if proposal.move is UpdateKind.STATE and is_transient(plain):
        return Dropped("it passes")
    return Dropped("of no importance") if proposal.importance < _FAINTEST else None


def _stranger(proposal: Proposal, turn: Turn, sentence: str, owner: str) -> Dropped | Fault | None:
    """Reject facts of others that are attributed to the speaker, and invented entities."""
    entity = None if proposal.entity is None else resolve_entity(proposal.entity, owner)
    if entity is None or act_of(straighten(sentence)) in _BY_ACT:
        return None  # role-play has no slot and is nobody's fact
    if entity == owner:
        other = about_another(turn.event, sentence, proposal.value, proposal.attribute)
        return Dropped("about somebody else") if other else None
    texts = (sentence, turn.event.text, *(one.text for one in turn.before), *(one.entity or "" for one in turn.known))
    return None if named_in(entity, owner, texts) else Fault(f"nobody speaks of {entity[:80]!r}")


def _claim(proposal: Proposal, turn: Turn, span: Span, readings: tuple[Claim, ...]) -> Claim:
    event = turn.event
    sentence = event.text[span.start : span.stop]
    owner = owner_of(event) or event.speaker
    stance = _stance(proposal, turn, span, readings)
    plain = Claim(
        text=sentence,
        type=proposal.type,
        span=span,
        speaker=owner,
        stance=stance,
        confidence=_confidence(proposal, stance, sentence),
        importance=proposal.importance,
        topic=event.topic,
        tags=event.tags,
    )
    if stance in UNCERTAIN_STANCES:
        return plain  # without a slot, so that pretence never affects a belief
    attribute = None if proposal.attribute is None else lexicon().attribute(proposal.attribute.replace("_", " "))
    told = past_dates(straighten(sentence), event.occurred_us)
    return replace(
        plain,
        entity=None if proposal.entity is None else resolve_entity(proposal.entity, owner),
        attribute=None if attribute is None else attribute.name,
        value=proposal.value,
        prior=proposal.prior,
        scope=proposal.scope,
        cardinality=attribute.cardinality if attribute is not None and attribute.known else proposal.cardinality,
        move=proposal.move,
        valid_from_us=told.since,
        valid_until_us=told.until,
    )


def _stance(proposal: Proposal, turn: Turn, span: Span, readings: tuple[Claim, ...]) -> Stance:
    """Return the most cautious stance among the model's, the rules' and the context's."""
    plain = straighten(turn.event.text[span.start : span.stop])
    heard = [proposal.stance]
    if _voice(turn, span) is Voice.ROLE_PLAY:
        heard.append(Stance.ROLE_PLAY)
    act = _BY_ACT.get(act_of(plain))
    if act is not None:
        heard.append(act)
    heard += (
        one.stance
        for one in readings
        if one.span.start < span.stop and span.start < one.span.stop and one.stance in _UNSURE | UNCERTAIN_STANCES
    )
    return max(heard, key=_CAUTION.__getitem__)


def _confidence(proposal: Proposal, stance: Stance, sentence: str) -> float:
    hedged = _HEDGED if is_hedged(straighten(sentence)) else 1.0
    return min(proposal.confidence, CONFIDENCE_MAX.get(stance, 1.0), hedged)


def _as_known(claim: Claim, memory: Memory | None, sentence: str) -> Claim:
    """Move a claim to the slot of the memory that it repeats; a different value stays a claim of its own (D-016)."""
    if memory is None or claim.stance in UNCERTAIN_STANCES:
        return claim
    repeats = is_same_value(claim.value, memory.value) or (memory.value is not None and says(sentence, memory.value))
    plain = claim.stance is memory.stance and claim.move is UpdateKind.STATE
    if not repeats or not plain or memory.entity is None or memory.attribute is None:
        return claim
    return replace(
        claim,
        entity=memory.entity,
        attribute=memory.attribute,
        value=memory.value,
        scope=memory.scope,
        cardinality=memory.cardinality,
    )
