"""Hold back the messages of a model that writes to one session unusually often."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from credenda import limits
from credenda.model.event import QUARANTINED, Source
from credenda.runtime import Parts
from credenda.write.intake.validate import Accepted

_REASON: Final = (
    f"quarantined: a model made more than {limits.BURST_CALLS} calls to this session within {limits.BURST_SECONDS} "
    "seconds; a candidate until it is confirmed"
)


def hold_back_burst(parts: Parts, accepted: Accepted) -> Accepted:
    """Count a call, and quarantine its events if the model has made too many."""
    first = next(iter(accepted.events), None)
    if first is None or first.source is not Source.AI:  # of all events of a call
        return accepted
    calls = parts.model_calls.count(first.session, parts.clock.now_us())
    if calls <= limits.BURST_CALLS:
        return accepted
    events = tuple(replace(event, flags=tuple(dict.fromkeys((*event.flags, QUARANTINED)))) for event in accepted.events)
    return replace(accepted, events=events, refused=(*accepted.refused, _REASON))
