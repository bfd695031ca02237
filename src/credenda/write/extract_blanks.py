"""Extract an event of which words were blanked, as if they had never stood there. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from credenda.model.claim import Claim, Extractor, Span, Turn
from credenda.model.event import Event
from credenda.text.sentences import has_blanks, leave_out_blanks


def extract_around_blanks(extractor: Extractor, event: Event, before: Sequence[Event] = ()) -> list[Claim]:
    """Extract the claims of an event and leave out its blanks; their spans are those of the whole text."""
    if not has_blanks(event.text):
        return extractor.extract(Turn(event=event, before=tuple(before)))
    left = leave_out_blanks(event.text)
    claims = extractor.extract(Turn(event=replace(event, text=left.text), before=tuple(before)))
    return [replace(one, span=Span(one.span.event_id, *left.to_whole(one.span.start, one.span.stop))) for one in claims]
