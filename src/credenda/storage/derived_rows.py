"""Rows that scheduled tasks write: derived values, watermarks, and the lease of the scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Retention scores of memories in [0, 1], by id: derived values of the current versions, not changes of them.

    One statement writes them all; it ignores ids that do not exist.
    """

    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surprise:
    """The novelty of a memory when it was written, in [0, 1], and its importance adjusted by it.

    Derived values of the current version, written once: a memory that has a surprise score keeps it.
    """

    memory_id: str
    score: float
    importance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCopies:
    """Vectors of documents, by code, for the index of a backend that has one (`VectorView.is_indexed`).

    `head` is the number of the last vector up to which all of this model were copied.
    """

    model_id: str
    head: int
    vectors: Sequence[tuple[int, Sequence[float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """The progress of a scheduled task; the task defines its `value`. A `value` of None removes the watermark."""

    name: str
    value: int | None
    at_us: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerLease:
    """Take or renew the lease for the scheduled tasks of a tenant; raises `Conflict` while another process has it.

    With the `name` of a task it is the lock of that task alone. An `until_us` not after `now_us` releases it. The error
    lists the `owner` among its ids; a caller that knows that this owner is gone puts the row again with the owner in
    `over`.
    """

    owner: str
    now_us: int
    until_us: int
    name: str = ""
    over: str = ""
