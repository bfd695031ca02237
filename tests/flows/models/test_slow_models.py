"""Models that take their time keep nobody else waiting, and nothing is lost or done twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread

from credenda import Credenda, MemoryUnit
from credenda.bootstrap import build_parts
from credenda.providers.llm.client import open_model
from credenda.providers.llm.protocol import Question, Reply
from credenda.runtime import Parts
from credenda.storage.records import REREAD, THINK
from credenda.storage.store import Job, JobFilter, JobStatus
from credenda.testing import ManualClock, ScriptedModel
from credenda.workers.loop import run_due_jobs, run_llm_jobs
from tests.waiting import PATIENCE_SECONDS

from .build import BEES, CLAIM, held


class Slow:
    """A model that answers when it is told to; `at_once` calls may wait at a time."""

    def __init__(self, at_once: int = 2) -> None:
        self.model_id = "slow:model"
        self.at_once = at_once
        self.go_on = Event()
        self.waiting: list[str] = []
        self.began = Event()

    def ask(self, question: Question) -> Reply:
        self.waiting.append(question.prompt)
        if len(self.waiting) == self.at_once:
            self.began.set()
        assert self.go_on.wait(PATIENCE_SECONDS), "nobody let it go on"
        return Reply(text='{"claims": [], "more": false}', tokens_in=1, tokens_out=1)

    def close(self) -> None:
        self.go_on.set()


def _jobs(parts: Parts, kind: str) -> list[Job]:
    with parts.store.reader("ana") as reader:
        return reader.jobs(JobFilter(kinds=frozenset({kind})))


def test_a_slow_model_keeps_nobody_waiting(path: Path, clock: ManualClock) -> None:
    slow = Slow()
    parts = build_parts(path, user="ana", clock=clock, llm=slow, embedder="none")
    with Credenda(parts, workers=False) as mem:
        for number in range(3):
            mem.remember(BEES.replace("forty", f"{number}x"))
        while run_due_jobs(parts):
            pass
        thinking = Thread(target=run_llm_jobs, args=(parts,))
        thinking.start()
        assert slow.began.wait(PATIENCE_SECONDS), "it has not begun"
        assert len(slow.waiting) == 2, "as many at once as it may be asked, and no more"
        mem.remember("Thanks!")
        assert run_due_jobs(parts) == 1
        assert mem.search("hives honey").hits
        stored = mem.store(MemoryUnit(text="Tea is fine"))
        assert stored.id
        slow.go_on.set()
        thinking.join(PATIENCE_SECONDS)
        assert not thinking.is_alive()
        assert {job.status for job in _jobs(parts, THINK)} == {JobStatus.COMPLETE, JobStatus.QUEUED}
        mem.settle()
        assert {job.status for job in _jobs(parts, THINK)} == {JobStatus.COMPLETE}


def test_closing_does_not_wait_for_a_model(path: Path, clock: ManualClock) -> None:
    slow = Slow(at_once=1)
    parts = build_parts(path, user="ana", clock=clock, llm=slow, embedder="none")
    mem = Credenda(parts, workers=True)
    for number in range(2):
        mem.remember(BEES.replace("forty", f"{number}x"))
    assert slow.began.wait(PATIENCE_SECONDS), "it has not begun"
    closing = Thread(target=mem.close)
    closing.start()
    closing.join(PATIENCE_SECONDS)
    assert not closing.is_alive()
    assert not slow.go_on.is_set()
    slow.go_on.set()
    with Credenda.open(path, user="ana", clock=clock, llm=ScriptedModel(), embedder="none", workers=False) as again:
        again.settle()
        assert set(again.stats().jobs) == {"complete"}


def test_an_answer_that_comes_after_the_lease_was_lost_changes_nothing(path: Path, clock: ManualClock) -> None:
    parts = build_parts(path, user="ana", clock=clock, llm=ScriptedModel(), embedder="none")

    def answer(_: Question) -> list[dict[str, object]]:
        clock.advance(timedelta(minutes=10))
        assert run_llm_jobs(parts) == 1, "another takes the job over and reads nothing in it"
        return [CLAIM]

    late = replace(parts, llm=open_model(ScriptedModel(answer), parts.settings))
    with Credenda(parts, workers=False) as mem:
        mem.remember(BEES)
        run_due_jobs(parts)
        run_llm_jobs(late)
        assert held(mem) == []
        assert [job.status for job in _jobs(parts, THINK)] == [JobStatus.COMPLETE]
        assert _jobs(parts, REREAD) == []
