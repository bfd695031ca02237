"""Results of tests of beliefs, and of replayed contexts."""

from __future__ import annotations

from dataclasses import dataclass

from credenda.model.rebuild_report import RebuildDifference

__all__ = ["BeliefTestReport", "CheckedAssertion", "ReplayReport", "ReplayedPrompt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAssertion:
    """One assertion: its line and words, whether it holds, and both sides if it does not.

    `expected` and `found` are lists of lines; those of `found` name memories and events by their ids.
    """

    line: int
    assertion: str
    passed: bool
    expected: tuple[str, ...] = ()
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefTestReport:
    """The result of a file of assertions, in its order.

    `tested` says what they were tested against: "memory", "reextracted" or "data". `differences` are those that reading
    the journal again with the present rules makes, empty unless it was read again.
    """

    path: str
    tested: str
    passed: int
    failed: int
    checks: tuple[CheckedAssertion, ...]
    differences: tuple[RebuildDifference, ...] = ()
    problems: tuple[str, ...] = ()
    """Items of the data that could not be imported."""

    @property
    def ok(self) -> bool:
        """Whether every assertion holds."""
        return not self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedPrompt:
    """The contexts that a prompt would have got when it was said, with and without a memory.

    `without_text` is None if no memory was left out, or if it was not known yet.
    """

    event_id: str
    at_us: int
    prompt: str
    with_text: str
    without_text: str | None = None
    with_tokens: int = 0
    without_tokens: int = 0

    @property
    def changed(self) -> bool:
        """Whether the memory makes a difference."""
        return self.without_text is not None and self.without_text != self.with_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """The replayed prompts of a session, oldest first; `left_out` counts earlier ones beyond the limit."""

    session: str
    without: str | None
    prompts: tuple[ReplayedPrompt, ...]
    changed: int = 0
    left_out: int = 0
