"""The token budget of models: reserved before a call, corrected after it, so that a crash cannot overspend."""

from __future__ import annotations

from dataclasses import replace

from credenda.clock import DAY_US
from credenda.errors import LimitExceeded
from credenda.providers.llm.client import ModelClient, estimate_question_tokens
from credenda.providers.llm.protocol import ModelFailure, Question, Reply
from credenda.runtime import Parts
from credenda.storage.store import Spend
from credenda.telemetry.model_use import add_model_use
from credenda.telemetry.spans import record_model_call

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
