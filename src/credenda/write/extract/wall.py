"""Reading by the clock on the wall: days begin at midnight in the person's zone, not in UTC."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, tzinfo

from credenda.clock import from_local_time, to_local_time
from credenda.model.claim import Claim, Extractor, Turn
from credenda.model.event import Event

__all__ = ["by_the_wall"]


def by_the_wall(extractor: Extractor, turn: Turn, zone: tzinfo) -> list[Claim]:
    """Let an extractor that counts days in UTC read a turn as if UTC were what the wall shows, and put times back.

    A day of 23 or 25 hours is a day like any other to it.
    """
    if zone is UTC:
        return extractor.extract(turn)
    shown = replace(turn, event=_moved(turn.event, zone), before=tuple(_moved(event, zone) for event in turn.before))
    return [_back(claim, shown.event, turn.event, zone) for claim in extractor.extract(shown)]


def _moved(event: Event, zone: tzinfo) -> Event:
    return replace(event, occurred_us=to_local_time(event.occurred_us, zone))


def _back(claim: Claim, shown: Event, said: Event, zone: tzinfo) -> Claim:
    """Put the times of a claim back; the moment of the saying is known, even where the wall shows two."""

    def back(wall_us: int | None) -> int | None:
        if wall_us is None:
            return None
        return said.occurred_us if wall_us == shown.occurred_us else from_local_time(wall_us, zone)

    return replace(claim, valid_from_us=back(claim.valid_from_us), valid_until_us=back(claim.valid_until_us))
