"""Step 6: hits and core as one block for a prompt, within a budget of tokens. Pure.

The block is data: it is fenced, says so, and no text inside can close the fence. What every prompt needs comes first,
then what is held true, then what cannot be decided, then the words as they were said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Final

from credenda.model.contest import ContestCase
from credenda.model.memory import Memory
from credenda.model.query import Context, Hit, SlotVersion
from credenda.text.fence import CLOSING, OPENING, bullet, day, fenced, shortened, since
from credenda.text.token_budget import Budget, proved
from credenda.text.tokens import tokenize

__all__ = ["CLOSING", "OPENING", "Packing", "diverse", "pack"]

ALWAYS: Final = "Always:"
_VALUES: Final = 5
_RELEVANCE_SHARE: Final = 0.7
"""λ of maximal marginal relevance (Carbonell and Goldstein 1998): the share of relevance against novelty."""
_WARNINGS: Final = {
    "contested": "contested",
    "challenged": "in doubt",
    "stale": "may be outdated",
    "low_confidence": "unsure",
    "superseded": "no longer true",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """What else is known for a block: open contests, and what each memory's slot held before, latest first.

    `in_order` lays what was said out by time, for a question about the course of a matter. `told` names what needs no
    line of its own once it is flagged superseded: the line of the current value names it.
    """

    budget: Budget
    contests: Sequence[ContestCase] = ()
    previous: Mapping[str, Sequence[SlotVersion]] = field(default_factory=dict[str, Sequence[SlotVersion]])
    told: frozenset[str] = frozenset()
    history: bool = False
    in_order: bool = False
    abstained: bool = False
    headings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Under what a memory of the core stands, by its id, where not under "Always:"."""
    zone: tzinfo = UTC
    """Whose days are named."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One line under a heading; `hit` where it shows one."""

    heading: str
    text: str
    hit: Hit | None = None


def pack(core: Sequence[Memory], hits: Sequence[Hit], packing: Packing) -> Context:
    """Lay out the core and the hits; never more than the budget, by the count of the whole text.

    The core comes first and in its order; hits follow by relevance and novelty. A line that does not fit is passed
    over, so that a shorter one may. `hits` of the result are those shown; where nothing fits the text is empty.
    """
    kept: list[_Line] = []
    counter = packing.budget.counter
    spent = counter.count(f"{OPENING}\n{CLOSING}")
    headings: set[str] = set()
    for line in _lines(core, hits, packing):
        heading = 0 if line.heading in headings else counter.added_by(line.heading)
        cost = heading + counter.added_by(line.text)
        if spent + cost > packing.budget.tokens:
            continue
        spent += cost
        headings.add(line.heading)
        kept.append(line)
    lay = _in_order if packing.in_order else _layout
    kept, text, tokens = proved(kept, lay, packing.budget)
    shown = tuple(line.hit for line in kept if line.hit is not None)
    return Context(text=text, hits=shown, tokens=tokens, abstained=packing.abstained, counted_by=counter.name)


def _when(line: _Line) -> int:
    """Return when the words of a line were said; what has no time stays before them, in its order."""
    event = line.hit.event if line.hit else None
    return event.occurred_us if event else -(2**63)


def _in_order(lines: Sequence[_Line]) -> str:
    return _layout(sorted(lines, key=_when))


def _layout(lines: Sequence[_Line]) -> str:
    """Group lines under their headings, the headings in the order of their first line."""
    grouped: dict[str, list[str]] = {}
    for line in lines:
        grouped.setdefault(line.heading, []).append(line.text)
    blocks = (f"{heading}\n" + "\n".join(texts) for heading, texts in grouped.items())
    return "\n".join([OPENING, *blocks, CLOSING])


def _lines(core: Sequence[Memory], hits: Sequence[Hit], packing: Packing) -> Iterator[_Line]:
    """Yield lines in the order of their claim on the budget."""
    for memory in core:
        heading = packing.headings.get(memory.id, ALWAYS)
        yield _Line(heading, bullet(memory.id, memory.text, _since(memory, packing)))
    always = {memory.id for memory in core}
    yield from (_Line("Unsettled, ask before relying on it:", _contest_line(case)) for case in packing.contests)
    fresh = [hit for hit in hits if hit.id not in always and not _is_told(hit, packing)]
    for hit in diverse(fresh):
        if hit.memory is not None:
            notes = [*_since(hit.memory, packing), *_previously(hit.memory, packing), *_warned(hit)]
            yield _Line("Held true:", bullet(hit.id, hit.text, notes), hit)
        elif hit.event is not None:
            said = f"{hit.event.speaker}: {hit.text}" if hit.event.speaker else hit.text
            yield _Line("Said:", bullet(hit.id, said, [day(hit.event.occurred_us, packing.zone), *_warned(hit)]), hit)


def _is_told(hit: Hit, packing: Packing) -> bool:
    return "superseded" in hit.flags and hit.id in packing.told


def _since(memory: Memory, packing: Packing) -> list[str]:
    return since(memory.valid_from_us, packing.zone)


def _warned(hit: Hit) -> list[str]:
    return [_WARNINGS[flag] for flag in sorted(hit.flags)]


def _previously(memory: Memory, packing: Packing) -> list[str]:
    """Name what was true before, latest first; all of it where history was asked for."""
    earlier = packing.previous.get(memory.id, ())[: _VALUES if packing.history else 1]
    named = [
        f"{version.value or version.text} until {day(version.valid_until_us, packing.zone)}"
        if version.valid_until_us is not None
        else f"{version.value or version.text}"
        for version in earlier
    ]
    return [f"previously {', '.join(named)}"] if named else []


def _contest_line(case: ContestCase) -> str:
    values = " or ".join(f'"{value}"' for value in case.values)
    return f"- [{case.id}] {shortened(fenced(f'{case.attribute}: {values}. {case.question}'))}"


def diverse(hits: Sequence[Hit]) -> list[Hit]:
    """Reorder hits by maximal marginal relevance, likeness being the Jaccard index of their terms.

    What is flagged superseded stays behind what is current.
    """
    terms = {hit.id: frozenset(tokenize(hit.text)) for hit in hits}
    likeness = dict.fromkeys(terms, 0.0)
    left = list(hits)
    ordered: list[Hit] = []
    while left:
        best = max(left, key=lambda hit: _RELEVANCE_SHARE * hit.score - (1 - _RELEVANCE_SHARE) * likeness[hit.id])
        left.remove(best)
        ordered.append(best)
        for hit in left:
            likeness[hit.id] = max(likeness[hit.id], _jaccard(terms[hit.id], terms[best.id]))
    return sorted(ordered, key=lambda hit: "superseded" in hit.flags)


def _jaccard(one: Collection[str], other: Collection[str]) -> float:
    union = len({*one, *other})
    return len(set(one) & set(other)) / union if union else 1.0
