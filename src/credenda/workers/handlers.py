"""The handler of each job kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Final

from credenda import limits, workers
from credenda.clock import DAY_US
from credenda.errors import Invalid, LimitExceeded
from credenda.model.change import Actor
from credenda.model.report import ExpiryReport
from credenda.runtime import Parts
from credenda.storage.job_kinds import EXTRACT, THINK
from credenda.storage.store import EventFilter, Job, MemoryFilter, Reader, Vector, Writer
from credenda.workers.leases import commit_end, commit_leased, is_leased
from credenda.workers.loop import end_portion, take_portion
from credenda.write.extract.verbatim import VerbatimExtractor
from credenda.write.extract_job import ExtractionResult, extract_job
from credenda.write.forget.delete import Deletion, check_hold, count_matches, find_last_number
from credenda.write.forget.item_words import sweep_items
from credenda.write.indexing.embed import (
    EMBED,
    MissingVector,
    Novelty,
    embed,
    find_missing_vectors,
    measure_novelty,
    store_novelties,
    store_vectors,
)
from credenda.write.reconcile_job import apply_claims

_TURNS_A_COMMIT: Final = 8
_VECTORS_A_COMMIT: Final = 64
_EXACT_BITS: Final = 16
"""A vector at fewer bits is embedded again, because its memory was recalled."""


def _extract(parts: Parts, job: Job) -> None:
    if parts.llm is not None:
        workers.llm_jobs.prepare_llm_jobs(parts, job)
        return
    portion = take_portion(job)
    with parts.store.reader(parts.user_id) as reader:
        reading = extract_job(reader, portion, parts.extractor)

    def end(writer: Writer) -> None:
        writer.put(end_portion(job, portion))
        if parts.embedder is not None:
            writer.put(Job(kind=EMBED, first=portion.first, last=portion.last))

    # Split a long extraction, so that no transaction delays callers; applying a portion twice changes nothing.
    turns = reading.turns
    starts = range(0, max(len(turns), 1), _TURNS_A_COMMIT)
    *early, last = [replace(reading, turns=turns[start : start + _TURNS_A_COMMIT]) for start in starts]
    for some in early:
        _believe(parts, job, some, _do_nothing)
    _believe(parts, job, last, end)


def _extract_with_model(parts: Parts, job: Job) -> None:
    workers.llm_jobs.apply_rule_claims(parts, job)


def _believe(parts: Parts, job: Job, portion: ExtractionResult, then: Callable[[Writer], None]) -> None:
    """Decide what a portion changes on a view, and file it, with what `then` files, in one short transaction.

    Nothing is filed by a process whose lease has passed to another one.
    """
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None

    def decide(writer: Writer) -> None:
        apply_claims(writer, portion.turns, now_us, embeds=embeds)

    commit_leased(parts, [job], decide, then)


def _do_nothing(_: Writer) -> None:
    """File nothing more."""


def _embed(parts: Parts, job: Job) -> None:
    embedder = parts.embedder
    if embedder is None:
        commit_end(parts, [job], lambda writer: store_vectors(writer, job, [], of=writer.tenant.tag))
        return
    with parts.store.reader(parts.user_id) as reader:
        wanted, tag = find_missing_vectors(reader, job, embedder.model_id, least_bits=_EXACT_BITS), reader.tenant.tag
    while len(wanted) > _VECTORS_A_COMMIT:  # committed portions stay when a later one fails
        portion, wanted = wanted[:_VECTORS_A_COMMIT], wanted[_VECTORS_A_COMMIT:]
        vectors = embed(embedder, portion, parts.settings.vector_bits, tokens=parts.token_embedder)
        _store_vectors(parts, job, vectors, _score_novelty(parts, portion, vectors), of=tag, last=False)
    vectors = embed(embedder, wanted, parts.settings.vector_bits, tokens=parts.token_embedder)
    _store_vectors(parts, job, vectors, _score_novelty(parts, wanted, vectors), of=tag)


def _score_novelty(
    parts: Parts, wanted: Sequence[MissingVector], vectors: Sequence[tuple[Vector, ...]]
) -> Mapping[int, Novelty]:
    """Compute the novelty of the memories among these; nothing for a tenant too large for an in-memory index."""
    counting = [made[0] for one, made in zip(wanted, vectors, strict=True) if one.counts]
    if not counting:
        return {}
    with parts.store.reader(parts.user_id) as reader:
        try:
            index = parts.indexes.get(reader, model_id=counting[0].model_id, store=parts.store_name)
        except LimitExceeded:
            return {}
        return measure_novelty(reader, index, counting)


def _store_vectors(
    parts: Parts,
    job: Job,
    vectors: Sequence[tuple[Vector, ...]],
    novel: Mapping[int, Novelty],
    *,
    of: str,
    last: bool = True,
) -> None:
    """Store vectors; what their novelty changes is decided on a view before."""
    now_us = parts.clock.now_us()

    def decide(writer: Writer) -> None:
        store_novelties(writer, job, novel, of=of, now_us=now_us)

    def end(writer: Writer) -> None:
        store_vectors(writer, job, list(chain.from_iterable(vectors)), of=of, last=last)

    if novel:
        commit_leased(parts, [job], decide, end)
    else:
        commit_end(parts, [job], end)


def embed_batch(parts: Parts, jobs: Sequence[Job]) -> None:
    """Run small embedding jobs with one call of the engine; each job is completed separately."""
    embedder = parts.embedder
    lists: list[list[MissingVector]] = []
    tag = ""
    if embedder is not None:
        with parts.store.reader(parts.user_id) as reader:
            lists, tag = (
                [find_missing_vectors(reader, job, embedder.model_id, least_bits=_EXACT_BITS) for job in jobs],
                reader.tenant.tag,
            )
    if embedder is None or sum(map(len, lists)) > _VECTORS_A_COMMIT:
        for job in jobs:
            _embed(parts, job)
        return
    every = list(chain.from_iterable(lists))
    made = embed(embedder, every, parts.settings.vector_bits, tokens=parts.token_embedder)
    novel, vectors = _score_novelty(parts, every, made), iter(made)
    for job, wanted in zip(jobs, lists, strict=True):
        _store_vectors(parts, job, list(islice(vectors, len(wanted))), novel, of=tag)


def report_failure(parts: Parts, job: Job, report: Job) -> None:
    """Record the failure of a job, unless its lease has expired and another process has taken it."""

    def work(writer: Writer) -> None:
        if is_leased(writer, job):
            writer.put(report)

    parts.store.commit(parts.user_id, work)


def give_up_job(parts: Parts, job: Job, report: Job) -> None:
    """Record that a job was given up; words that were not read are stored verbatim (R-050, R-052)."""
    if job.kind not in {EXTRACT, THINK}:
        report_failure(parts, job, report)
        return
    with parts.store.reader(parts.user_id) as reader:
        reading = extract_job(reader, replace(job, first=take_portion(job).first), VerbatimExtractor())
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None

    def decide(writer: Writer) -> None:
        apply_claims(writer, reading.turns, now_us, embeds=embeds)

    commit_leased(parts, [job], decide, lambda writer: writer.put(report))


HANDLERS: Final[Mapping[str, Callable[[Parts, Job], None]]] = {
    EXTRACT: _extract,
    EMBED: _embed,
    THINK: _extract_with_model,
}


def run_job(parts: Parts, job: Job) -> None:
    """Run a job to its end; any exception is the reason of its failure."""
    handler = HANDLERS.get(job.kind)
    if handler is None:
        raise Invalid(f"there is no job kind {job.kind!r}", why="a newer version filed it", fix="upgrade this process")
    handler(parts, job)


# Deletion by age: expiry dates of events and memories, and retention policies. Repeatable.


_BATCH: Final = 50


@dataclass(slots=True)
class _Tally:
    """The deletions so far, and how many batches may follow."""

    batches: int
    events: int = 0
    memories: int = 0


def apply_policies(parts: Parts, *, dry_run: bool = False, batches_max: int | None = None) -> ExpiryReport:
    """Delete expired rows and items, and rows older than the policies allow; `dry_run` only counts.

    Each batch is a transaction of its own. With `batches_max` it stops after so many batches and continues in the next
    call. Raises `Conflict` under a legal hold.
    """
    now_us = parts.clock.now_us()
    if not dry_run:
        sweep_items(parts, limit=limits.POLICY_COUNT)
    with parts.store.reader(parts.user_id) as reader:
        check_hold(reader)
        if not reader.tenant.tag:
            return ExpiryReport(ran=False, reason="nothing to do", dry_run=dry_run)
        wanted = [EventFilter(expires_before_us=now_us + 1, redacted=True, worded=True, limit=_BATCH)]
        wanted += [
            EventFilter(
                topic=policy.topic,
                occurred_before_us=now_us - policy.days * DAY_US,
                redacted=True,
                worded=True,
                limit=_BATCH,
            )
            for policy in parts.store.rules(parts.user_id).policies
        ]
        if dry_run:
            # Count the rows that each condition would delete; a row that matches two conditions counts twice.
            counts = [count_matches(reader, condition) for condition in wanted]
            alone = len(reader.find(MemoryFilter(expires_before_us=now_us + 1, limit=limits.POLICY_COUNT)))
            return ExpiryReport(
                ran=False,
                reason="dry run",
                events=sum(events for events, _ in counts),
                memories=max(sum(memories for _, memories in counts), alone),
                dry_run=True,
            )
        wanted = [one for one in wanted if reader.find_events(replace(one, limit=1))]
        if not wanted and not reader.find(MemoryFilter(expires_before_us=now_us + 1, limit=1)):
            return ExpiryReport(ran=False, reason="nothing to do")
    tally = _Tally(batches_max or 1 << 40)
    for condition in wanted:
        _delete_events(parts, condition, tally)
    _delete_memories(parts, now_us, tally)
    nothing = not tally.events and not tally.memories
    return ExpiryReport(
        ran=not nothing,
        reason="nothing to do" if nothing else None,
        events=tally.events,
        memories=tally.memories,
        more=tally.batches == 0,
    )


def _make_deletion(writer: Writer, parts: Parts) -> Deletion:
    return Deletion(
        writer,
        parts.clock.now_us(),
        actor=Actor.SCHEDULE,
        reason="its time was over",
        buried=False,
        extractor=parts.extractor,
    )


def _delete_events(parts: Parts, wanted: EventFilter, tally: _Tally) -> None:
    """Delete the events that match a condition, batch by batch."""
    after: int | None = 0

    def work(writer: Writer) -> tuple[int, int, int | None]:
        run = _make_deletion(writer, parts)
        found = writer.find_events(replace(wanted, after=after))
        for event in found:
            run.event(event)
        return len(found), run.deleted, find_last_number(found, writer.tenant.tag)

    def look(reader: Reader) -> object:
        return reader.find_events(replace(wanted, after=after, limit=1))

    while after is not None and _has_due(parts, look):
        if not tally.batches:
            return
        tally.batches -= 1
        events, memories, after = parts.store.commit(parts.user_id, work)
        tally.events += events
        tally.memories += memories


def _delete_memories(parts: Parts, now_us: int, tally: _Tally) -> None:
    """Delete the memories that expire before their evidence does."""
    wanted = MemoryFilter(expires_before_us=now_us + 1, limit=_BATCH)

    def work(writer: Writer) -> int:
        run = _make_deletion(writer, parts)
        for memory in writer.find(wanted):
            run.memory(memory)
        return run.deleted

    while tally.batches and _has_due(parts, lambda reader: reader.find(replace(wanted, limit=1))):
        tally.batches -= 1
        tally.memories += parts.store.commit(parts.user_id, work)


def _has_due(parts: Parts, look: Callable[[Reader], object]) -> bool:
    """Check without the write lock whether anything is due; usually nothing is."""
    with parts.store.reader(parts.user_id) as reader:
        return bool(look(reader))
