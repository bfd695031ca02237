"""Keep the words of a message as a memory of the type that its caller asked for. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from credenda import limits
from credenda.model.claim import Claim, Span
from credenda.model.event import QUARANTINED, Event
from credenda.model.memory import MemoryType
from credenda.text.blanks import leave_out_blanks
from credenda.write.intake.validate import AS_TYPE

__all__ = ["keep_requested_type"]


def keep_requested_type(event: Event, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Store the verbatim text as a memory if the caller asked for its type (E-012).

    A narrative is always stored whole. Text of another type is stored only if extraction found nothing, and so is
    quarantined text, as a candidate that the user can inspect.
    """
    asked = next((flag.removeprefix(AS_TYPE) for flag in event.flags if flag.startswith(AS_TYPE)), None)
    if asked is None and not claims and QUARANTINED in event.flags:
        asked = MemoryType.FACT.value
    if asked is None or (claims and asked != MemoryType.NARRATIVE):
        return tuple(claims)
    text = leave_out_blanks(event.text).text.strip()[: limits.MEMORY_TEXT_CHARACTERS]
    whole = Claim(text=text, type=MemoryType(asked), span=Span(event.id, 0, len(event.text)), speaker=event.speaker)
    return (*claims, whole)
