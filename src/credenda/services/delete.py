"""Delete a memory, an event, or all events that meet conditions, permanently."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final, TypeVar

from credenda.clock import parse_time
from credenda.errors import Invalid, NotFound
from credenda.ids import IdKind, parse_id
from credenda.model.change import Actor
from credenda.model.event import Event, Source
from credenda.model.memory import Memory, Status
from credenda.model.report import DeletionPlan, DeletionReport
from credenda.runtime import Parts
from credenda.services.short_ids import resolve_id_in
from credenda.storage.store import EventFilter, Writer
from credenda.validation import check_condition, check_member
from credenda.write.forget.delete import Deletion, check_hold, count_matches, find_last_number

__all__ = ["delete", "delete_where", "plan_deletion"]

T = TypeVar("T", Memory, Event)
_BATCH: Final = 50


def delete(parts: Parts, target_id: str, *, actor: Actor = Actor.USER) -> None:
    """Delete a memory or event with everything that only it supports; repeating this changes nothing.

    `actor` is the user, through an interface or a page. Raises `NotFound` for an unknown id, `Conflict` under a legal
    hold.
    """

    def work(writer: Writer) -> None:
        target = _find_target(writer, target_id)
        reason = "removed from a page" if actor is Actor.FILE else "deleted by the user"
        run = Deletion(writer, parts.clock.now_us(), actor=actor, reason=reason)
        if isinstance(target, Memory):
            run.memory(target)
        else:
            run.event(target)

    with parts.active_calls:
        parts.store.commit(parts.user_id, work)
    parts.jobs_ready.set()


class _Planned(Exception):  # noqa: N818 - it only undoes the transaction, and never leaves this module
    """Carries a plan out of the transaction that it undoes."""

    def __init__(self, plan: DeletionPlan) -> None:
        super().__init__()
        self.plan = plan


def plan_deletion(parts: Parts, target_id: str) -> DeletionPlan:
    """Say what `delete` would remove: it deletes in a transaction that is undone. Short ids are accepted.

    Raises `NotFound` for an id that is unknown here, `Conflict` under a legal hold.
    """

    def work(writer: Writer) -> None:
        target = _find_target(writer, resolve_id_in(writer, target_id))
        run = Deletion(writer, parts.clock.now_us())
        if isinstance(target, Memory):
            gone = target.status is Status.DELETED
            events = 0 if gone else len({one.span.event_id for one in writer.evidence(memory_ids=[target.id])})
            run.memory(target)
        else:
            events = 1 if target.text else 0
            run.event(target)
        raise _Planned(DeletionPlan(id=target.id, text=target.text, events=events, memories=run.deleted))

    try:
        with parts.active_calls:
            parts.store.commit(parts.user_id, work)
    except _Planned as planned:
        return planned.plan
    raise AssertionError(target_id)


def _find_target(writer: Writer, target_id: str) -> Memory | Event:
    """Return the memory or event that an id names."""
    kind, _ = parse_id(target_id, writer.tenant.tag)
    if kind is IdKind.MEMORY:
        return _require_found(writer.memories([target_id]), target_id)
    if kind is IdKind.EVENT:
        return _require_found(writer.events([target_id]), target_id)
    raise NotFound(f"{target_id} is neither memory nor event", fix="give an id that begins with m or e")


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


def _require_found(found: list[T], target_id: str) -> T:
    if not found:
        raise NotFound(f"there is nothing called {target_id}", fix="copy an id from `list` or `search`")
    return found[0]
