"""Give the memories of a message the type that its caller asked for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from credenda import limits
from credenda.model.claim import Claim, Span
from credenda.model.event import QUARANTINED, Event
from credenda.model.memory import MemoryType
from credenda.text.sentences import leave_out_blanks
from credenda.write.intake.validate import AS_TYPE

_ANY: Final = MemoryType.FACT
"""The type of whatever has no more exact one: asked for, it makes no preference or instruction less exact."""


def keep_requested_type(event: Event, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Give the memories of a message the type that the caller asked for, and store its text if none has (E-012).

    A narrative is one memory, the whole text; the facts of a longer one keep their own types beside it. Quarantined
    text is stored as a candidate that the user can inspect.
    """
    asked = next((flag.removeprefix(AS_TYPE) for flag in event.flags if flag.startswith(AS_TYPE)), None)
    if asked is None and not claims and QUARANTINED in event.flags:
        asked = MemoryType.FACT.value
    if asked is None:
        return tuple(claims)
    kind = MemoryType(asked)
    text = leave_out_blanks(event.text).text.strip()[: limits.MEMORY_TEXT_CHARACTERS]
    typed = [one for one in claims if kind is not MemoryType.NARRATIVE or one.text.strip() == text]
    if typed:
        return tuple(replace(one, type=kind) if one in typed and kind is not _ANY else one for one in claims)
    whole = Claim(text=text, type=kind, span=Span(event.id, 0, len(event.text)), speaker=event.speaker)
    return (*claims, whole)
