"""Extraction with a model: one job per event, with model calls outside any transaction and in their own threads.

One short transaction applies an answer and completes its job. If the model fails, the rules' claims, or the verbatim
text, are applied at once, and the message is extracted once more when the model is back. Over the day's budget only the
rules' claims are applied, and the message waits for the next day.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import Final

from credenda.clock import DAY_US
from credenda.ids import Kind, number_of
from credenda.providers.llm.client import ModelLine
from credenda.providers.llm.protocol import ModelFailure, Question, Reply
from credenda.runtime import Parts
from credenda.storage.job_kinds import EMBED, REREAD, THINK
from credenda.storage.store import Job, JobStatus, Writer
from credenda.workers.leases import is_leased
from credenda.workers.llm_budget import OverBudgetError, ask_within_budget, day_of
from credenda.workers.nearest_memories import nearest_known
from credenda.write.extract_job import ReadTurn, near_to_known, read_turns
from credenda.write.llm.gate import skip
from credenda.write.llm.reading import Understood, reader_name, understand
from credenda.write.llm.turns import Asked, believe_again, fallback, still_so, turn_of
from credenda.write.reconcile_job import believe, finished

__all__ = ["Thought", "believe_thought", "extract_for_model", "think_about", "think_by_rules"]

_log = logging.getLogger(__name__)
_LOOK_SECONDS: Final = 0.02
OVER_BUDGET: Final = "over the day's budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """The result of a model call for one job's event, not stored yet: an answer, or the time and reason of a retry."""

    asked: Asked | None
    understood: Understood | None = None
    again_us: int | None = None
    why: str = ""
    over_budget: bool = False
    counts: bool = False
    """Whether the failure lies with this message, so that the number of attempts is bounded."""
    error: Exception | None = None


def think_about(
    parts: Parts, line: ModelLine, jobs: Sequence[Job], stop: Event | None = None, *, afresh: bool = False
) -> list[Thought | None]:
    """Call a model for the events of some jobs, as many at once as the model allows.

    Returns when all have an answer, or when `stop` is set; an event without an answer by then is None. When memories
    are rederived `afresh` the model does not get the current memories.
    """
    found: list[Thought | None] = [None] * len(jobs)

    def work(at: int) -> None:
        found[at] = _thought(parts, line, jobs[at], afresh=afresh)

    if line.model.at_once == 1 and stop is None:
        for at in range(len(jobs)):
            work(at)
        return found
    for first in range(0, len(jobs), line.model.at_once):
        places = range(first, min(first + line.model.at_once, len(jobs)))
        threads = [Thread(target=work, args=(at,), name="credenda-model", daemon=True) for at in places]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            if stop is not None and stop.is_set():
                return list(found)
            for thread in threads:
                thread.join(_LOOK_SECONDS)
    return found


def _thought(parts: Parts, line: ModelLine, job: Job, *, afresh: bool) -> Thought:
    """Call the model for one job; any error becomes part of the result, because no caller awaits this thread."""
    try:
        return _ask(parts, line, job, afresh=afresh)
    except Exception as error:  # noqa: BLE001 - the job boundary: any failure is filed with the job
        return Thought(asked=None, error=error)


def _ask(parts: Parts, line: ModelLine, job: Job, *, afresh: bool) -> Thought:
    with parts.store.reader(parts.user_id) as reader:
        asked = turn_of(reader, job.first, parts.extractor)
    if asked is None:
        return Thought(asked=None)
    if afresh:
        asked = replace(asked, turn=replace(asked.turn, known=()))
    now_us = parts.clock.now_us()
    if line.quiet_until_us > now_us:
        return Thought(asked=asked, again_us=line.quiet_until_us, why=line.trouble)

    def ask(question: Question) -> Reply:
        try:
            reply = ask_within_budget(parts, line, question)
        except OverBudgetError as error:
            raise _Over from error
        line.answered()
        return reply

    try:
        understood = understand(asked.turn, asked.readings, ask, reader_name(line.model))
    except _Over:
        next_day_us = (day_of(now_us) + 1) * DAY_US
        line.spent(next_day_us)
        return Thought(asked=asked, again_us=next_day_us, why=OVER_BUDGET, over_budget=True)
    if understood.failure is not None:
        return _failed(parts, line, asked, understood.failure)
    return Thought(asked=asked, understood=understood)


class _Over(Exception):  # noqa: N818 - it never leaves this module
    """The budget does not allow the call."""


def _failed(parts: Parts, line: ModelLine, asked: Asked, failure: ModelFailure) -> Thought:
    again_us = line.failed(failure, parts.clock.now_us())
    _log.warning("model gave no answer", extra={"model": line.model.model_id, "trouble": failure.trouble.value})
    return Thought(asked=asked, again_us=again_us, why=str(failure), counts=not failure.trouble.of_the_model)


def believe_thought(parts: Parts, job: Job, thought: Thought) -> None:
    """Apply an answer, or its substitute, and complete the job, in one transaction.

    A job that another process has taken over is left to it.
    """
    if thought.error is not None:
        raise thought.error

    def work(writer: Writer) -> None:
        if not is_leased(writer, job):
            return
        if thought.asked is not None:
            if job.kind == REREAD and thought.understood is None:
                writer.put(_later(parts, job, thought))
                return
            _hold(writer, parts, job, thought)
            if parts.embedder is not None:
                writer.put(Job(kind=EMBED, first=job.first, last=job.last))
        writer.put(finished(job))

    parts.store.commit(parts.user_id, work)


def _hold(writer: Writer, parts: Parts, job: Job, thought: Thought) -> None:
    """Apply the claims known so far; a message without an answer is sent to the model later."""
    asked = thought.asked
    if asked is None:
        return
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None
    if thought.understood is not None:
        claims = still_so(writer, asked, thought.understood)
        if claims is None:  # the message was redacted since
            left = turn_of(writer, job.first, parts.extractor)
            claims = () if left is None else left.readings
        if job.kind == REREAD:
            believe_again(writer, asked.event, claims, now_us, embeds=embeds)
        else:
            believe(writer, [(asked.event, claims)], now_us, embeds=embeds)
        return
    left = turn_of(writer, job.first, parts.extractor)
    if left is not None:
        claims = left.readings if thought.over_budget else fallback(left)
        believe(writer, [(left.event, claims)], now_us, embeds=embeds)
        again_us = thought.again_us or 0
        writer.put(Job(kind=REREAD, first=job.first, last=job.last, run_after_us=again_us, error=thought.why))


def _later(parts: Parts, job: Job, thought: Thought) -> Job:
    """Postpone a second attempt; if the failure lies with the message, the number of attempts is bounded."""
    dead = thought.counts and job.attempts >= parts.settings.job_attempts
    return replace(
        job,
        status=JobStatus.DEAD if dead else JobStatus.QUEUED,
        attempts=job.attempts if thought.counts else job.attempts - 1,
        run_after_us=thought.again_us or 0,
        lease_owner="",
        lease_until_us=0,
        error=thought.why,
    )


def extract_for_model(parts: Parts, job: Job) -> None:
    """Extract a job's events by rules, apply those that need no model, and queue one job for each of the others."""
    with parts.store.reader(parts.user_id) as reader:
        turns = read_turns(reader, job.first, job.last, parts.extractor)
        tag = reader.tenant.tag
    plain: list[ReadTurn] = []
    thinking: list[int] = []
    for one in turns:
        if skip(one.turn, one.claims) is None:
            thinking.append(number_of(one.turn.event.id, Kind.EVENT, tag))
        elif one.claims:
            plain.append(one)
    believed = [(one.turn.event, one.claims) for one in plain]
    with parts.store.reader(parts.user_id) as reader:
        nearness = near_to_known(reader, believed, parts.embedder, nearest_known(parts, reader))
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None

    def work(writer: Writer) -> None:
        believe(writer, believed, now_us, embeds=embeds, nearness=nearness)
        for number in thinking:
            writer.put(Job(kind=THINK, first=number, last=number))
        if embeds:
            writer.put(Job(kind=EMBED, first=job.first, last=job.last))
        writer.put(finished(job))

    parts.store.commit(parts.user_id, work)
    parts.thinking_waits.set()


def think_by_rules(parts: Parts, job: Job) -> None:
    """Apply the rules' claims of a message that waits for a model, when this memory is open without one."""
    with parts.store.reader(parts.user_id) as reader:
        asked = turn_of(reader, job.first, parts.extractor)
        believed = [] if asked is None else [(asked.event, asked.readings)]
        nearness = near_to_known(reader, believed, parts.embedder, nearest_known(parts, reader))
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None

    def work(writer: Writer) -> None:
        if believed:
            believe(writer, believed, now_us, embeds=embeds, nearness=nearness)
            if embeds:
                writer.put(Job(kind=EMBED, first=job.first, last=job.last))
        writer.put(finished(job))

    parts.store.commit(parts.user_id, work)
