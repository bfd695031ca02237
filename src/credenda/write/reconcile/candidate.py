"""One claim on its occasion, and the changes that carry it: the memory it would make, the one it confirms. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Final

from credenda.clock import DAY_US
from credenda.model.change import Add, Confirm, Support
from credenda.model.claim import Claim, Span, UpdateKind
from credenda.model.memory import Draft, Layer, Memory, MemoryType, Stance, Status, get_initial_layer, get_type_class
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text, normalise_value
from credenda.write.reconcile.inputs import StatementContext
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, UNCERTAIN_STANCES

__all__ = ["Candidate", "claim_hash", "make_candidate", "make_claim"]

_UNCERTAIN_CONFIDENCE_MAX: Final = 0.3
_HASH_BYTES: Final = 16
_WORKING_STANCES: Final = UNCERTAIN_STANCES | {Stance.CONSIDERED}
"""Stances whose memories begin in the working layer, where what is not taken up again fades first."""


_EPISODIC_ATTRIBUTES: Final = frozenset({"event", "experience", "milestone"})
"""What happened once is an episode (E-125): it fades, unless it proves itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A claim in the form in which it is compared, with its occasion and the support it lends."""

    claim: Claim
    occasion: StatementContext
    support: Support

    @property
    def key(self) -> str:
        """The name of the memory that it would add; the same claim always gives the same."""
        return f"new:{self.support.claim_hash.hex()}"

    @property
    def begins_us(self) -> int:
        """Since when it holds: as stated, else since it was said. For an ending: when the value ended."""
        said = self.claim
        stated = said.valid_until_us if _is_ending(said) and said.valid_from_us is None else said.valid_from_us
        return self.occasion.occurred_us if stated is None else stated

    @property
    def is_future(self) -> bool:
        """Whether it will hold only later. A bare date may lie a day ahead in another time zone."""
        return self.begins_us > self.occasion.now_us + DAY_US

    @property
    def over(self) -> bool:
        """Whether it had stopped being true when it was said: "until 2022 I worked at …"."""
        until_us = None if _is_ending(self.claim) else self.claim.valid_until_us
        return until_us is not None and until_us <= self.occasion.occurred_us

    def add(self, reason: str, *, status: Status = Status.ACTIVE, begins_us: int | None = None) -> Add:
        """Hold it as a new memory."""
        begins = self.begins_us if begins_us is None else begins_us
        return Add(key=self.key, draft=self._draft(status, begins), support=(self.support,), reason=reason)

    def confirm(self, memory: Memory, reason: str) -> Confirm:
        """Count it as one more saying of a memory."""
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
            metadata=occasion.metadata,
            expires_us=occasion.expires_us,
        )


def _choose_layer(said: Claim) -> Layer:
    """Say in which layer a claim's memory begins."""
    if said.stance in _WORKING_STANCES:
        return Layer.WORKING
    if said.type is MemoryType.FACT and said.attribute in _EPISODIC_ATTRIBUTES:
        return Layer.EPISODIC
    return get_initial_layer(said.type)


def make_candidate(claim: Claim, occasion: StatementContext, read: Claim | None = None) -> Candidate:
    """Bring a claim into the form in which it is compared; its hash is that of the claim as it was read."""
    return Candidate(
        claim=_normalise_claim(claim),
        occasion=occasion,
        support=Support(span=claim.span, claim_hash=claim_hash(read or claim), reader=claim.reader),
    )


def _is_ending(claim: Claim) -> bool:
    return claim.move is UpdateKind.END


def _normalise_claim(claim: Claim) -> Claim:
    """Read an ending, and a claim that names only what no longer holds, as the denial of that value."""
    if claim.stance in UNCERTAIN_STANCES:
        return replace(claim, confidence=min(claim.confidence, _UNCERTAIN_CONFIDENCE_MAX))
    only_prior = not claim.value and claim.prior is not None
    if claim.stance in ASSERTIVE_STANCES and (_is_ending(claim) or only_prior):
        return replace(claim, stance=Stance.NEGATED, value=claim.value or claim.prior, prior=None)
    return claim


def make_claim(draft: Draft, span: Span, move: UpdateKind) -> Claim:
    """Give the claim that a person made by correcting or answering by hand, for its hash."""
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
    """Give the 16 bytes that make applying a claim twice do nothing: what it says, who said it, and where it was read.

    Confidence and importance are left out: a better model may weigh the same sentence anew.
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
