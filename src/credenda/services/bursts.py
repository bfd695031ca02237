"""Hold back the messages of a model that writes to one session unusually often."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from credenda import limits
from credenda.model.event import QUARANTINED
from credenda.runtime import Parts
from credenda.write.intake.validate import Accepted
from credenda.write.reconcile.relayed import is_by_model

__all__ = ["hold_back_burst"]

_REASON: Final = (
    f"quarantined: a model made more than {limits.BURST_CALLS} calls to this session within {limits.BURST_SECONDS} "
    "seconds; a candidate until it is confirmed"
)


def hold_back_burst(parts: Parts, accepted: Accepted) -> Accepted:
    """Count a call, and quarantine its events if the model has made too many."""
    written = [event for event in accepted.events if is_by_model(event)]
    if not written:
        return accepted
    calls = parts.model_calls.count(written[0].session, parts.clock.now_us())
    if calls <= limits.BURST_CALLS:
        return accepted
    events = tuple(
        replace(event, flags=tuple(dict.fromkeys((*event.flags, QUARANTINED)))) if is_by_model(event) else event
        for event in accepted.events
    )
    return replace(accepted, events=events, refused=(*accepted.refused, _REASON))
