"""Feedback and impressions, and their effect on retention.

A retention score is derived: it is updated in place and is not a change of the belief.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from credenda.clock import DAY_US
from credenda.config import Settings
from credenda.errors import NotFound
from credenda.ids import IdKind, parse_id
from credenda.manage.decay import RetentionRules, RetentionScore, UsageCounts, compute_retention
from credenda.model.derived import list_merged_sources
from credenda.model.feedback import JUDGED
from credenda.model.memory import Memory, Status
from credenda.runtime import Parts
from credenda.services.lookup import get_current
from credenda.services.short_ids import resolve_id
from credenda.storage.store import Access, Reader, Retention, Watermark, Writer
from credenda.validation import check_name
from credenda.workers.idle_tasks import flush_accesses
from credenda.write.intake.secrets import check_identifier

__all__ = ["Looked", "Times", "look", "read_retention_rules", "read_times", "record_feedback", "rescore_retention"]


def read_retention_rules(settings: Settings) -> RetentionRules:
    """Return the parameters of the forgetting curves from the settings."""
    return RetentionRules(
        profile=settings.decay_profile,
        mode=settings.retention_mode,
        half_life_days=settings.half_life_days,
        kappa=settings.trust_kappa,
        recall_rate=settings.decay_lambda,
        recall_boost_cap=settings.decay_boost_cap,
    )


@dataclass(frozen=True, slots=True)
class Times:
    """Ages in calendar days or active days, and the times of useful feedback.

    `occasions` are the sessions and days in which a memory was judged useful.
    """

    now_us: int
    active: tuple[int, ...] | None
    occasions: frozenset[tuple[str, int]]

    def days(self, since_us: int) -> float:
        """Return the age of a moment in days."""
        if self.active is None:
            return max(self.now_us - since_us, 0) / DAY_US
        return float(len(self.active) - bisect_right(self.active, since_us // DAY_US))


@dataclass(frozen=True, slots=True)
class Looked:
    """A memory with its uses (age of each in days), its retention, and its age in days."""

    memory: Memory
    uses: tuple[float, ...]
    retained: RetentionScore
    age_days: float
    idle_days: float
    """Days since the memory was last shown, or since it was told if never shown."""


def read_times(reader: Reader, parts: Parts) -> Times:
    """Read the data that ages depend on."""
    active = tuple(reader.usage.active_days()) if parts.settings.decay_clock == "active" else None
    return Times(parts.clock.now_us(), active, reader.usage.occasions())


def look(reader: Reader, memories: Sequence[Memory], rules: RetentionRules, times: Times) -> list[Looked]:
    """Compute the retention of each memory from its row and its use."""
    used: defaultdict[str, list[Access]] = defaultdict(list)
    for access in reader.usage.accesses([memory.id for memory in memories]):
        used[access.memory_id].append(access)
    stated = _read_statement_times(reader, memories)
    return [
        _describe_usage(
            memory, used.get(memory.id, ()), rules, times, stated_us=stated.get(memory.id, memory.created_us)
        )
        for memory in memories
    ]


def _read_statement_times(reader: Reader, memories: Sequence[Memory]) -> dict[str, int]:
    """Return when memories were first told that were stored later than that: imported, or filed with their time.

    Only such memories hold from before they were created, which spares the others the reads. An entry of consolidation
    is as old as its text.
    """
    late = [
        one.id
        for one in memories
        if one.valid_from_us is not None and one.valid_from_us < one.created_us and not list_merged_sources(one)
    ]
    events: defaultdict[str, set[str]] = defaultdict(set)
    for item in reader.evidence(memory_ids=late) if late else ():
        events[item.memory_id].add(item.span.event_id)
    wanted = sorted({event for found in events.values() for event in found})
    said = {one.id: one.occurred_us for one in reader.events(wanted)} if wanted else {}
    return {
        name: min(said[event] for event in found if event in said)
        for name, found in events.items()
        if not found.isdisjoint(said)
    }


def _describe_usage(
    memory: Memory, log: Sequence[Access], rules: RetentionRules, times: Times, *, stated_us: int
) -> Looked:
    uses = tuple(times.days(access.at_us) for access in log if access.shown)
    usage = UsageCounts(
        accesses=max(memory.access_count, len(uses)),
        judged=sum((access.useful > 0) - (access.useful < 0) for access in log),
        passed=sum(not access.useful and (access.session, access.day) in times.occasions for access in log),
    )
    stated_us = min(stated_us, memory.created_us)
    idle = times.days(stated_us if memory.last_accessed_us is None else memory.last_accessed_us)
    kept = compute_retention(
        rules,
        layer=memory.layer,
        trust=memory.trust,
        age_days=idle,
        usage=usage,
        pinned=memory.pinned,
        challenged=memory.status is Status.CHALLENGED,
    )
    return Looked(memory, uses, kept, age_days=times.days(stated_us), idle_days=idle)


def rescore_retention(parts: Parts, writer: Writer, memory_ids: Sequence[str]) -> None:
    """Recompute the retention of some memories, inside a transaction."""
    rules = read_retention_rules(parts.settings)
    found = look(writer, writer.memories(sorted(memory_ids)), rules, read_times(writer, parts))
    writer.put(Retention(scores={one.memory.id: one.retained.score for one in found}))


def record_feedback(parts: Parts, hit_id: str, *, useful: bool, session: str | None = None) -> None:
    """Record whether a hit was useful; feedback on an event counts for its memories.

    It counts once per session and day, and later feedback replaces earlier. Without a `session` it counts for the
    session in which the hit was last shown. Retention, and thereby rank, changes at once; memories that were shown
    beside a useful one but not used lose a little at the next decay.
    """
    where = check_name(session, "session")
    if where is not None:
        check_identifier(where, "session", parts.settings.secrets_policy)
    hit_id = resolve_id(parts, hit_id)
    flush_accesses(parts)

    def work(writer: Writer) -> None:
        now_us = parts.clock.now_us()
        day, judged = now_us // DAY_US, 1 if useful else -1
        ids = _find_judged(writer, hit_id)
        for memory_id in ids:
            place = where if where is not None else _find_last_shown(writer, memory_id)
            writer.put(Access(memory_id=memory_id, session=place, day=day, at_us=now_us, useful=judged))
        writer.put(Watermark(name=JUDGED, value=day, at_us=now_us))
        rescore_retention(parts, writer, ids)

    with parts.active_calls:
        parts.store.commit(parts.user_id, work)


def _find_judged(writer: Writer, hit_id: str) -> list[str]:
    kind, _ = parse_id(hit_id, writer.tenant.tag)
    if kind is not IdKind.EVENT:
        return [get_current(writer, hit_id).id]
    if not writer.events([hit_id]):
        raise NotFound(f"there is no event {hit_id}", fix="copy an id from `search`")
    return sorted({item.memory_id for item in writer.evidence(event_ids=[hit_id])})


def _find_last_shown(reader: Reader, memory_id: str) -> str:
    shown = [access for access in reader.usage.accesses([memory_id]) if access.shown]
    return shown[-1].session if shown else ""
