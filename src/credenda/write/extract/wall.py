"""Extract in the user's time zone: days begin at local midnight, not at midnight UTC."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, tzinfo

from credenda.clock import from_local_time, to_local_time
from credenda.model.claim import Claim, Extractor, Turn
from credenda.model.event import Event

__all__ = ["by_the_wall"]


def by_the_wall(extractor: Extractor, turn: Turn, zone: tzinfo) -> list[Claim]:
    """Run an extractor that counts days in UTC on local times, and convert the times of its claims back.

    A day of 23 or 25 hours counts as any other.
    """
    if zone is UTC:
        return extractor.extract(turn)
    shown = replace(turn, event=_moved(turn.event, zone), before=tuple(_moved(event, zone) for event in turn.before))
    return [_back(claim, shown.event, turn.event, zone) for claim in extractor.extract(shown)]


def _moved(event: Event, zone: tzinfo) -> Event:
    return replace(event, occurred_us=to_local_time(event.occurred_us, zone))


def _back(claim: Claim, shown: Event, said: Event, zone: tzinfo) -> Claim:
    """Convert the times of a claim back; the time of the statement is known, even if local time is ambiguous."""

    def back(wall_us: int | None) -> int | None:
        if wall_us is None:
            return None
        return said.occurred_us if wall_us == shown.occurred_us else from_local_time(wall_us, zone)

    return replace(claim, valid_from_us=back(claim.valid_from_us), valid_until_us=back(claim.valid_until_us))
