"""A cache of the standing instructions, which every search reads and which seldom change."""

from __future__ import annotations

from collections.abc import Mapping

Occasion = frozenset[str]
"""The trigger terms of a standing instruction."""


class InstructionCache:
    """The standing instructions of one tenant, by code, at one position of the change log.

    The key is the head of the change log in a view, so that no view gets the data of another: no memory changes without
    a change in the log. Safe to use from any thread.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[int, Mapping[int, Occasion]] | None = None

    def at(self, change: int) -> Mapping[int, Occasion] | None:
        """Return the cached instructions for this head of the change log; None for any other head."""
        last = self._last
        return last[1] if last is not None and last[0] == change else None

    def note(self, change: int, instructions: Mapping[int, Occasion]) -> None:
        """Replace the cached instructions; one assignment, so that no thread sees half of it."""
        self._last = change, instructions
