"""Servers and workers on one database, killed at random under load: nothing acknowledged is lost or done twice."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, Final

from benchmarks.nodes.load import Acknowledged, Caller, LoadReport
from benchmarks.nodes.process import SERVER, WORKER, Node
from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.clock import seconds
from credenda.model.change import ChangeKind
from credenda.model.memory import is_dreamed
from credenda.runtime import Parts
from credenda.services.access import issue_token
from credenda.storage.store import ChangeFilter, EventFilter, JobFilter, JobStatus, MemoryFilter

_USERS: Final = ("ana", "bo", "Ana", "dee")
_SCOPES: Final = ("memory:read", "memory:write")
_READY_SECONDS: Final = 60.0
_SETTLE_SECONDS: Final = 300.0
_WORD: Final = re.compile(r"\w+z0\b")


@dataclass(slots=True)
class NodesReport:
    """The counts of a run, and every violation of a guarantee."""

    seed: int
    servers: int
    workers: int
    seconds: float = 0.0
    kills: Counter[str] = field(default_factory=Counter[str])
    acknowledged: int = 0
    searches: int = 0
    retries: Counter[str] = field(default_factory=Counter[str])
    jobs: int = 0
    repeated: int = 0
    """Jobs that were begun again, because their worker was killed."""
    violations: list[str] = field(default_factory=list[str])

    def as_document(self) -> dict[str, Any]:
        """Return the report as a JSON document."""
        return {
            "seed": self.seed,
            "servers": self.servers,
            "workers": self.workers,
            "seconds": round(self.seconds, 1),
            "kills": dict(self.kills),
            "acknowledged": self.acknowledged,
            "acknowledged_a_second": round(self.acknowledged / max(self.seconds, 0.001), 1),
            "searches": self.searches,
            "retries": dict(self.retries),
            "jobs": self.jobs,
            "jobs_begun_again": self.repeated,
            "violations": self.violations,
        }


def run_nodes(
    target: str,
    *,
    run_seconds: float,
    servers: int = 3,
    workers: int = 3,
    kill_every_seconds: float = 2.0,
    seed: int = 0,
) -> NodesReport:
    """Kill servers and workers of a database while callers use it, then check every acknowledgement.

    The database must be empty. Callers repeat a request that no server answered, under the same idempotency key; any
    other error is a violation.
    """
    report = NodesReport(seed=seed, servers=servers, workers=workers)
    parts = build_parts(target, user=_USERS[0], embedder="hashed", llm="none")
    nodes: list[Node] = []
    try:
        tokens = {user: _make_token(parts, user) for user in _USERS}
        settings = {"CREDENDA_EMBEDDER": "hashed", "OPENBLAS_NUM_THREADS": "1"}
        nodes += [Node(target, SERVER, settings) for _ in range(servers)]
        nodes += [Node(target, WORKER, settings) for _ in range(workers)]
        late = [node.command[0] for node in nodes if not node.wait_ready(_READY_SECONDS)]
        report.violations += [f"a {name} does not start" for name in late]
        load = _use(nodes, tokens, report, run_seconds=run_seconds, kill_every_seconds=kill_every_seconds)
        for node in nodes:
            node.stop()
            report.kills[node.command[0]] += node.kills
            report.violations += node.problems
        nodes.clear()
        report.acknowledged, report.searches, report.retries = len(load.acknowledged), load.searches, load.retries
        report.violations += load.problems
        for user in _USERS:
            report.violations += check_user(parts, user, load.acknowledged, report)
    finally:
        for node in nodes:
            node.stop()
        parts.release()
    return report


def _make_token(parts: Parts, user: str) -> str:
    view = parts.for_user(user)
    try:
        return issue_token(view, "bench", scopes=_SCOPES, allowed=_SCOPES, expires="never").token
    finally:
        view.release()


def _use(
    nodes: list[Node], tokens: dict[str, str], report: NodesReport, *, run_seconds: float, kill_every_seconds: float
) -> LoadReport:
    """Let one caller for each user use the servers, and kill a node now and then."""
    draw, load, stop = random.Random(report.seed), LoadReport(), Event()

    def list_ports() -> list[int]:
        return [node.port for node in nodes if node.port]

    callers = [
        Thread(target=Caller(user, token, list_ports, load).run, args=(f"u{place}", draw.randrange(1 << 30), stop))
        for place, (user, token) in enumerate(tokens.items())
    ]
    started = seconds()
    for caller in callers:
        caller.start()
    try:
        while (left := started + run_seconds - seconds()) > 0:
            stop.wait(min(left, kill_every_seconds * draw.uniform(0.5, 1.5)))
            if seconds() < started + run_seconds:
                draw.choice(nodes).kill()
        stop.set()
        late = [node.command[0] for node in nodes if not node.wait_ready(_READY_SECONDS)]
        report.violations += [f"a {name} does not start again" for name in late]
        for caller in callers:
            caller.join(_READY_SECONDS)  # it insists on its last request
        report.violations += ["a caller got no answer" for caller in callers if caller.is_alive()]
    finally:
        stop.set()
        load.over.set()
    report.seconds = seconds() - started
    return load


def check_user(parts: Parts, user: str, all_said: list[Acknowledged], report: NodesReport) -> Iterator[str]:
    """Finish the jobs of a user, and compare the rows with the acknowledgements."""
    said = {one.event_id: one.text for one in all_said if one.user == user}
    with Credenda(parts.for_user(user), workers=False) as memory:
        memory.settle(_SETTLE_SECONDS)
        damage = memory.data.doctor()
        yield from (f"doctor: {one.check}: {one.detail}" for one in damage.findings if one.check != "permissions")
    yield from _check_events(parts, user, said)
    yield from _check_jobs(parts, user, report)
    yield from _check_claims(parts, user)


def _check_events(parts: Parts, user: str, said: dict[str, str]) -> Iterator[str]:
    """Check that every acknowledged event is there with its text, once, and none of another user."""
    with parts.store.reader(user) as reader:
        events = reader.find_events(EventFilter(limit=None))
    there = {event.id: event.text for event in events}
    yield from (f"lost: {name} of {user}" for name, text in said.items() if there.get(name) != text)
    for text, count in Counter(there.values()).items():
        if count > 1:
            yield f"{count} events of {user} say {text!r}"
    own = {_find_caller(text) for text in said.values()}
    yield from (
        f"{user} has what another said: {name}" for name, text in there.items() if _find_caller(text) not in own
    )


def _find_caller(text: str) -> str:
    found = _WORD.search(text)
    return found[0].partition("n")[0] if found else ""


def _check_jobs(parts: Parts, user: str, report: NodesReport) -> Iterator[str]:
    """Check that every job is complete, and every event was in one job of each kind."""
    with parts.store.reader(user) as reader:
        jobs = reader.jobs(JobFilter(limit=None))
        events = reader.counts().events
    report.jobs += len(jobs)
    report.repeated += sum(job.attempts > 1 for job in jobs)
    yield from (
        f"job {job.id} of {user} is {job.status}: {job.error}" for job in jobs if job.status is not JobStatus.COMPLETE
    )
    covered: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for job in jobs:
        covered[job.kind].update(range(job.first, job.last + 1))
    for kind, counts in covered.items():
        if len(counts) != events:
            yield f"{len(counts)} of {events} events of {user} were in a job of the kind {kind}"
        yield from (f"event {number} of {user} was in {n} jobs: {kind}" for number, n in counts.items() if n > 1)


def _check_claims(parts: Parts, user: str) -> Iterator[str]:
    """Check that each message became one memory by one change, however often its job was begun.

    Memories that the scheduled tasks derived from others do not count.
    """
    with parts.store.reader(user) as reader:
        memories = [memory for memory in reader.find(MemoryFilter()) if not is_dreamed(memory)]
        added = reader.changes(
            ChangeFilter(
                kinds=frozenset({ChangeKind.ADD}), memory_ids=tuple(memory.id for memory in memories), limit=None
            )
        )
        events = reader.counts().events
    words = Counter(word[0] for memory in memories if (word := _WORD.search(memory.text)))
    if len(words) != events:
        yield f"{len(words)} of {events} messages of {user} became memories"
    yield from (f"{count} memories of {user} hold {word}" for word, count in words.items() if count > 1)
    yield from (f"{memory.id} of {user} was confirmed" for memory in memories if memory.confirmations)
    if len(added) != len(memories):
        yield f"{len(memories)} memories of {user} were added by {len(added)} changes"
