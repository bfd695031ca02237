"""What duties file: values derived from rows, how far they have come, and who leads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Retention", "SchedulerLease", "Surprise", "Watermark"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How much of memories is retained, in [0, 1] by id: derived values of their current versions, no change of them.

    All are written by one statement; a memory that is not there is passed over.
    """

    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surprise:
    """How new a memory was when it was written, in [0, 1], and its importance after that.

    Derived values of its current version, filed once: a memory whose surprise is known keeps it.
    """

    memory_id: str
    score: float
    importance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """How far a duty has come; `value` means what the duty says. None in `value` takes the mark away."""

    name: str
    value: int | None
    at_us: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerLease:
    """Take or keep the lead over the duties of a tenant; filing it raises `Conflict` while another process has it.

    With the `name` of a duty it is the lock of that one alone; `until_us` not after `now_us` gives it up. The error
    names the `owner` among its ids; who knows that one to be gone files again with its name in `over`.
    """

    owner: str
    now_us: int
    until_us: int
    name: str = ""
    over: str = ""
