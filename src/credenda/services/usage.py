"""How memories are used, and what that does to how much of them is retained.

A retention score is a derived value of a memory: it is written in place and is no change of the belief.
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
from credenda.model.feedback import JUDGED
from credenda.model.memory import Memory, Status
from credenda.operations.naming import full_id
from credenda.runtime import Parts
from credenda.services.lookup import get_current
from credenda.storage.store import Access, Reader, Retention, Watermark, Writer
from credenda.validation import check_name
from credenda.workers.idle_tasks import flush_accesses

__all__ = ["Looked", "Times", "look", "read_retention_rules", "read_times", "record_feedback", "rescore_retention"]


def read_retention_rules(settings: Settings) -> RetentionRules:
    """Take the numbers of the forgetting curves from the settings."""
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
    """How old a moment is, in calendar days or in days on which anything was said, and when anything was of use.

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
    """A memory, how it was used (the age of each use in days), what of it is retained, and its age in days."""

    memory: Memory
    uses: tuple[float, ...]
    retained: RetentionScore
    age_days: float
    idle_days: float
    """Days since it was last shown, or else since it was first held."""


def read_times(reader: Reader, parts: Parts) -> Times:
    """Read what ages are counted by."""
    active = tuple(reader.usage.active_days()) if parts.settings.decay_clock == "active" else None
    return Times(parts.clock.now_us(), active, reader.usage.occasions())


def look(reader: Reader, memories: Sequence[Memory], rules: RetentionRules, times: Times) -> list[Looked]:
    """Compute what is retained of each memory, from its row and its use."""
    used: defaultdict[str, list[Access]] = defaultdict(list)
    for access in reader.usage.accesses([memory.id for memory in memories]):
        used[access.memory_id].append(access)
    return [_describe_usage(memory, used.get(memory.id, ()), rules, times) for memory in memories]


def _describe_usage(memory: Memory, log: Sequence[Access], rules: RetentionRules, times: Times) -> Looked:
    uses = tuple(times.days(access.at_us) for access in log if access.shown)
    usage = UsageCounts(
        accesses=max(memory.access_count, len(uses)),
        judged=sum((access.useful > 0) - (access.useful < 0) for access in log),
        passed=sum(not access.useful and (access.session, access.day) in times.occasions for access in log),
    )
    since = memory.created_us if memory.last_accessed_us is None else memory.last_accessed_us
    idle = times.days(since)
    kept = compute_retention(
        rules,
        layer=memory.layer,
        trust=memory.trust,
        age_days=idle,
        usage=usage,
        pinned=memory.pinned,
        challenged=memory.status is Status.CHALLENGED,
    )
    return Looked(memory, uses, kept, age_days=times.days(memory.created_us), idle_days=idle)


def rescore_retention(parts: Parts, writer: Writer, memory_ids: Sequence[str]) -> None:
    """Compute afresh, inside a transaction, how much of some memories is retained."""
    rules = read_retention_rules(parts.settings)
    found = look(writer, writer.memories(sorted(memory_ids)), rules, read_times(writer, parts))
    writer.put(Retention(scores={one.memory.id: one.retained.score for one in found}))


def record_feedback(parts: Parts, hit_id: str, *, useful: bool, session: str | None = None) -> None:
    """Say whether a hit was of use; for an event it counts for the memories made from it.

    It counts once a session and day, and the last word stands; without a `session` it is said of the one in which the
    hit was last shown. What is retained of the memories moves at once, and with it their rank; what was shown beside a
    useful one and not used loses a little with the next run of decay.
    """
    where = check_name(session, "session")
    hit_id = full_id(parts, hit_id)
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
