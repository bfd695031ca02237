"""Delete every event that meets conditions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Final

from credenda import limits
from credenda.clock import parse_time
from credenda.errors import Invalid
from credenda.model.deletion import SharedMemory
from credenda.model.event import Source
from credenda.model.report import DeletionReport
from credenda.runtime import Parts
from credenda.services.delete import attempt
from credenda.storage.store import EventFilter, Reader, Writer
from credenda.validation import check_condition, check_member
from credenda.write.forget.delete import Deletion
from credenda.write.forget.matches import find_last_number
from credenda.write.forget.scope import find_mentions

__all__ = ["delete_where"]

_BATCH: Final = 50


@dataclass(slots=True)
class _Tally:
    """Sum up the batches of a deletion. A memory that other messages state too keeps its first id here."""

    events: int = 0
    taken: dict[str, str] = field(default_factory=dict[str, str])
    kept: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    told: set[str] = field(default_factory=set[str])
    first: dict[str, str] = field(default_factory=dict[str, str])
    """The first ids of memories that got another one."""

    def add(self, run: Deletion, events: int) -> None:
        """Add a batch."""
        self.events += events
        self.told |= run.told
        for before, after in run.renamed.items():
            self.first[after] = self.first.get(before, before)
        for name, (text, left) in run.kept.items():
            known = self.first.get(name, name)
            self.kept[known] = (self.kept.get(known, (text, ""))[0], left)
        for name, text in run.removed.items():
            known = self.first.get(name, name)
            self.taken[known] = self.kept.pop(known, (text, ""))[0]

    def report(self, reader: Reader, *, dry_run: bool) -> DeletionReport:
        """Name the memories; `reader` sees the state after the deletion."""
        shortened = {name for name, (text, left) in self.kept.items() if text != left}
        mentions = find_mentions(reader, self.told, self.taken.keys() | shortened | self.first.keys())
        latest = {first: name for name, first in self.first.items()}

        def name(found: Iterable[tuple[str, str, str]]) -> tuple[SharedMemory, ...]:
            first = islice(found, limits.DELETION_NAMES)
            if dry_run:
                return tuple(SharedMemory(id=one, text=text, left=left) for one, text, left in first)
            return tuple(SharedMemory(id=latest.get(one, one), text="") for one, _, _ in first)

        return DeletionReport(
            events=self.events,
            memories=len(self.taken),
            dry_run=dry_run,
            kept=name((one, text, left) for one, (text, left) in self.kept.items()),
            kept_total=len(self.kept),
            taken=name((one, text, "") for one, text in self.taken.items()),
            mentions=name((one.id, one.text, one.text) for one in mentions),
            mentions_total=len(mentions),
        )


def delete_where(
    parts: Parts,
    *,
    session: str | None = None,
    topic: str | None = None,
    source: str | None = None,
    before: datetime | str | None = None,
    dry_run: bool = False,
) -> DeletionReport:
    """Delete every event that meets all conditions, and everything that only they support.

    `dry_run` does the same in a transaction that is undone.
    """
    wanted = _check_conditions(parts, session, topic, (source, before))

    def work(writer: Writer, after: int) -> tuple[Deletion, int, int | None]:
        run = Deletion(writer, parts.clock.now_us(), extractor=parts.extractor)
        found = writer.find_events(replace(wanted, after=after))
        for event in found:
            run.event(event)
        return run, sum(bool(event.text) for event in found), find_last_number(found, writer.tenant.tag)

    def work_all(writer: Writer) -> DeletionReport:
        tally, after = _Tally(), 0
        while after is not None:
            run, events, after = work(writer, after)
            tally.add(run, events)
        return tally.report(writer, dry_run=True)

    if dry_run:
        return attempt(parts, work_all)
    tally, after = _Tally(), 0
    while after is not None:
        with parts.active_calls:
            run, events, after = parts.store.commit(parts.user_id, partial(work, after=after))
        tally.add(run, events)
    parts.jobs_ready.set()
    with parts.store.reader(parts.user_id) as reader:
        report = tally.report(reader, dry_run=False)
    return replace(report, log_emptied=parts.store.log_emptied)


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
