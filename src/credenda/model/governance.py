"""What models cost, and the report for those who must account for a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CostDay:
    """The cost of one model for one operation on one day (UTC)."""

    day: str
    operation: str
    model_id: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSummary:
    """The cost of models from one day to another, both included; a model without a known price costs 0."""

    first_day: str
    last_day: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float
    by_operation: Mapping[str, float]
    """Cost in US dollars."""
    by_model: Mapping[str, float]
    """Cost in US dollars."""
    days: tuple[CostDay, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplianceReport:
    """A report that was written: its lines by kind, and the end of the audit chain that it leads to."""

    path: str
    lines: Mapping[str, int]
    audit_ok: bool
    """Whether the audit chain of the database is whole."""
    audit_head: str
