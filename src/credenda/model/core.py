"""The core: the few memories that every prompt should have, and what a rewrite of it changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from credenda.clock import to_datetime
from credenda.model.memory import Memory

__all__ = ["HEADINGS", "Core", "CoreDiff", "CoreLine", "CoreMemory", "RecallCounts", "Section"]


class Section(StrEnum):
    """Why a memory is in the core; a memory has one section, the first that it qualifies for."""

    INSTRUCTION = "instruction"
    """The person said how things are to be done from now on."""
    PINNED = "pinned"
    """The person pinned it."""
    IDENTITY = "identity"
    """It says who the person is: name, residence, work and the like."""
    RECALLED = "recalled"
    """The recall log says that it is needed often."""


HEADINGS: Final = {
    Section.INSTRUCTION: "Always:",
    Section.PINNED: "Always:",
    Section.IDENTITY: "About the user:",
    Section.RECALLED: "Often needed:",
}


class CoreMemory(NamedTuple):
    """A memory and the reason why it is to be in the core."""

    section: Section
    memory: Memory


class RecallCounts(NamedTuple):
    """How often a memory was recalled within a window: on how many days, in how many sessions, and when last.

    `useful` is the balance of what callers said of its use.
    """

    memory_id: str
    days: int
    sessions: int
    useful: int
    last_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreLine:
    """One line: the memory it shows, in the version it shows, and why it is there.

    `text` is the whole line as a prompt has it; "" where it was removed and its words were deleted since.
    """

    section: Section
    memory_id: str
    version: int
    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreDiff:
    """What a rewrite changed against the one before: lines that came, that went, and (before, after) of the others."""

    added: tuple[CoreLine, ...] = ()
    removed: tuple[CoreLine, ...] = ()
    reworded: tuple[tuple[CoreLine, CoreLine], ...] = ()

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return bool(self.added or self.removed or self.reworded)


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """The core as it is now: never more than `tokens_max`, nor `lines_max` lines.

    `text` is the block as a prompt has it, fenced as data; "" where nothing qualifies. `left_out` names what qualifies
    as an instruction, a pin or identity and found no room. `diff` is against the rewrite before the last one:
    `rewritten` says whether this call was it; `rewrites` counts those that are remembered.
    """

    text: str
    lines: tuple[CoreLine, ...]
    tokens: int
    tokens_max: int
    lines_max: int
    left_out: tuple[str, ...]
    diff: CoreDiff
    rewritten: bool
    rewrites: int
    rewritten_us: int
    previous_us: int | None
    counted_by: str = "estimate"
    """What counted the tokens: "estimate", or the name of the tokenizer."""

    @property
    def rewritten_at(self) -> datetime:
        """When it was rewritten last; a core that was never filed is as of now."""
        return to_datetime(self.rewritten_us)

    @property
    def previous_at(self) -> datetime | None:
        """When the rewrite was made that `diff` compares with; None where this is the first."""
        return None if self.previous_us is None else to_datetime(self.previous_us)
