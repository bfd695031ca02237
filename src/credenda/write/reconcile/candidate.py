"""One claim on its occasion, and the changes that carry it: the memory it would make, the one it confirms. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Final

from credenda.clock import DAY_US
from credenda.model.change import Add, Confirm, Support
from credenda.model.claim import Claim, Move, Span
from credenda.model.memory import Draft, Layer, Memory, MemoryType, Stance, Status, layer_of, type_class
from credenda.text.normalize import attribute_key, name_key, text_key, value_key
from credenda.write.reconcile.inputs import Occasion
from credenda.write.reconcile.slots import FIRM, UNCERTAIN

__all__ = ["Saying", "claim_hash", "claim_of", "saying_of"]

_UNCERTAIN_CONFIDENCE_MAX: Final = 0.3
_HASH_BYTES: Final = 16
_PASSING: Final = UNCERTAIN | {Stance.CONSIDERED}
"""Stances whose memories begin in the working layer, where what is not taken up again fades first."""


_HAPPENINGS: Final = frozenset({"event", "experience", "milestone"})
"""What happened once is an episode (E-125): it fades, unless it proves itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """A claim in the form in which it is compared, with its occasion and the support it lends."""

    claim: Claim
    occasion: Occasion
    support: Support

    @property
    def key(self) -> str:
        """The name of the memory that it would add; the same claim always gives the same."""
        return f"new:{self.support.claim_hash.hex()}"

    @property
    def begins_us(self) -> int:
        """Since when it holds: as stated, else since it was said. For an ending: when the value ended."""
        said = self.claim
        stated = said.valid_until_us if _ends(said) and said.valid_from_us is None else said.valid_from_us
        return self.occasion.occurred_us if stated is None else stated

    @property
    def comes(self) -> bool:
        """Whether it will hold only later. A bare date may lie a day ahead in another time zone."""
        return self.begins_us > self.occasion.now_us + DAY_US

    @property
    def over(self) -> bool:
        """Whether it had stopped being true when it was said: "until 2022 I worked at …"."""
        until_us = None if _ends(self.claim) else self.claim.valid_until_us
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
            layer=_layer(said),
            status=status,
            valid_from_us=begins_us,
            valid_until_us=None if _ends(said) else said.valid_until_us,
            trust=occasion.trust,
            provisional=said.provisional,
            source_session=occasion.session,
            tags=tuple(dict.fromkeys(occasion.tags + said.tags)),
            metadata=occasion.metadata,
            expires_us=occasion.expires_us,
        )


def _layer(said: Claim) -> Layer:
    """Say in which layer a claim's memory begins."""
    if said.stance in _PASSING:
        return Layer.WORKING
    if said.type is MemoryType.FACT and said.attribute in _HAPPENINGS:
        return Layer.EPISODIC
    return layer_of(said.type)


def saying_of(claim: Claim, occasion: Occasion, read: Claim | None = None) -> Saying:
    """Bring a claim into the form in which it is compared; its hash is that of the claim as it was read."""
    return Saying(
        claim=_plain(claim),
        occasion=occasion,
        support=Support(span=claim.span, claim_hash=claim_hash(read or claim), reader=claim.reader),
    )


def _ends(claim: Claim) -> bool:
    return claim.move is Move.END


def _plain(claim: Claim) -> Claim:
    """Read an ending, and a claim that names only what no longer holds, as the denial of that value."""
    if claim.stance in UNCERTAIN:
        return replace(claim, confidence=min(claim.confidence, _UNCERTAIN_CONFIDENCE_MAX))
    only_prior = not claim.value and claim.prior is not None
    if claim.stance in FIRM and (_ends(claim) or only_prior):
        return replace(claim, stance=Stance.NEGATED, value=claim.value or claim.prior, prior=None)
    return claim


def claim_of(draft: Draft, span: Span, move: Move) -> Claim:
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
        name_key(claim.speaker),
        claim.entity and name_key(claim.entity),
        claim.attribute and attribute_key(claim.attribute),
        claim.value and value_key(claim.value),
        claim.scope and name_key(claim.scope),
        type_class(claim.type),
        claim.move,
        claim.stance,
        text_key(claim.text),
        claim.span.event_id,
        str(claim.span.start),
        str(claim.span.stop),
    )
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    for part in parts:
        data = (part or "").encode()
        digest.update(len(data).to_bytes(4, "big") + data)
    return digest.digest()
