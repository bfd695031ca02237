"""Delete every event that meets conditions."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from credenda.clock import parse_time
from credenda.errors import Invalid
from credenda.model.event import Source
from credenda.model.report import DeletionReport
from credenda.runtime import Parts
from credenda.storage.store import EventFilter, Writer
from credenda.validation import check_condition, check_member
from credenda.write.forget.delete import Deletion
from credenda.write.forget.matches import check_hold, count_matches, find_last_number

__all__ = ["delete_where"]

_BATCH: Final = 50


def delete_where(
    parts: Parts,
    *,
    session: str | None = None,
    topic: str | None = None,
    source: str | None = None,
    before: datetime | str | None = None,
    dry_run: bool = False,
) -> DeletionReport:
    """Delete every event that meets all conditions, and everything that only they support; `dry_run` only counts."""
    wanted = _check_conditions(parts, session, topic, (source, before))
    if dry_run:
        with parts.store.reader(parts.user_id) as reader:
            check_hold(reader)
            events, memories = count_matches(reader, wanted)
        return DeletionReport(events=events, memories=memories, dry_run=True)
    events = memories = after = 0

    def work(writer: Writer) -> tuple[int, int, int | None]:
        run = Deletion(writer, parts.clock.now_us(), extractor=parts.extractor)
        found = writer.find_events(replace(wanted, after=after))
        for event in found:
            run.event(event)
        return sum(bool(event.text) for event in found), run.deleted, find_last_number(found, writer.tenant.tag)

    while True:
        with parts.active_calls:
            batch, gone, last = parts.store.commit(parts.user_id, work)
        if last is None:
            parts.jobs_ready.set()
            return DeletionReport(events=events, memories=memories, log_emptied=parts.store.log_emptied)
        events, memories, after = events + batch, memories + gone, last


def _check_conditions(
    parts: Parts, session: str | None, topic: str | None, rest: tuple[str | None, datetime | str | None]
) -> EventFilter:
    """Validate the conditions; the filter includes redacted events, so that their remaining text is deleted as well."""
    source, before = rest
    if session is None and topic is None and source is None and before is None:
        raise Invalid("delete_where needs a condition", why="without one it would delete everything", fix="name one")
    before_us = None if before is None else parse_time(before, parts.settings.zone)
    return EventFilter(
        session=check_condition(session, "session"),
        topic=check_condition(topic, "topic"),
        source=None if source is None else check_member(Source, source, "source").value,
        occurred_before_us=before_us,
        redacted=True,
        limit=_BATCH,
    )
