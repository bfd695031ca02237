"""Count a tenant's rows and pending work, and check a memory for damage."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from credenda import index as index_modules
from credenda import model, services
from credenda.clock import DAY_US, HOUR_US, SECOND_US, to_datetime
from credenda.current_call import report_progress
from credenda.errors import Corrupt, Invalid, NotFound, Unavailable
from credenda.hook_files import Places, find_places, list_waiting, read_lines
from credenda.index.document_names import name_memory_document
from credenda.index.snapshot import is_damaged
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.claim import Evidence, Span
from credenda.model.event import NewEvent, Role
from credenda.model.governance import CostDay, CostSummary
from credenda.model.job import Finding
from credenda.model.memory import Memory, MemoryType, Status
from credenda.paths import close_open_files, find_open_paths
from credenda.runtime import Parts
from credenda.services.browse import read_span
from credenda.services.search import open_index
from credenda.services.settle import measure_unread
from credenda.storage.store import (
    Access,
    ChangeFilter,
    EventFilter,
    IndexPosition,
    Job,
    JobFilter,
    JobStatus,
    MemoryFilter,
    Reader,
    Spend,
    Store,
    Vector,
    Writer,
)
from credenda.text.recalled_block import count_noun
from credenda.workers.llm_jobs import COUNTED, to_day
from credenda.workers.loop import save_index

_PENDING: Final = (JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED)


def count_stats(parts: Parts) -> model.report.Stats:
    """Count memories, events and pending work."""
    with parts.store.reader(parts.user_id) as reader:
        counts = reader.counts(parts.embedder.model_id if parts.embedder else None)
        waiting = services.llm_extraction.count_waiting(reader)
        unread = measure_unread(reader, parts.clock.now_us())
    return model.report.Stats(
        oldest_unread_seconds=unread.oldest_seconds,
        events=counts.events,
        redacted_events=counts.redacted_events,
        memories=counts.memories,
        by_type=counts.types,
        total=counts.memories.get(Status.ACTIVE, 0),
        changes=counts.changes,
        jobs=counts.jobs,
        pending_extractions=sum(counts.jobs.get(status, 0) for status in _PENDING) - sum(waiting.values()),
        dead_jobs=counts.jobs.get(JobStatus.DEAD, 0),
        open_contests=counts.open_contests,
        vectors=counts.vectors,
        tombstones=counts.tombstones,
        embedder=parts.embedder.model_id if parts.embedder else None,
        vectors_by_model=counts.vectors_by_model,
        texts_to_embed=counts.texts_of_others,
        counted_by=parts.counter.name,
        waiting=unread.messages,
        reader_problem="" if parts.llm is not None else parts.reader_problem,
        model=services.llm_extraction.describe_model_use(parts, counts, waiting),
    )


# A live probe of the walls between users: whether anyone who owns nothing can read anything of a memory.


PROBES: Final = ("credenda-probe-one", "credenda-probe-two")
"""Two users who own nothing. A store with a server tries its tables with rows of theirs, which it undoes."""
_SAMPLE: Final = 20
_WORDS: Final = 8
_STATS_DAYS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Sample:
    """A few ids, documents, words and models of a memory."""

    events: list[str]
    memories: list[str]
    changes: list[str]
    codes: list[int]
    words: list[str]
    model_id: str
    vector: Sequence[float]


def take_sample(reader: Reader, model_id: str) -> Sample:
    """Take a few of everything that a memory has."""
    events = reader.find_events(EventFilter(newest_first=True, limit=_SAMPLE))
    memories = reader.find(MemoryFilter(limit=_SAMPLE))
    delta = reader.delta(IndexPosition(), model_id, limit=_SAMPLE)
    words = [word for text in (*events, *memories) for word in text.text.split()[:_WORDS]]
    return Sample(
        events=[event.id for event in events],
        memories=[memory.id for memory in memories],
        changes=[change.id for change in reader.changes(ChangeFilter(limit=_SAMPLE))],
        codes=[document.code for document in delta.documents],
        words=words,
        model_id=model_id,
        vector=(1.0,) * (delta.vectors[0].dims if delta.vectors else 1),
    )


READS: Final[Mapping[str, Callable[[Reader, Sample], object]]] = {
    "tenant": lambda reader, _: reader.tenant.tag,
    "events": lambda reader, sample: reader.events(sample.events),
    "find_events": lambda reader, _: reader.find_events(EventFilter(limit=1)),
    "memories": lambda reader, sample: reader.memories(sample.memories),
    "find": lambda reader, _: reader.find(MemoryFilter(limit=1)),
    "versions": lambda reader, sample: reader.versions(sample.memories),
    "evidence": lambda reader, sample: reader.evidence(memory_ids=sample.memories),
    "evidence of events": lambda reader, sample: reader.evidence(event_ids=sample.events),
    "authors": lambda reader, sample: reader.authors(sample.events, sample.changes),
    "changes": lambda reader, _: reader.changes(ChangeFilter(limit=1)),
    "contests": lambda reader, _: reader.contests(),
    "delta": lambda reader, sample: reader.delta(IndexPosition(), sample.model_id, limit=1).documents,
    "nominate": lambda reader, sample: reader.nominate(sample.words, 1),
    "search_memories": lambda reader, sample: reader.search_memories(sample.words, 1),
    "vectors": lambda reader, sample: reader.vectors(sample.codes, sample.model_id),
    "vector_data": lambda reader, sample: reader.vector_data(sample.codes, sample.model_id),
    "by_vector.page": lambda reader, sample: reader.by_vector.page(sample.model_id, 0, 1),
    "by_vector.nearest": lambda reader, sample: reader.by_vector.nearest(sample.model_id, sample.vector, 1)[0],
    "accesses": lambda reader, sample: reader.usage.accesses(sample.memories),
    "recalled": lambda reader, _: reader.usage.recalled(0, _STATS_DAYS, 1),
    "regards": lambda reader, sample: reader.usage.regards(sample.memories),
    "occasions": lambda reader, _: reader.usage.occasions(),
    "active_days": lambda reader, _: reader.usage.active_days(),
    "heads": lambda reader, _: [] if reader.duties.heads == IndexPosition() else [reader.duties.heads],
    "runs": lambda reader, _: reader.duties.runs(),
    "jobs": lambda reader, _: reader.jobs(JobFilter(limit=1)),
    "counts": lambda reader, _: [] if not reader.counts().events + reader.counts().changes else [1],
}
"""Every read verb, asked for a memory's own rows: whatever is not empty was read across a wall."""


def _dump_first(store: Store, user: str) -> list[str]:
    with store.dump(user) as dump:
        return [table for table, _ in dump.rows][:1]


_OF_STORE: Final[Mapping[str, Callable[[Store, str], object]]] = {
    "dump": _dump_first,
    "rules": lambda store, user: [*store.rules(user).policies, *store.rules(user).holds],
    "tokens": lambda store, user: store.tokens.list_tokens(user),
    "members": lambda store, user: store.members.list_members(user),
    "audit": lambda store, user: store.audit.read_audit_of(user, 0, 1),
}


def fill_probe(writer: Writer) -> None:
    """Store one row of each kind that beliefs have."""
    words = "The walls keep this sentence of a probe from everybody else."
    said = NewEvent(text=words, role=Role.USER, speaker="user", session="probe", occurred_us=1)
    event = writer.put(said)
    memory = writer.put(Memory(id="", version=1, text=words, type=MemoryType.FACT, created_us=1, recorded_us=1))
    writer.put(Evidence(memory_id=memory, span=Span(event, 0, len(words)), claim_hash=b"c" * 16))
    writer.put(ChangeRecord(id="", kind=ChangeKind.ADD, actor=Actor.RULE, reason="probe", at_us=1, memory_id=memory))
    writer.put(Job(kind="extract", first=1, last=1))
    writer.put(Vector(name_memory_document(memory, writer.tenant.tag), "probe", 2, 16, 1.0, bytes(4)))
    writer.put(Access(memory_id=memory, session="probe", day=1, at_us=1, shown=1, useful=1))


def check_server(parts: Parts) -> list[Finding]:
    """Find problems of a database server that concern all users; it tries its walls with rows of two made-up users.

    Where the service lacks a right (check `permissions`), nothing else can be asked.
    """
    return parts.store.check_server(PROBES, fill_probe)


def probe_walls(parts: Parts) -> list[Finding]:
    """Ask for the rows of a memory as two users who own nothing; each verb that returns any is a finding."""
    model_id = parts.embedder.model_id if parts.embedder else ""
    with parts.store.reader(parts.user_id) as reader:
        sample = take_sample(reader, model_id)
    leaks = {name for probe in PROBES for name in _list_leaks(parts.store, probe, sample)}
    return [
        Finding(
            check="walls",
            detail="a user who owns nothing reads rows of this memory",
            where=name,
            fix="stop the servers of this database, and report this",
        )
        for name in sorted(leaks)
    ]


def _list_leaks(store: Store, probe: str, sample: Sample) -> Iterator[str]:
    with store.reader(probe) as reader:
        for name, read in READS.items():
            if _has_rows(lambda read=read: read(reader, sample)):
                yield name
    for name, ask in _OF_STORE.items():
        if _has_rows(lambda ask=ask: ask(store, probe)):
            yield name


def _has_rows(read: Callable[[], object]) -> bool:
    try:
        found = read()
    except NotFound:  # an id of another user
        return False
    return bool(found)


# Findings from the log of the hooks of agents for `doctor`: failures, slow calls and messages that wait.


_CHECK: Final = "hooks"
_RECENT: Final = 50
"""Latest calls that are looked at."""
_SHARE: Final = 5
"""One failed call in this many is a finding."""
_SLOW_MS: Final = 250
_LOADED: Final = "memory"
"""How a call was answered that opened the memory of a file itself.

That takes longer, and so does one that starts an engine or waits for its start.
"""
_DAMAGED: Final = ".damaged"
_FOREIGN: Final = "input"
"""The error of a call with input that no host sends: a mistake of whoever calls, which says nothing of the store."""


def find_hook_problems(parts: Parts) -> list[Finding]:
    """Return findings about hooks; none where no hook has run."""
    places = find_places(parts.store_name, parts.user_id)
    if not os.path.isdir(places.folder):
        return []
    now_us = parts.clock.now_us()
    found: list[Finding] = []
    waiting = list_waiting(places)
    first = os.path.basename(waiting[0]).partition("-")[0] if waiting else ""
    if first.isdigit() and now_us - int(first) > HOUR_US:
        minutes = (now_us - int(first)) // SECOND_US // 60
        found.append(
            Finding(
                check=_CHECK,
                detail=f"{count_noun(len(waiting), 'message of hooks', 'waits')} to be filed, "
                f"the oldest for {count_noun(minutes, 'minute')}",
                where=places.waiting,
                fix="run `credenda worker --once`",
            )
        )
    folder = places.waiting
    damaged = [name for name in (os.listdir(folder) if os.path.isdir(folder) else []) if name.endswith(_DAMAGED)]
    if damaged:
        found.append(
            Finding(
                check=_CHECK,
                detail=f"{count_noun(len(damaged), 'message')} of hooks could not be read",
                where=places.waiting,
                fix="look at the files that end with .damaged, and remove them",
            )
        )
    return [*_check_calls(places), *found]


def _check_calls(places: Places) -> Iterator[Finding]:
    recent = [line for line in read_lines(places) if line.get("error") != _FOREIGN][-_RECENT:]
    failed = Counter(str(line["error"]) for line in recent if "error" in line)
    if recent and failed.total() * _SHARE >= len(recent):
        reasons = ", ".join(f"{count} {name}" for name, count in failed.most_common())
        yield Finding(
            check=_CHECK,
            detail=f"{failed.total()} of the last {count_noun(len(recent), 'call')} of hooks failed: {reasons}",
            where=places.log,
            fix="run `credenda plugin status`, and install the plugin again",
        )
    quick = (line for line in recent if line.get("by") != _LOADED and not line.get("started"))
    slow = [line for line in quick if isinstance(ms := line.get("ms"), int) and ms > _SLOW_MS]
    if recent and len(slow) * _SHARE >= len(recent):
        yield Finding(
            check=_CHECK,
            detail=f"{len(slow)} of the last {count_noun(len(recent), 'call')} of hooks took more than {_SLOW_MS} ms",
            where=places.log,
            fix="keep `credenda worker` or `credenda serve` running",
        )


# Sum up what models cost.


_COSTS_DAYS: Final = 30


def sum_costs(parts: Parts, since: datetime | str | None, until: datetime | str | None) -> CostSummary:
    """Sum up the days from `since` to `until`, both included; by default the last thirty days."""
    since_us, until_us = read_span(parts, since, until)
    last = to_day(until_us)
    first = last - _COSTS_DAYS + 1 if since is None else to_day(since_us)
    spends = parts.store.reports.list_spends(parts.user_id, first, last)
    asked = [one for one in spends if not one.operation.startswith(COUNTED)]
    return CostSummary(
        first_day=_name_day(first),
        last_day=_name_day(last),
        calls=sum(one.calls for one in asked),
        tokens_in=sum(one.tokens_in for one in asked),
        tokens_out=sum(one.tokens_out for one in asked),
        cost_usd=sum(one.cost_usd for one in asked),
        by_operation=_sum_by(asked, "operation"),
        by_model=_sum_by(asked, "model_id"),
        days=tuple(
            CostDay(
                day=_name_day(one.day),
                operation=one.operation,
                model_id=one.model_id,
                calls=one.calls,
                tokens_in=one.tokens_in,
                tokens_out=one.tokens_out,
                cost_usd=one.cost_usd,
            )
            for one in asked
        ),
    )


def _name_day(day: int) -> str:
    return f"{to_datetime(day * DAY_US):%F}"


def _sum_by(spends: list[Spend], name: str) -> dict[str, float]:
    found = Counter[str]()
    for one in spends:
        found[getattr(one, name)] += one.cost_usd  # type: ignore[assignment] - dollars
    return dict(found)


# Checks of a memory.


_CHECKS: Final = (
    "file",
    "disk",
    "rows",
    "journal_rows",
    "change_rows",
    "journal_chain",
    "journal_numbers",
    "change_log",
    "change_numbers",
    "current_version",
    "change_fold",
    "evidence",
    "successor",
    "contests",
    "passages",
    "vectors",
    "vector_checksums",
    "tombstone_checksums",
    "accesses",
    "jobs",
    "full_text",
    "index",
    "dead_jobs",
    "ledgers",
    "consolidation",
    "walls",
    "indexes",
    "permissions",
    "hooks",
    "reader",
)
_PARTS: Final = 3


def doctor(parts: Parts, *, repair: bool = False) -> model.report.DoctorReport:
    """Verify the store: file, journal chain, change log, references, full-text index and resident index."""
    if repair and parts.read_only:
        raise Invalid("a memory that was opened to be read only cannot be repaired", fix="open it without --read-only")
    findings = [*_complete("walls", lambda: services.stats.check_server(parts))]
    if all(one.check != "permissions" for one in findings):
        findings += _check_memory(parts, repair=repair)
    findings += _check_permissions(parts, repair=repair)
    findings += [*services.stats.find_hook_problems(parts), *_check_reader(parts)]
    wrong = [finding for finding in findings if not finding.repaired]
    oldest_seconds = 0.0
    with suppress(Corrupt, Unavailable), parts.store.reader(parts.user_id) as reader:  # which are findings already
        oldest_seconds = measure_unread(reader, parts.clock.now_us()).oldest_seconds
    return model.report.DoctorReport(
        oldest_unread_seconds=oldest_seconds,
        ok=not wrong,
        findings=tuple(findings),
        checks=_CHECKS,
        backend=parts.store.describe_backend(),
    )


def _check_reader(parts: Parts) -> list[Finding]:
    """Find that no message gives a belief here, because what reads them is not installed."""
    if not parts.reader_problem or parts.llm is not None:
        return []
    detail, _, fix = parts.reader_problem.partition("; ")
    return [Finding(check="reader", detail=detail, where=sys.prefix, fix=fix)]


def _check_memory(parts: Parts, *, repair: bool) -> list[Finding]:
    # The change log comes first: rows put right by it are no orphans any more.
    report_progress(0, _PARTS, "change log")
    folded = _complete("change_fold", lambda: services.rebuild.log_findings(parts, repair=repair))
    report_progress(1, _PARTS, "rows")
    findings = [*_complete("file", lambda: services.rebuild.check_rows(parts, repair=repair)), *folded]
    report_progress(2, _PARTS, "index")
    findings += _complete("index", lambda: _index_parity(parts, repair=repair))
    findings += _complete(
        "consolidation", lambda: services.consolidation_progress.find_skipped_groups(parts, repair=repair)
    )
    findings += _complete("walls", lambda: services.stats.probe_walls(parts))
    return findings


def _complete(check: str, find: Callable[[], Sequence[Finding]]) -> Sequence[Finding]:
    """Return the findings of a check; damage that ends the check is its finding."""
    try:
        return find()
    except Corrupt as error:
        detail = f"this check could not be completed: {error.what}"
        return [Finding(check=check, detail=detail, where=error.ids.get("row") or "the file", fix=error.fix)]


def _check_permissions(parts: Parts, *, repair: bool) -> list[Finding]:
    """Find files of the database that other users may read or write; a repair closes them, but not their folder."""
    before = find_open_paths(parts.store_name)
    if repair:
        close_open_files(parts.store_name)
    after = find_open_paths(parts.store_name)
    return [
        Finding(
            check="permissions",
            detail="other users of this computer may read or change it",
            repaired=one not in after,
            where=str(one),
            fix=f"chmod {'go-w' if one.is_dir() else '600'} {one}",
        )
        for one in before
    ]


def _index_parity(parts: Parts, *, repair: bool) -> list[Finding]:
    """Compare the words of the updated index and of the stored one with those of the rows.

    An index that changed meanwhile is not reported. The repair drops every index of the user, stored or in the memory
    of any process, and builds a new one.
    """
    with parts.store.reader(parts.user_id) as reader:
        wrong = _find_wrong_indexes(parts, reader)
    sound = bool(wrong) and repair
    if sound:
        parts.store.renew_indexes(parts.user_id)
        parts.indexes.drop(parts.user_id, store=parts.store_name)
        with parts.store.reader(parts.user_id) as reader:
            open_index(parts, reader)
        save_index(parts)
    return [
        Finding(
            check="index",
            detail="the index differs from the rows it is derived from",
            repaired=sound,
            where=where,
            fix="run `credenda doctor --repair`, which builds it again",
        )
        for where in wrong
    ]


def _find_wrong_indexes(parts: Parts, reader: Reader) -> list[str]:
    """Say which indexes have other contents than one that is built from the rows of this view."""
    model_id = parts.embedder.model_id if parts.embedder else None
    index = open_index(parts, reader)
    if index is None:
        return []
    fresh = index_modules.resident.ResidentIndex(model_id=model_id)
    while (delta := reader.delta(fresh.heads, model_id)).heads != fresh.heads:
        fresh.fold(delta)
    stored = index_modules.cache.IndexCache().get(reader, model_id=model_id)
    found = (("the index in memory", index), ("the stored index", stored))
    wanted = fresh.compute_digest()
    wrong = [where for where, one in found if one.heads == fresh.heads and one.compute_digest() != wanted]
    blobs = reader.snapshot(index_modules.cache.name_snapshot(model_id, reader.tenant.tag))
    return [*wrong, *(["the bytes of the stored index"] if blobs and is_damaged(blobs) else [])]
