"""What every search reads of its user and what seldom changes, kept from one search to the next."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["InstructionCache", "Occasion"]

Occasion = frozenset[str]
"""The terms that say when a standing instruction applies."""


class InstructionCache:
    """The standing instructions of one tenant, by code, as they were at one change.

    It is asked by the head of the change log that a view has, so that no view is answered with what another one held:
    nothing about a memory changes without a change in the log. Safe to use from any thread.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[int, Mapping[int, Occasion]] | None = None

    def at(self, change: int) -> Mapping[int, Occasion] | None:
        """Return what was noted at this head of the change log; None where that was another one."""
        last = self._last
        return last[1] if last is not None and last[0] == change else None

    def note(self, change: int, instructions: Mapping[int, Occasion]) -> None:
        """Keep this in place of what was noted before; one assignment, so that no thread sees half of it."""
        self._last = change, instructions
