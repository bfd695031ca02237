"""The handler of each job kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from credenda import limits, workers
from credenda.clock import DAY_US
from credenda.errors import Conflict, Invalid, LimitExceeded
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor
from credenda.model.claim import Claim
from credenda.model.event import Event
from credenda.model.report import ExpiryReport
from credenda.providers.embed.factory import Embedder, TokenEmbedder
from credenda.runtime import Parts
from credenda.storage.records import EXTRACT, THINK
from credenda.storage.store import EventFilter, Job, MemoryFilter, Reader, Vector, VectorRemoval, Writer
from credenda.workers.loop import commit_end, commit_leased, end_portion, is_leased, take_portion
from credenda.write.extract.voices import VerbatimExtractor
from credenda.write.forget.delete import Deletion, check_hold, count_matches, find_last_number
from credenda.write.forget.item_words import sweep_items
from credenda.write.indexing import (
    EMBED,
    MissingVector,
    Novelty,
    embed,
    find_missing_vectors,
    measure_novelty,
    store_novelties,
    store_vectors,
)
from credenda.write.reconcile.same_words import find_unread_changes
from credenda.write.reconcile_job import apply_claims, extract_claims, extract_turns, load_turns

TURNS_A_COMMIT: Final = 8
_VECTORS_A_COMMIT: Final = 64
_EXACT_BITS: Final = 16
"""A vector at fewer bits is embedded again, because its memory was recalled."""

ReadTurn = tuple[Event, tuple[Claim, ...]]
"""A message and its claims."""


def _extract(parts: Parts, job: Job) -> None:
    if parts.llm is not None:
        workers.llm_jobs.prepare_llm_jobs(parts, job)
        return
    extract_batch(parts, [job])


def extract_batch(parts: Parts, jobs: Sequence[Job], go_on: Callable[[], bool] = lambda: True) -> int:
    """Extract jobs in order, file them together, and return how many; all unless `go_on`, asked between two, ends it.

    A message is read with the messages before it, and with nothing that these change.
    """
    portions = [take_portion(job) for job in jobs]
    with parts.store.reader(parts.user_id) as reader:
        loaded = [load_turns(reader, one.first, one.last) for one in portions]
    count, turns = 0, list[ReadTurn]()
    for found in loaded:
        if count and not go_on():
            break
        turns += [(turn.event, extract_claims(turn, parts.extractor)) for turn in found]
        count += 1

    def queue(writer: Writer) -> None:
        for portion in portions[:count] if parts.embedder is not None else ():
            writer.put(Job(kind=EMBED, first=portion.first, last=portion.last))

    def end(writer: Writer) -> None:
        for job, portion in zip(jobs[:count], portions, strict=False):
            writer.put(end_portion(job, portion))

    # Split a long extraction, so that no transaction delays callers; applying a portion twice changes nothing.
    starts = range(0, max(len(turns), 1), TURNS_A_COMMIT)
    *early, last = [turns[start : start + TURNS_A_COMMIT] for start in starts]
    for some in early:
        _believe(parts, jobs[:count], some, _do_nothing)
    _believe(parts, jobs[:count], last, end, queue=queue)
    return count


def _do_nothing(_: Writer) -> None:
    """File nothing more."""


def _believe(
    parts: Parts,
    jobs: Sequence[Job],
    turns: Sequence[ReadTurn],
    then: Callable[[Writer], object],
    *,
    queue: Callable[[Writer], object] = _do_nothing,
) -> None:
    """Decide what some turns change on a view, and file it, with what `then` files, in one short transaction.

    `queue` files jobs before those that the changes need, so that texts are embedded in the order of their messages.
    Nothing is filed by a process whose lease has passed to another one. Raises `Conflict` if words that were read have
    been deleted since: without them they are read again.
    """
    read = {event.id: event.text for event, claims in turns if claims or find_unread_changes(event, claims)}
    if not read:
        commit_end(parts, jobs, lambda writer: (queue(writer), then(writer)))
        return
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None

    def decide(writer: Writer) -> None:
        if any(event.text != read[event.id] for event in writer.events(list(read))):
            raise Conflict("a message has changed while it was read", fix="read it again")
        queue(writer)
        apply_claims(writer, turns, now_us, embeds=embeds)

    commit_leased(parts, jobs, decide, then)


def embed_batch(parts: Parts, jobs: Sequence[Job]) -> None:
    """Embed what the events of jobs lack; committed portions stay when a later one fails."""
    embedder = parts.embedder
    if embedder is None:
        commit_end(parts, jobs, lambda writer: store_vectors(writer, jobs, [], of=writer.tenant.tag))
        return
    with parts.store.reader(parts.user_id) as reader:
        wanted, tag = find_missing_vectors(reader, jobs, embedder.model_id, least_bits=_EXACT_BITS), reader.tenant.tag
    for start in range(0, max(len(wanted), 1), _VECTORS_A_COMMIT):
        portion = wanted[start : start + _VECTORS_A_COMMIT]
        vectors = embed(embedder, portion, parts.settings.vector_bits, tokens=parts.token_embedder)
        last = start + _VECTORS_A_COMMIT >= len(wanted)
        _store_vectors(parts, jobs, vectors, _score_novelty(parts, portion, vectors), of=tag, last=last)


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
    jobs: Sequence[Job],
    vectors: Sequence[tuple[Vector, ...]],
    novel: Mapping[int, Novelty],
    *,
    of: str,
    last: bool,
) -> None:
    """Store vectors; what their novelty changes is decided on a view before."""
    now_us = parts.clock.now_us()

    def decide(writer: Writer) -> None:
        store_novelties(writer, jobs, novel, of=of, now_us=now_us)

    def end(writer: Writer) -> None:
        store_vectors(writer, jobs, list(chain.from_iterable(vectors)), of=of, last=last)

    if novel:
        commit_leased(parts, jobs, decide, end)
    else:
        commit_end(parts, jobs, end)


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
        found = extract_turns(reader, take_portion(job).first, job.last, VerbatimExtractor())
    _believe(parts, [job], [(one.turn.event, one.claims) for one in found], lambda writer: writer.put(report))


HANDLERS: Final[Mapping[str, Callable[[Parts, Job], None]]] = {
    EXTRACT: _extract,
    EMBED: lambda parts, job: embed_batch(parts, [job]),
    THINK: lambda parts, job: workers.llm_jobs.apply_rule_claims(parts, job),  # noqa: PLW0108 - it is loaded on use
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


# Vectors of another model for all documents, in addition to the existing ones or in their place.


_EVENTS_A_STEP: Final = 256
"""Events whose texts are embedded together: the more there are, the more of them have equal length and run at once."""
_TEXTS_A_COMMIT: Final = 512
"""Most texts embedded at once: their tokens take 16 MB, and a commit takes some hundredths of a second."""
_MORE_BITS_THAN_ANY: Final = 64
"""No vector is this precise, so that each counts as missing."""


def embed_missing(
    parts: Parts,
    embedder: Embedder,
    progress: Callable[[int, int | None], None] | None = None,
    *,
    again: bool = False,
    dry_run: bool = False,
) -> int:
    """Embed every document without a vector of this model, in short commits, and return their number.

    It deletes nothing: searches continue with the model that the memory was opened with. After an interruption the next
    call continues from there. `progress` gets the number of finished events and the total. With `again` documents that
    have a vector get a new one in its place; a dry run only counts them.
    """
    with parts.store.reader(parts.user_id) as reader:
        found = reader.find_events(EventFilter(newest_first=True, redacted=True, limit=1))
        newest = parse_id_number(found[0].id, IdKind.EVENT, reader.tenant.tag) if found else 0
    count = 0
    for first in range(1, newest + 1, _EVENTS_A_STEP):
        last = min(first + _EVENTS_A_STEP - 1, newest)
        count += _embed_step(parts, embedder, Job(kind=EMBED, first=first, last=last), again=again, dry_run=dry_run)
        if progress is not None:
            progress(last, newest)
    return count


def drop_other_models(parts: Parts, embedder: Embedder) -> None:
    """Delete the vectors of all models but this one, in short commits; an interruption leaves the rest of them."""
    kept = {embedder.model_id, *([embedder.token_model_id] if isinstance(embedder, TokenEmbedder) else [])}
    with parts.store.reader(parts.user_id) as reader:
        found = {name: count for name, count in reader.counts().vectors_by_model.items() if name not in kept}
    for model_id, count in found.items():
        row = VectorRemoval(model_id=model_id, at_us=parts.clock.now_us(), limit=_TEXTS_A_COMMIT)
        for _ in range(0, count, _TEXTS_A_COMMIT):
            parts.store.commit(parts.user_id, lambda writer, row=row: writer.put(row))
    if found:
        parts.store.renew_indexes(parts.user_id)


def _embed_step(parts: Parts, embedder: Embedder, range_of_events: Job, *, again: bool, dry_run: bool) -> int:
    tokens = embedder if isinstance(embedder, TokenEmbedder) and parts.settings.token_vectors else None
    least_bits = _MORE_BITS_THAN_ANY if again else 0
    with parts.store.reader(parts.user_id) as reader:
        name = tokens.token_model_id if tokens else None
        wanted = find_missing_vectors(reader, [range_of_events], embedder.model_id, least_bits=least_bits, tokens=name)
        tag = reader.tenant.tag
    for start in range(0, 0 if dry_run else len(wanted), _TEXTS_A_COMMIT):
        portion = wanted[start : start + _TEXTS_A_COMMIT]
        vectors = list(chain.from_iterable(embed(embedder, portion, parts.settings.vector_bits, tokens=tokens)))
        parts.store.commit(
            parts.user_id,
            lambda writer, vectors=vectors: store_vectors(writer, [range_of_events], vectors, of=tag, last=False),
        )
    return len(wanted)
