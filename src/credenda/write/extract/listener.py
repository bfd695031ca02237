"""The extraction state of one event, and the conversion of readings to claims."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from credenda import limits
from credenda.model.claim import CONFIDENCE_MAX, Claim, Span, UpdateKind
from credenda.model.event import Event
from credenda.model.memory import Memory
from credenda.text.sentences import TextSpan
from credenda.write.extract.lexicon import expression
from credenda.write.extract.readings import Reading

__all__ = ["Listener", "claim_of"]


@dataclass(slots=True, kw_only=True)
class Listener:
    """The state while one event is extracted."""

    event: Event
    speaker: str
    owner: str | None
    claims: list[Claim] = field(default_factory=list[Claim])
    last_person: str | None = None
    last_start: int = 0
    known: tuple[Memory, ...] = ()
    noted: bool = False
    assisted: bool = False
    """Whether the message may address the assistant."""
    ironic: bool = False


def claim_of(listener: Listener, span: TextSpan, reading: Reading) -> Claim:
    """Turn a reading into a claim of its event: with text, speaker, and a confidence that its stance allows."""
    event = listener.event
    text = event.text[span.start : span.stop][: limits.MEMORY_TEXT_CHARACTERS]
    confidence = min(reading.confidence, CONFIDENCE_MAX.get(reading.stance, 1.0))
    return Claim(
        text=text,
        type=reading.type,
        span=Span(event.id, span.start, span.start + len(text)),
        speaker=listener.speaker,
        entity=reading.entity,
        attribute=reading.attribute,
        value=reading.value,
        prior=reading.prior,
        scope=reading.scope,
        cardinality=reading.cardinality,
        stance=reading.stance,
        move=_move(reading, text),
        confidence=confidence,
        importance=reading.importance,
        valid_from_us=reading.since_us,
        valid_until_us=reading.until_us,
        topic=event.topic,
        tags=event.tags,
    )


def _move(reading: Reading, text: str) -> UpdateKind:
    """Treat "actually … now" as a change unless the earlier value is named as wrong, and "not X any more, Y"."""
    if reading.move is not UpdateKind.CORRECT:
        return reading.move
    changed = expression("acts", "is_now").search(text) is not None if reading.prior is None else _ends(reading, text)
    return UpdateKind.CHANGE if changed else UpdateKind.CORRECT


def _ends(reading: Reading, text: str) -> bool:
    """Return whether a text says of the earlier value that it was true: "no longer X", "not X any more"."""
    old = re.escape(reading.prior or "")
    said = rf"\b(?:no longer|no more)\b[^,;.]{{0,20}}\b{old}(?!\w)|\b{old}[^\w,;.]+any ?(?:more|longer)\b"
    return re.search(said, text, re.IGNORECASE) is not None
