"""A claim with its context, and the changes that store it: the memory to add, or the memory to confirm. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Final

from credenda.clock import DAY_US
from credenda.model.attributes import get_attribute
from credenda.model.change import Add, Confirm, Support
from credenda.model.claim import Claim, Span, UpdateKind
from credenda.model.memory import Draft, Layer, Memory, MemoryType, Stance, Status, get_initial_layer, get_type_class
from credenda.model.statement import replace_given
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text, normalise_value
from credenda.write.reconcile.inputs import StatementContext
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, UNCERTAIN_STANCES

__all__ = ["Candidate", "claim_hash", "make_candidate", "make_claim"]

_UNCERTAIN_CONFIDENCE_MAX: Final = 0.3
_HASH_BYTES: Final = 16
_WORKING_STANCES: Final = UNCERTAIN_STANCES | {Stance.CONSIDERED}
"""Stances whose memories begin in the working layer, which decays first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A normalised claim with its context and its support."""

    claim: Claim
    occasion: StatementContext
    support: Support

    @property
    def key(self) -> str:
        """The key of the memory that the claim would add; equal claims have equal keys."""
        return f"new:{self.support.claim_hash.hex()}"

    @property
    def begins_us(self) -> int:
        """When the value becomes valid: as stated, else when the claim was made.

        For an ending: when the value ended.
        """
        said = self.claim
        stated = said.valid_until_us if _is_ending(said) and said.valid_from_us is None else said.valid_from_us
        return self.occasion.occurred_us if stated is None else stated

    @property
    def is_future(self) -> bool:
        """Whether the value is not valid yet. A bare date may lie a day ahead in another time zone."""
        return self.begins_us > self.occasion.now_us + DAY_US

    @property
    def over(self) -> bool:
        """Whether the value had ended when the claim was made: "until 2022 I worked at …"."""
        until_us = None if _is_ending(self.claim) else self.claim.valid_until_us
        return until_us is not None and until_us <= self.occasion.occurred_us

    def add(self, reason: str, *, status: Status = Status.ACTIVE, begins_us: int | None = None) -> Add:
        """Add the claim as a new memory."""
        begins = self.begins_us if begins_us is None else begins_us
        return Add(key=self.key, draft=self._draft(status, begins), support=(self.support,), reason=reason)

    def confirm(self, memory: Memory, reason: str) -> Confirm:
        """Confirm a memory with the evidence of this claim."""
        return Confirm(memory_id=memory.id, support=(self.support,), reason=reason)

    def _draft(self, status: Status, begins_us: int) -> Draft:
        said, occasion = self.claim, self.occasion
        return Draft(
            text=said.text,
            type=said.type,
            topic=said.topic or occasion.topic,
            entity=said.entity,
            attribute=said.attribute,
            value=said.value,
            scope=said.scope,
            cardinality=said.cardinality,
            stance=said.stance,
            speaker=said.speaker,
            confidence=said.confidence,
            importance=said.importance,
            layer=_choose_layer(said),
            status=status,
            valid_from_us=begins_us,
            valid_until_us=None if _is_ending(said) else said.valid_until_us,
            trust=occasion.trust,
            provisional=said.provisional,
            source_session=occasion.session,
            tags=tuple(dict.fromkeys(occasion.tags + said.tags)),
            metadata=replace_given(occasion.metadata, said.statement, said.key),
            expires_us=occasion.expires_us,
        )


def _choose_layer(said: Claim) -> Layer:
    """Return the layer in which a claim's memory begins."""
    if said.stance in _WORKING_STANCES:
        return Layer.WORKING
    if said.type is MemoryType.FACT and said.attribute and get_attribute(said.attribute).episodic:
        return Layer.EPISODIC
    return get_initial_layer(said.type)


def make_candidate(claim: Claim, occasion: StatementContext, read: Claim | None = None) -> Candidate:
    """Normalise a claim for comparison; its hash is that of the claim as extracted."""
    return Candidate(
        claim=_normalise_claim(claim),
        occasion=occasion,
        support=Support(span=claim.span, claim_hash=claim_hash(read or claim), reader=claim.reader),
    )


def _is_ending(claim: Claim) -> bool:
    return claim.move is UpdateKind.END


def _normalise_claim(claim: Claim) -> Claim:
    """Turn an ending, and a claim that names only a past value, into the denial of that value."""
    if claim.stance in UNCERTAIN_STANCES:
        return replace(claim, confidence=min(claim.confidence, _UNCERTAIN_CONFIDENCE_MAX))
    only_prior = not claim.value and claim.prior is not None
    if claim.stance in ASSERTIVE_STANCES and (_is_ending(claim) or only_prior):
        return replace(claim, stance=Stance.NEGATED, value=claim.value or claim.prior, prior=None)
    return claim


def make_claim(draft: Draft, span: Span, move: UpdateKind) -> Claim:
    """Return the claim that the user made by a correction or an answer, for its hash."""
    return Claim(
        text=draft.text,
        type=draft.type,
        span=span,
        speaker=draft.speaker,
        entity=draft.entity,
        attribute=draft.attribute,
        value=draft.value,
        scope=draft.scope,
        stance=draft.stance,
        move=move,
    )


def claim_hash(claim: Claim) -> bytes:
    """Return the hash (16 bytes) that makes applying a claim idempotent: its content, speaker and span.

    It leaves out confidence and importance, because a better extractor may estimate them differently.
    """
    parts = (
        normalise_name(claim.speaker),
        claim.entity and normalise_name(claim.entity),
        claim.attribute and normalise_attribute(claim.attribute),
        claim.value and normalise_value(claim.value),
        claim.scope and normalise_name(claim.scope),
        get_type_class(claim.type),
        claim.move,
        claim.stance,
        normalise_text(claim.text),
        claim.span.event_id,
        str(claim.span.start),
        str(claim.span.stop),
    )
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    for part in parts:
        data = (part or "").encode()
        digest.update(len(data).to_bytes(4, "big") + data)
    return digest.digest()
