"""Diff: the changes in belief between two times."""

from __future__ import annotations

from datetime import datetime
from typing import cast, get_args

from credenda.clock import EARLIEST_US, format_time
from credenda.errors import Invalid
from credenda.model.diff import Axis, Diff
from credenda.read.load_diff import load_difference
from credenda.runtime import Parts
from credenda.text.times import parse_period
from credenda.validation import check_name

__all__ = ["diff"]


def diff(
    parts: Parts,
    since: datetime | str,
    until: datetime | str | None,
    *,
    axis: str = "known",
    topic: str | None = None,
    entity: str | None = None,
) -> Diff:
    """Return the changes in belief from one time to another or to now; a date includes its whole day."""
    if axis not in get_args(Axis):
        raise Invalid(f"{axis!r} is not a time axis", fix=f"choose among {', '.join(get_args(Axis))}")
    zone, now_us = parts.settings.zone, parts.clock.now_us()
    first = parse_period(since, zone, now_us)
    last = parse_period("now" if until is None else until, zone, now_us)
    since_us = first.from_us if first.moment else max(EARLIEST_US, first.from_us - 1)
    until_us = last.until_us if last.moment else _choose_end_us(last.from_us, last.until_us, now_us)
    if first.from_us > until_us:
        raise Invalid(
            "a diff goes from the earlier time to the later",
            why=f"{format_time(first.from_us)} comes after {format_time(until_us)}",
            fix="swap them",
        )
    with parts.store.reader(parts.user_id) as reader:
        return load_difference(
            reader,
            cast("Axis", axis),
            since_us,
            until_us,
            topic=check_name(topic, "topic"),
            entity=check_name(entity, "entity"),
        )


def _choose_end_us(from_us: int, until_us: int, now_us: int) -> int:
    return now_us if from_us <= now_us < until_us else until_us - 1
