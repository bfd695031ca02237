"""Retention scores, and moves of memories between layers and to the archive.

`manage` decides (pure); this module reads in batches and writes in short transactions. A retention score is derived: it
is updated in place and is not a change of the belief.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from credenda.clock import DAY_US
from credenda.config import Settings, replace_settings
from credenda.errors import Invalid, NotFound
from credenda.ids import IdKind, parse_id, parse_id_number
from credenda.manage.lifecycle import (
    CURVES,
    LifecycleRules,
    LifecycleState,
    RetentionRules,
    RetentionScore,
    UsageCounts,
    UsageRecord,
    compute_curve,
    compute_half_life,
    compute_importance,
    compute_retention,
    decide_lifecycle,
    draw_retention,
)
from credenda.model.change import Actor, Change, SetLayer, SetStatus
from credenda.model.evaluation import JUDGED
from credenda.model.memory import Layer, Memory, Status, list_merged_sources
from credenda.model.query import EarnedImportance
from credenda.model.report import (
    DecayReport,
    LifecycleReport,
    RetentionCurve,
    RetentionCurves,
    RetentionPoint,
    ScoreMove,
)
from credenda.portability.atomic_write import replace_file
from credenda.runtime import Parts
from credenda.services.browse import get_current, resolve_id
from credenda.storage.store import Access, MemoryFilter, Reader, Retention, Watermark, Writer
from credenda.validation import check_name
from credenda.workers.loop import flush_accesses
from credenda.write.apply import Application, apply
from credenda.write.intake.secrets import check_identifier

# Feedback and impressions, and their effect on retention.


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
    showings: int


def read_times(reader: Reader, parts: Parts) -> Times:
    """Read the data that ages depend on."""
    active = tuple(reader.usage.active_days()) if parts.settings.decay_clock == "active" else None
    return Times(parts.clock.now_us(), active, reader.usage.occasions())


def look(reader: Reader, memories: Sequence[Memory], rules: RetentionRules, times: Times) -> list[Looked]:
    """Compute the retention of each memory from its row and its use."""
    used: defaultdict[str, list[Access]] = defaultdict(list)
    for access in reader.usage.accesses([memory.id for memory in memories]):
        used[access.memory_id].append(access)
    # Return when memories were first told that were stored later than that: imported, or filed with their time.
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
    stated = {
        name: min(said[event] for event in found if event in said)
        for name, found in events.items()
        if not found.isdisjoint(said)
    }
    return [
        _describe_usage(
            memory, used.get(memory.id, ()), rules, times, stated_us=stated.get(memory.id, memory.created_us)
        )
        for memory in memories
    ]


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
    shown = sum(access.shown for access in log)
    return Looked(memory, uses, kept, age_days=times.days(stated_us), idle_days=idle, showings=shown)


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
        kind, _ = parse_id(hit_id, writer.tenant.tag)
        if kind is not IdKind.EVENT:
            ids = [get_current(writer, hit_id).id]
        else:
            if not writer.events([hit_id]):
                raise NotFound(f"there is no event {hit_id}", fix="copy an id from `search`")
            ids = sorted({item.memory_id for item in writer.evidence(event_ids=[hit_id])})
        for memory_id in ids:
            if where is not None:
                place = where
            else:
                shown = [access for access in writer.usage.accesses([memory_id]) if access.shown]
                place = shown[-1].session if shown else ""
            writer.put(Access(memory_id=memory_id, session=place, day=day, at_us=now_us, useful=judged))
        writer.put(Watermark(name=JUDGED, value=day, at_us=now_us))
        rescore_retention(parts, writer, ids)

    with parts.active_calls:
        parts.store.commit(parts.user_id, work)


# Recompute the retention of current memories.


_BATCH: Final = 1_000


WRITE_BATCH: Final = 200
"""Rows per transaction: about a millisecond, so that other writers do not wait."""


RETAINED_STATUSES: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})


_SAME: Final = 5e-7


_MARK: Final = "decay"


def walk_batches(
    parts: Parts, wanted: MemoryFilter, looking: Callable[[Reader, list[Memory]], list[Looked]]
) -> Iterator[list[Looked]]:
    """Yield batches of memories, newest first, each read in its own view."""
    below = wanted.below
    while True:
        with parts.store.reader(parts.user_id) as reader:
            tag = reader.tenant.tag
            asked = MemoryFilter(statuses=wanted.statuses, layers=wanted.layers, below=below, limit=_BATCH)
            found = reader.find(asked)
            looked = looking(reader, found)
        if not found:
            return
        yield looked
        below = parse_id_number(found[-1].id, IdKind.MEMORY, tag)


def decay(parts: Parts, *, dry_run: bool = False) -> DecayReport:
    """Recompute the retention score of every current memory (R-088…R-100, E-049…E-055).

    Only scores change, no beliefs. An interrupted run is continued by the next.
    """
    flush_accesses(parts)
    rules = read_retention_rules(parts.settings)
    with parts.store.reader(parts.user_id) as reader:
        times = read_times(reader, parts)
        mark = None if dry_run else reader.duties.watermark(_MARK)
        tag = reader.tenant.tag
    examined = updated = 0
    moves: list[ScoreMove] = []
    wanted = MemoryFilter(statuses=RETAINED_STATUSES, below=mark)
    for batch in walk_batches(parts, wanted, lambda reader, found: look(reader, found, rules, times)):
        examined += len(batch)
        moved = [
            ScoreMove(memory_id=one.memory.id, before=before, after=after)
            for one in batch
            for before, after in [(one.memory.decay_score, one.retained.score)]
            if before is None or abs(before - after) > _SAME
        ]
        updated += len(moved)
        if dry_run:
            moves += moved
            continue
        _write_scores(parts, moved, parse_id_number(batch[-1].memory.id, IdKind.MEMORY, tag))
    if not dry_run:
        _write_scores(parts, (), None)
    return DecayReport(examined=examined, updated=updated, profile=rules.profile, dry_run=dry_run, moves=tuple(moves))


def walk_retention(parts: Parts, statuses: frozenset[Status]) -> Iterator[list[tuple[Memory, float]]]:
    """Yield batches of memories with these statuses, newest first, with their current retention."""
    rules = read_retention_rules(parts.settings)
    with parts.store.reader(parts.user_id) as reader:
        times = read_times(reader, parts)
    wanted = MemoryFilter(statuses=statuses)
    for batch in walk_batches(parts, wanted, lambda reader, found: look(reader, found, rules, times)):
        yield [(one.memory, one.retained.score) for one in batch]


def _write_scores(parts: Parts, moves: Sequence[ScoreMove], mark: int | None) -> None:
    """Write the scores of a batch and the progress of the run atomically; None in `mark` ends the run."""
    now_us = parts.clock.now_us()

    def work(writer: Writer) -> None:
        if moves:
            writer.put(Retention(scores={move.memory_id: move.after for move in moves}))
        writer.put(Watermark(name=_MARK, value=mark, at_us=now_us))

    parts.store.commit(parts.user_id, work)


def run_lifecycle(parts: Parts, *, dry_run: bool = False, rules: LifecycleRules | None = None) -> LifecycleReport:
    """Promote proven memories and archive faded ones (E-059…E-064); a second run finds nothing to do."""
    flush_accesses(parts)
    curves = read_retention_rules(parts.settings)
    with parts.store.reader(parts.user_id) as reader:
        times = read_times(reader, parts)
    examined = 0
    decided: list[Change] = []
    wanted = MemoryFilter(statuses=frozenset({Status.ACTIVE}), layers=frozenset({Layer.WORKING, Layer.EPISODIC}))
    for batch in walk_batches(parts, wanted, lambda reader, found: look(reader, found, curves, times)):
        examined += len(batch)
        standings = [_describe_retention(one, curves.kappa) for one in batch]
        changes = decide_lifecycle(standings, rules or LifecycleRules())
        decided += changes
        if not dry_run:
            for start in range(0, len(changes), WRITE_BATCH):
                _apply(parts, changes[start : start + WRITE_BATCH])
    return LifecycleReport(
        examined=examined,
        promoted=sum(isinstance(change, SetLayer) for change in decided),
        archived=sum(isinstance(change, SetStatus) for change in decided),
        dry_run=dry_run,
        changes=tuple(decided),
    )


def _measure_importance(one: Looked, kappa: float) -> EarnedImportance:
    memory = one.memory
    record = UsageRecord(
        base=memory.importance,
        layer=memory.layer,
        trust=memory.trust,
        age_days=one.age_days,
        uses=one.uses,
        confirmations=memory.confirmations,
        valence=memory.emotional_valence or 0.0,
        kappa=kappa,
    )
    return compute_importance(record)


def explain_importance(parts: Parts, memory: Memory) -> EarnedImportance:
    """Return the importance that a memory has earned so far, with its nine factors."""
    with parts.store.reader(parts.user_id) as reader:
        rules = read_retention_rules(parts.settings)
        (looked,) = look(reader, [memory], rules, read_times(reader, parts))
    return _measure_importance(looked, rules.kappa)


def _describe_retention(one: Looked, kappa: float) -> LifecycleState:
    memory = one.memory
    return LifecycleState(
        memory=memory,
        age_days=one.age_days,
        idle_days=one.idle_days,
        uses=max(memory.access_count, len(one.uses)),
        showings=one.showings,
        retention=one.retained.score,
        importance=_measure_importance(one, kappa).score,
    )


def _apply(parts: Parts, changes: Sequence[Change]) -> None:
    """Apply the changes to memories that have not changed since they were read; the next run handles the others."""

    def work(writer: Writer) -> None:
        held = {memory.id: memory for memory in writer.memories([change.memory_id for change in moves])}
        fitting = [
            change
            for change in moves
            if (memory := held.get(change.memory_id)) and memory.status is Status.ACTIVE and not memory.pinned
        ]
        apply(writer, fitting, Application(actor=Actor.SCHEDULE, now_us=parts.clock.now_us(), cause="lifecycle"))

    moves = [change for change in changes if isinstance(change, SetLayer | SetStatus)]
    parts.store.commit(parts.user_id, work)


# Compute the retention curves and the place of each memory on them.


_CURVE_DAYS: Final = 181


_POINTS: Final = 2_000


def compute_retention_curves(
    parts: Parts, *, plot: Path | None = None, limit: int = 200, what_if: Mapping[str, object] | None = None
) -> RetentionCurves:
    """Return the forgetting curves over half a year, and the positions of the newest memories on them.

    `limit` bounds the memories, 1 to 2,000; `plot` names an SVG file for the drawing. `what_if` has settings with other
    values, for this answer alone.
    """
    if type(limit) is not int or not 1 <= limit <= _POINTS:
        raise Invalid(f"a limit of {limit}", why=f"it must be 1 to {_POINTS:,}", fix="pass a number like 200")
    rules = read_retention_rules(replace_settings(parts.settings, what_if or {}))
    days = tuple(float(day) for day in range(_CURVE_DAYS))
    with parts.store.reader(parts.user_id) as reader:
        times = read_times(reader, parts)
        found = reader.find(MemoryFilter(statuses=RETAINED_STATUSES, limit=limit))
        looked = look(reader, found, rules, times)
    drawn = RetentionCurves(
        days=days,
        curves=tuple(_compute_curve(name, rules, days, trust) for name in CURVES for trust in (1.0, 0.5)),
        points=tuple(_place_memory(one, rules.kappa) for one in looked),
        profile=rules.profile,
        mode=rules.mode,
    )
    if plot is not None:
        with replace_file(plot) as file:
            file.write(draw_retention(drawn).encode())
    return drawn


def _compute_curve(name: str, rules: RetentionRules, days: Sequence[float], trust: float) -> RetentionCurve:
    half_life = compute_half_life(rules, trust)
    shape = RetentionRules(mode=name, delta=rules.delta, ratio=rules.ratio)
    values = tuple(round(compute_curve(shape, day, half_life), 6) for day in days)
    return RetentionCurve(name=name, half_life_days=half_life, values=values)


def _place_memory(one: Looked, kappa: float) -> RetentionPoint:
    memory = one.memory
    return RetentionPoint(
        memory_id=memory.id,
        layer=memory.layer,
        age_days=round(one.idle_days, 3),
        score=one.retained.score,
        terms=one.retained.terms,
        trust=memory.trust,
        earned=_measure_importance(one, kappa),
    )
