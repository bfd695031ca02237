"""A record of which lines a context got and which it lacks, for those who ask why. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from credenda.model.memory import Memory
from credenda.model.query import Hit

NO_ROOM: Final = "no room is left for it: hits fill a part of the budget that grows with the probability of an answer"
_TOLD: Final = "the line of the current value mentions it"
_IN_CORE: Final = "the core has it already"
_NOT_CHOSEN: Final = "the core has no room for it beside the hits, or it is of another topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedLine:
    """A line, and why it is in the block or not."""

    heading: str
    text: str
    ids: tuple[str, ...]
    tokens: int = 0
    reason: str
    hit: Hit | None = None


@dataclass(slots=True)
class PackTrace:
    """The lines of one block, filled while it is packed."""

    kept: list[TracedLine] = field(default_factory=list[TracedLine])
    left_out: list[TracedLine] = field(default_factory=list[TracedLine])

    def leave_core(self, candidates: Iterable[Memory], chosen: Iterable[Memory], hits: Iterable[Hit] = ()) -> None:
        """Note the memories of the core that were not chosen, and that no hit stands for."""
        kept = {one.id for one in chosen} | {hit.id for hit in hits}
        self._leave([(one.id, one.text) for one in candidates if one.id not in kept], _NOT_CHOSEN)

    def leave_hits(self, hits: Sequence[Hit], *, core: Iterable[str]) -> None:
        """Note hits that get no line of their own."""
        always = set(core)
        self._leave([(hit.id, hit.text) for hit in hits if hit.id in always], _IN_CORE)
        self._leave([(hit.id, hit.text) for hit in hits if hit.id not in always], _TOLD)

    def _leave(self, named: Iterable[tuple[str, str]], reason: str) -> None:
        self.left_out += [TracedLine(heading="", text=text, ids=(name,), reason=reason) for name, text in named]
