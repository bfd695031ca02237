"""Deleting for good: a memory, an event, or all that meets conditions."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final, TypeVar

from credenda.clock import parse_time
from credenda.errors import Invalid, NotFound
from credenda.ids import IdKind, parse_id
from credenda.model.change import Actor
from credenda.model.event import Event, Source
from credenda.model.memory import Memory
from credenda.model.report import DeletionReport
from credenda.runtime import Parts
from credenda.storage.store import EventFilter, Writer
from credenda.validation import check_condition, check_member
from credenda.write.forget.delete import Deletion, check_hold, count_matches, find_last_number

__all__ = ["delete", "delete_where"]

T = TypeVar("T", Memory, Event)
_BATCH: Final = 50


def delete(parts: Parts, target_id: str, *, actor: Actor = Actor.USER) -> None:
    """Delete a memory or an event with all that rests on it alone; repeating it does nothing.

    `actor` is a person, at a door or in a page. Raises `NotFound` for an id that is unknown here, `Conflict` under a
    legal hold.
    """

    def work(writer: Writer) -> None:
        kind, _ = parse_id(target_id, writer.tenant.tag)
        reason = "removed from a page" if actor is Actor.FILE else "deleted by the user"
        run = Deletion(writer, parts.clock.now_us(), actor=actor, reason=reason)
        if kind is IdKind.MEMORY:
            run.memory(_require_found(writer.memories([target_id]), target_id))
        elif kind is IdKind.EVENT:
            run.event(_require_found(writer.events([target_id]), target_id))
        else:
            raise NotFound(f"{target_id} is neither memory nor event", fix="give an id that begins with m or e")

    with parts.active_calls:
        parts.store.commit(parts.user_id, work)
    parts.jobs_ready.set()


def delete_where(
    parts: Parts,
    *,
    session: str | None = None,
    topic: str | None = None,
    source: str | None = None,
    before: datetime | str | None = None,
    dry_run: bool = False,
) -> DeletionReport:
    """Delete every event that meets all conditions, and what rests on those events alone; `dry_run` only counts."""
    wanted = _check_conditions(parts, session, topic, (source, before))
    if dry_run:
        with parts.store.reader(parts.user_id) as reader:
            check_hold(reader)
            events, memories = count_matches(reader, wanted)
        return DeletionReport(events=events, memories=memories, dry_run=True)
    events = memories = after = 0

    def work(writer: Writer) -> tuple[int, int, int | None]:
        run = Deletion(writer, parts.clock.now_us())
        found = writer.find_events(replace(wanted, after=after))
        for event in found:
            run.event(event)
        return sum(bool(event.text) for event in found), run.deleted, find_last_number(found, writer.tenant.tag)

    while True:
        with parts.active_calls:
            batch, gone, last = parts.store.commit(parts.user_id, work)
        if last is None:
            parts.jobs_ready.set()
            return DeletionReport(events=events, memories=memories)
        events, memories, after = events + batch, memories + gone, last


def _check_conditions(
    parts: Parts, session: str | None, topic: str | None, rest: tuple[str | None, datetime | str | None]
) -> EventFilter:
    """Check the conditions; an event of which one sentence was deleted is redacted too, and its rest must go."""
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


def _require_found(found: list[T], target_id: str) -> T:
    if not found:
        raise NotFound(f"there is nothing called {target_id}", fix="copy an id from `list` or `search`")
    return found[0]
