"""Storage of model costs."""

from __future__ import annotations

from credenda.errors import LimitExceeded
from credenda.storage.sql.run import StatementRunner
from credenda.storage.store import Spend

__all__ = ["add_spend"]


def add_spend(run: StatementRunner, spend: Spend) -> str:
    """Add to the cost of a day; raises `LimitExceeded` above its bound."""
    tokens = spend.tokens_in + spend.tokens_out
    if (
        spend.tokens_max is not None
        and int(run("spent_on_day", day=spend.day).fetchone()[0] or 0) + tokens > spend.tokens_max
    ):
        raise LimitExceeded(
            "the day's budget for models is spent",
            why=f"at most {spend.tokens_max} tokens a day are allowed",
            fix="raise llm_daily_tokens, or wait for the next day (UTC)",
        )
    run(
        "add_spend",
        day=spend.day,
        operation=spend.operation,
        model_id=spend.model_id,
        tokens_in=spend.tokens_in,
        tokens_out=spend.tokens_out,
        calls=spend.calls,
        cost_usd=spend.cost_usd,
    )
    return ""
