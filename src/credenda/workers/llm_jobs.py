"""Extraction with a model: one job per event, with model calls outside any transaction and in their own threads.

One call is about a passage: the next waiting messages of one session. One short transaction applies an answer and
completes its jobs. If the model fails, the reader's claims, or the verbatim
text, are applied at once, and the message is extracted once more when the model is back. Over the day's budget only the
rules' claims are applied, and the message waits for the next day.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event as Signal
from threading import Thread
from typing import Final

from credenda.clock import DAY_US, has_ended
from credenda.current_call import add_model_use
from credenda.errors import LimitExceeded
from credenda.ids import IdKind, parse_id_number
from credenda.model.claim import Claim, keep_weightiest
from credenda.model.event import Event
from credenda.providers.llm.client import ModelClient, estimate_question_tokens
from credenda.providers.llm.protocol import ModelFailure, Question, Reply
from credenda.runtime import Parts
from credenda.storage.records import EMBED, REREAD, THINK, mark_complete
from credenda.storage.store import Job, JobStatus, Spend, Writer
from credenda.telemetry import record_model_call
from credenda.workers.loop import commit_leased, end_portion, take_portion
from credenda.write.llm.prompt import Passage
from credenda.write.llm.reading import Understood, reader_name, skip, understand
from credenda.write.llm.turns import believe_again, fallback, load_passage, load_turn, still_so
from credenda.write.reconcile_job import ExtractedTurn, apply_claims, extract_turns

# The token budget of models: reserved before a call, corrected after it, so that a crash cannot overspend.


EXTRACTION = "extract"
"""The operation under which extraction is recorded."""

COUNTED = "extracted "
"""Beginning of the operations that count messages and claims of extraction, and cost nothing."""
MESSAGES = "messages"
"""The count of messages that a model has read."""


class OverBudgetError(Exception):
    """The day's tokens of this tenant do not allow another call."""


def to_day(now_us: int) -> int:
    """Return the day of a moment, in days since 1970-01-01 UTC."""
    return now_us // DAY_US


def ask_within_budget(parts: Parts, line: ModelClient, question: Question, operation: str = EXTRACTION) -> Reply:
    """Send a question to a model and record its cost; raises `ModelFailure`, and `OverBudgetError` before any call.

    It reserves the maximum cost of the call first, in a transaction of its own, and returns the unused part afterwards.
    Several processes share the budget. `operation` is the name under which the cost is recorded.
    """
    aside = Spend(
        day=to_day(parts.clock.now_us()),
        operation=operation,
        model_id=line.model.model_id,
        tokens_in=estimate_question_tokens(question),
        tokens_out=question.tokens_max,
    )
    try:
        _record_spend(parts, replace(aside, tokens_max=parts.settings.llm_daily_tokens))
    except LimitExceeded as error:
        raise OverBudgetError(str(error)) from error
    used_in = used_out = calls = 0
    try:
        with record_model_call(line.model.model_id, question.tokens_max) as report:
            reply = line.model.ask(question)
            report(reply.tokens_in, reply.tokens_out)
        used_in, used_out, calls = reply.tokens_in, reply.tokens_out, 1
        return reply
    except ModelFailure as failure:
        used_in, used_out, calls = failure.tokens_in, failure.tokens_out, 1
        raise
    finally:
        cost_usd = line.price.cost(used_in, used_out) if line.price else 0.0
        add_model_use(used_in, used_out, cost_usd)
        tokens_in, tokens_out = used_in - aside.tokens_in, used_out - aside.tokens_out
        _record_spend(parts, replace(aside, tokens_in=tokens_in, tokens_out=tokens_out, calls=calls, cost_usd=cost_usd))


def _record_spend(parts: Parts, spend: Spend) -> None:
    parts.store.commit(parts.user_id, lambda writer: writer.put(spend))


_log = logging.getLogger(__name__)
_LOOK_SECONDS: Final = 0.02
OVER_BUDGET: Final = "over the day's budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """The result of a model call for one passage, not stored yet: an answer, or the time and reason of a retry."""

    asked: Passage | None
    understood: Understood | None = None
    retry_at_us: int | None = None
    why: str = ""
    is_over_budget: bool = False
    counts: bool = False
    """Whether the failure lies with this passage, so that the number of attempts is bounded."""
    error: Exception | None = None


def ask_about_jobs(
    parts: Parts,
    line: ModelClient,
    groups: Sequence[Sequence[Job]],
    stop: Signal | None = None,
    *,
    afresh: bool = False,
) -> list[ModelAnswer | None]:
    """Call a model for the passages of some groups of jobs, as many at once as the model allows.

    Returns when all have an answer, or when `stop` is set; a passage without an answer by then is None. When memories
    are rederived `afresh` the model does not get the current memories.
    """
    found: list[ModelAnswer | None] = [None] * len(groups)

    def work(at: int) -> None:
        found[at] = _try_ask(parts, line, groups[at], afresh=afresh)

    if line.model.at_once == 1 and stop is None:
        for at in range(len(groups)):
            work(at)
        return found
    for first in range(0, len(groups), line.model.at_once):
        places = range(first, min(first + line.model.at_once, len(groups)))
        threads = [Thread(target=work, args=(at,), name="credenda-model", daemon=True) for at in places]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            if stop is not None and stop.is_set():
                return list(found)
            for thread in threads:
                thread.join(_LOOK_SECONDS)
    return found


def _try_ask(parts: Parts, line: ModelClient, jobs: Sequence[Job], *, afresh: bool) -> ModelAnswer:
    """Call the model for one passage; any error becomes part of the result, because no caller awaits this thread."""
    try:
        return _ask(parts, line, jobs, afresh=afresh)
    except Exception as error:  # noqa: BLE001 - the job boundary: any failure is filed with the job
        return ModelAnswer(asked=None, error=error)


def _ask(parts: Parts, line: ModelClient, jobs: Sequence[Job], *, afresh: bool) -> ModelAnswer:
    with parts.store.reader(parts.user_id) as reader:
        asked = load_passage(reader, [job.first for job in jobs], parts.extractor)
    if asked is None:
        return ModelAnswer(asked=None)
    if afresh:
        asked = replace(asked, known=())
    now_us = parts.clock.now_us()
    if not has_ended(line.open_until_us, now_us):
        return ModelAnswer(asked=asked, retry_at_us=line.open_until_us, why=line.trouble)

    def ask(question: Question) -> Reply:
        try:
            reply = ask_within_budget(parts, line, question)
        except OverBudgetError as error:
            raise _OverBudget from error
        line.answered()
        return reply

    try:
        understood = understand(asked, ask, reader_name(line.model))
    except _OverBudget:
        next_day_us = (to_day(now_us) + 1) * DAY_US
        line.spent(next_day_us)
        return ModelAnswer(asked=asked, retry_at_us=next_day_us, why=OVER_BUDGET, is_over_budget=True)
    if understood.failure is not None:
        failure = understood.failure
        again_us = line.failed(failure, parts.clock.now_us())
        _log.warning("model gave no answer", extra={"model": line.model.model_id, "trouble": failure.trouble.value})
        return ModelAnswer(
            asked=asked, retry_at_us=again_us, why=str(failure), counts=not failure.trouble.is_model_fault
        )
    return ModelAnswer(asked=asked, understood=understood)


class _OverBudget(Exception):  # noqa: N818 - it never leaves this module
    """The budget does not allow the call."""


def apply_answer(parts: Parts, jobs: Sequence[Job], thought: ModelAnswer) -> None:
    """Apply an answer, or its substitute, and complete its jobs: decided on a view, filed in one short transaction.

    Jobs of which another process has taken one over are left to it.
    """
    if thought.error is not None:
        raise thought.error
    asked, understood = thought.asked, thought.understood
    postponed = asked is not None and jobs[0].kind == REREAD and understood is None

    def decide(writer: Writer) -> None:
        if asked is None or postponed:
            return
        if understood is None:
            _believe_substitutes(writer, parts, jobs, thought)
        else:
            _believe_answer(writer, parts, jobs, list(still_so(writer, asked, understood)))

    def end(writer: Writer) -> None:
        for job in jobs:
            if asked is not None and not postponed and parts.embedder is not None:
                writer.put(Job(kind=EMBED, first=job.first, last=job.last))
            writer.put(_postpone(parts, job, thought) if postponed else mark_complete(job))
        if understood is not None and parts.llm is not None:
            # The counts of an answer for `stats`, as rows of the day's ledger that cost nothing.
            day, model_id = to_day(parts.clock.now_us()), parts.llm.model.model_id
            writer.put(Spend(day=day, operation=COUNTED + MESSAGES, model_id=model_id, calls=len(jobs)))
            for (outcome, why), count in Counter(understood.outcomes).items():
                writer.put(Spend(day=day, operation=f"{COUNTED}{outcome}: {why}", model_id=model_id, calls=count))

    commit_leased(parts, jobs, decide, end)


def _believe_answer(
    writer: Writer, parts: Parts, jobs: Sequence[Job], believed: list[tuple[Event, tuple[Claim, ...]]]
) -> None:
    """Apply the claims of an answer; a message that was redacted meanwhile gets the reader's claims of what is left."""
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None
    unchanged = {event.id for event, _ in believed}
    if len(believed) < len(jobs):
        left = [one for job in jobs if (one := load_turn(writer, job.first, parts.extractor)) is not None]
        believed += [(one.turn.event, one.claims) for one in left if one.turn.event.id not in unchanged]
    for event, answer in believed:
        claims = tuple(keep_weightiest(answer, parts.settings.memories_per_message))
        if jobs[0].kind == REREAD:
            believe_again(writer, event, claims, now_us, embeds=embeds)
        else:
            apply_claims(writer, [(event, claims)], now_us, embeds=embeds)


def _believe_substitutes(writer: Writer, parts: Parts, jobs: Sequence[Job], thought: ModelAnswer) -> None:
    """Apply what is known without an answer; each message is sent to the model later, by itself."""
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None
    for job in jobs:
        left = load_turn(writer, job.first, parts.extractor)
        if left is None:
            continue
        claims = left.claims if thought.is_over_budget else fallback(left)
        apply_claims(writer, [(left.turn.event, claims)], now_us, embeds=embeds)
        again_us = thought.retry_at_us or 0
        writer.put(Job(kind=REREAD, first=job.first, last=job.last, run_after_us=again_us, error=thought.why))


def _postpone(parts: Parts, job: Job, thought: ModelAnswer) -> Job:
    """Postpone a second attempt; if the failure lies with the message, the number of attempts is bounded."""
    dead = thought.counts and job.attempts >= parts.settings.job_attempts
    return replace(
        job,
        status=JobStatus.DEAD if dead else JobStatus.QUEUED,
        attempts=job.attempts if thought.counts else job.attempts - 1,
        run_after_us=thought.retry_at_us or 0,
        lease_owner="",
        lease_until_us=0,
        error=thought.why,
    )


def prepare_llm_jobs(parts: Parts, job: Job) -> None:
    """Read the next events of a job, apply those that need no model, and queue a job for each other one."""
    portion = take_portion(job)
    with parts.store.reader(parts.user_id) as reader:
        turns = extract_turns(reader, portion.first, portion.last, parts.extractor)
        tag = reader.tenant.tag
    plain: list[ExtractedTurn] = []
    thinking: list[int] = []
    for one in turns:
        if skip(one.turn, one.claims) is None:
            thinking.append(parse_id_number(one.turn.event.id, IdKind.EVENT, tag))
        elif one.claims:
            plain.append(one)
    believed = [(one.turn.event, one.claims) for one in plain]
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None

    def decide(writer: Writer) -> None:
        apply_claims(writer, believed, now_us, embeds=embeds)

    def end(writer: Writer) -> None:
        for number in thinking:
            writer.put(Job(kind=THINK, first=number, last=number))
        if embeds:
            writer.put(Job(kind=EMBED, first=portion.first, last=portion.last))
        writer.put(end_portion(job, portion))

    commit_leased(parts, [job], decide, end)
    parts.llm_jobs_ready.set()


def apply_rule_claims(parts: Parts, job: Job) -> None:
    """Apply the reader's claims of a message that waits for a model, when this memory is open without one."""
    with parts.store.reader(parts.user_id) as reader:
        found = load_turn(reader, job.first, parts.extractor)
        believed = [] if found is None else [(found.turn.event, found.claims)]
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None

    def decide(writer: Writer) -> None:
        apply_claims(writer, believed, now_us, embeds=embeds)

    def end(writer: Writer) -> None:
        if believed and embeds:
            writer.put(Job(kind=EMBED, first=job.first, last=job.last))
        writer.put(mark_complete(job))

    commit_leased(parts, [job], decide, end)
