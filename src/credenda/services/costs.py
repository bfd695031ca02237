"""Sum up what models cost (R-176)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Final

from credenda.clock import DAY_US, to_datetime
from credenda.model.governance import CostDay, CostSummary
from credenda.runtime import Parts
from credenda.services.lookup import read_span
from credenda.storage.store import Spend
from credenda.workers.llm_budget import COUNTED, to_day

_DAYS: Final = 30


def sum_costs(parts: Parts, since: datetime | str | None, until: datetime | str | None) -> CostSummary:
    """Sum up the days from `since` to `until`, both included; by default the last thirty days."""
    since_us, until_us = read_span(parts, since, until)
    last = to_day(until_us)
    first = last - _DAYS + 1 if since is None else to_day(since_us)
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
