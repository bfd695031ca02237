"""The fallback extractor: keep the text verbatim, so that a failed extraction loses nothing (R-050, R-052)."""

from __future__ import annotations

from typing import Final

from credenda import limits
from credenda.model.claim import Claim, Span, Turn
from credenda.model.event import Event, Role
from credenda.model.memory import MemoryType

_CONFIDENCE: Final = 0.3
_IMPORTANCE: Final = 0.3


def _cut(text: str) -> tuple[int, int]:
    """Return the bounds of the trimmed text, cut at a word boundary within the limit if possible."""
    start = len(text) - len(text.lstrip())
    stop = len(text.rstrip())
    if stop - start <= limits.VERBATIM_CHARACTERS:
        return start, stop
    stop = start + limits.VERBATIM_CHARACTERS
    space = text.rfind(" ", start + limits.VERBATIM_CHARACTERS // 2, stop)
    return start, space if space > 0 and not text[stop].isspace() else stop


def _speaker(event: Event) -> str:
    return "user" if event.role is Role.USER else event.speaker


class VerbatimExtractor:
    """Makes one provisional memory of low confidence, to be extracted again when the model is back (R-051).

    The assistant's text is kept as an event only.
    """

    def extract(self, turn: Turn) -> list[Claim]:
        """Return the beginning of the event as one provisional claim, or [] for blank text and the assistant."""
        event = turn.event
        start, stop = _cut(event.text)
        if event.role is Role.ASSISTANT or start >= stop:
            return []
        claim = Claim(
            text=event.text[start:stop],
            type=MemoryType.FACT,
            span=Span(event.id, start, stop),
            speaker=_speaker(event),
            confidence=_CONFIDENCE,
            importance=_IMPORTANCE,
            provisional=True,
            topic=event.topic,
            tags=event.tags,
        )
        return [claim]
