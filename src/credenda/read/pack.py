"""Step 6: lay out the core and the hits as one block for a prompt, within a token budget. Pure.

The block is data: it is fenced, says so, and no text inside can close the fence. What holds for every answer comes
first, then open contests, then current memories, then events. Facts about the user and instructions that the question
does not call for come last, although they are chosen before the hits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from functools import partial
from typing import Final

from credenda.model.change import ContestCase
from credenda.model.core import HEADINGS, Section
from credenda.model.memory import ASSERTIVE_STANCES, OPEN_STANCES, Memory, Stance, Status
from credenda.model.query import Context, Hit, SlotVersion
from credenda.model.statement import (
    ENGLISH,
    choose_word,
    format_author,
    format_core_text,
    format_fact,
    format_validity,
    is_worded,
    write_claim,
)
from credenda.read.newer import has_begun, put_newest_first
from credenda.read.pack_trace import NO_ROOM, PackTrace, TracedLine
from credenda.text.fence import (
    CLOSING,
    TokenBudget,
    fence_text,
    fit_to_budget,
    format_bullet,
    format_day,
    format_stated,
    name_year,
    shorten_line,
)
from credenda.text.normalize import detect_language
from credenda.text.passing import find_own_end
from credenda.text.tokens import tokenize

ALWAYS: Final = "Always:"
WHEN: Final = "In other cases:"
"""Instructions for a kind of question that this one is not."""
_HELD: Final = "Held true:"
_THEN: Final = "Held true then:"
_SAID: Final = "Said:"
_PLANS: Final = "Planned or considered:"
_UNSURE: Final = "In doubt:"
_ENDED: Final = "No longer true:"
_UNSETTLED: Final = "Unsettled, ask before relying on it:"
_UNTOLD_WORDS: Final = 3
"""Number of words that make a sentence worth showing beside the memories that were read from it."""
_USER: Final = "user"
_DOUBTS: Final = frozenset({"challenged", "low_confidence"})
_VALUES: Final = 5
_FEW: Final = 5
"""Number of hits up to which naming the year once takes more tokens than it saves."""
_RELEVANCE_SHARE: Final = 0.7
"""λ of maximal marginal relevance (Carbonell and Goldstein 1998): the weight of relevance against novelty."""
_WARNINGS: Final = {
    "contested": "contested",
    "challenged": "in doubt",
    "stale": "may be outdated",
    "low_confidence": "unsure",
    "superseded": "no longer true",
}
_ORDER: Final = {HEADINGS[Section.IDENTITY]: 1, HEADINGS[Section.RECALLED]: 1, WHEN: 1, _ENDED: 2}
"""Headings that stand behind the others, which keep the order of their first lines."""
_SURE: Final = 0.5
"""Probability of an answer from which hits may fill the budget; below it, they fill a proportional part."""
_PARTLY_ENDED: Final = "in part no longer true"
_OLDER: Final = "perhaps replaced since"


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """Further input of a block: open contests, and the earlier values of each memory's slot, latest first.

    `in_order` sorts lines by time, for a question about the course of events. `told` are ids of ended values and of
    sentences that need no line, because the lines of the current values mention what they say; `outdated` are ids of
    other sentences with a fact that has ended.
    """

    budget: TokenBudget
    contests: Sequence[ContestCase] = ()
    previous: Mapping[str, Sequence[SlotVersion]] = field(default_factory=dict[str, Sequence[SlotVersion]])
    told: frozenset[str] = frozenset()
    outdated: frozenset[str] = frozenset()
    together: Mapping[str, str] = field(default_factory=dict[str, str])
    """The contest of each value that an answer keeps, by memory id: they are shown together or not at all."""
    then: Collection[str] = ()
    """Ids of the values that held at the time that the question asks about."""
    echoes: frozenset[str] = frozenset()
    """Ids of messages that tell nothing of their own, which get no line."""
    history: bool = False
    in_order: bool = False
    ranked: bool = False
    """The hits answer a question about the whole, in the order of the answer."""
    abstained: bool = False
    probability: float = 1.0
    """The probability of an answer, which limits the part of the budget that hits fill."""
    headings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headings of core memories by id; the default is "Always:"."""
    told_at: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    """When core memories were told, by id."""
    zone: tzinfo = UTC
    """Time zone of the dates in the block."""
    now_us: int = 0
    """The time at which the block is read, by which ages have gone on; 0 for an unknown one."""
    trace: PackTrace | None = None
    """Takes down which lines the block got, and which it lacks."""
    language: str = ENGLISH
    """Language of headings and notes; the fence and the speakers are the same in every language."""
    year: str = ""
    """The present year, if the block names it once for all of its days; "" if each day has its own."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One line under a heading, and the hits that it shows."""

    heading: str
    text: str
    hits: tuple[Hit, ...] = ()
    ids: tuple[str, ...] = ()
    reason: str = ""

    def trace(self, tokens: int, reason: str = "") -> TracedLine:
        """Describe the line and why it is in the block, or not."""
        best = self.hits[0] if self.hits else None
        ids = self.ids or tuple(hit.id for hit in self.hits)
        why = reason or self.reason or "the search found it"
        return TracedLine(heading=self.heading, text=self.text, ids=ids, tokens=tokens, reason=why, hit=best)


def pack(core: Sequence[Memory], hits: Sequence[Hit], packing: Packing) -> Context:
    """Lay out the core and the hits; the token count of the whole text never exceeds the budget.

    The core keeps its order and comes first; hits follow by relevance and novelty. A line that does not fit is skipped,
    so that a shorter one may fit. Hits fill at most 2 · probability of the budget, but always have one line if it fits.
    `hits` of the result are the hits shown; the text is empty if nothing fits.
    """
    year = format_day(packing.now_us, packing.zone)[:4] if packing.now_us and len(hits) > _FEW else ""
    counts = Counter(detect_language(one.text) for one in (*core, *(hit.memory or hit for hit in hits)))
    found = max(counts, key=lambda language: counts[language], default=ENGLISH)
    packing = replace(packing, language=found if is_worded(found) else ENGLISH, year=year)
    kept: list[_Line] = []
    counter = packing.budget.counter
    spent = counter.count(f"{name_year(packing.year)}\n{CLOSING}")
    headings: set[str] = set()
    left = packing.budget.tokens * round(min(packing.probability / _SURE, 1.0) * 1_000) // 1_000
    filled = 0
    for line in _order_lines(core, hits, packing):
        heading = 0 if line.heading in headings else counter.added_by(choose_word(packing.language, line.heading))
        cost = heading + counter.added_by(line.text)
        if spent + cost > packing.budget.tokens or (line.hits and filled and filled + cost > left):
            if packing.trace is not None:
                packing.trace.left_out.append(line.trace(cost, NO_ROOM))
            continue
        spent += cost
        filled += cost if line.hits else 0
        headings.add(line.heading)
        kept.append(line)
    fitting, text, tokens = fit_to_budget(kept, partial(_group_lines, packing=packing), packing.budget)
    if packing.trace is not None:
        packing.trace.left_out += [line.trace(counter.added_by(line.text), NO_ROOM) for line in kept[len(fitting) :]]
        packing.trace.kept += [line.trace(counter.added_by(line.text)) for line in fitting]
    kept = fitting
    shown = tuple(hit for line in kept for hit in line.hits)
    return Context(
        text=text,
        hits=shown,
        tokens=tokens,
        abstained=packing.abstained,
        counted_by=counter.name,
        probability=packing.probability,
    )


def _find_time(line: _Line) -> int:
    """Return when the event of a line occurred; lines without a time sort first and keep their order."""
    event = line.hits[0].event if line.hits else None
    return event.occurred_us if event else -(2**63)


def _group_lines(lines: Sequence[_Line], packing: Packing) -> str:
    """Group lines under their headings, in the order of the first line of each heading; some come last."""
    grouped: dict[str, list[str]] = {}
    lines = sorted(lines, key=_find_time) if packing.in_order else lines
    for line in sorted(lines, key=lambda line: _ORDER.get(line.heading, 0)):
        grouped.setdefault(line.heading, []).append(line.text)
    blocks = (f"{choose_word(packing.language, heading)}\n" + "\n".join(texts) for heading, texts in grouped.items())
    return "\n".join([name_year(packing.year), *blocks, CLOSING])


def _order_lines(core: Sequence[Memory], hits: Sequence[Hit], packing: Packing) -> Iterator[_Line]:
    """Yield lines in order of priority for the budget."""
    for memory in sorted(core, key=lambda one: one.status is Status.CHALLENGED):
        heading = packing.headings.get(memory.id, ALWAYS)
        validity = format_validity(memory, packing.zone, packing.told_at.get(memory.id, ()), packing.language)
        doubt = [choose_word(packing.language, _WARNINGS["challenged"])] if memory.status is Status.CHALLENGED else []
        notes = [*validity, *doubt]
        text = format_bullet(memory.id, format_core_text(memory, packing.now_us), notes, year=packing.year)
        yield _Line(heading, text, ids=(memory.id,), reason=f"it is in the core: {heading.rstrip(':').lower()}")
    always = {memory.id for memory in core}
    for case in packing.contests:
        asked = "a memory in the block is contested"
        values = f" {choose_word(packing.language, 'or')} ".join(f'"{value}"' for value in case.values)
        yield _Line(
            _UNSETTLED,
            (f"- [{case.id}] {shorten_line(fence_text(f'{case.attribute}: {values}. {case.question}'))}"),
            ids=(case.id,),
            reason=asked,
        )
    fresh = [hit for hit in hits if hit.id not in always | packing.echoes and not _is_told(hit, packing)]
    ordered = fresh if packing.ranked else diversify(fresh)
    ordered = sorted(ordered, key=lambda hit: hit.id not in packing.then)
    if packing.trace is not None:
        packing.trace.leave_hits([hit for hit in hits if hit not in fresh], core=always)
    groups = group_by_claim(ordered, packing.now_us, packing.then)
    joined = dict[str, list[_Line]]()
    for hit, *others in groups:
        if hit.memory is not None and hit.id in packing.together:
            line = _format_memories(hit.memory, (hit, *others), packing)
            joined.setdefault(packing.together[hit.id], []).append(line)
    for hit, *others in groups:
        if hit.id in packing.together:
            yield from _join_lines(joined.pop(packing.together[hit.id], []))
        elif hit.memory is not None:
            yield _format_memories(hit.memory, (hit, *others), packing)
        elif hit.event is not None:
            said = format_stated(hit.event.speaker, hit.text).removeprefix(f"{_USER}: ")
            notes = [*name_days(hit, packing.zone, packing.language), *_word_doubts(hit, packing)]
            yield _Line(
                _SAID if hit.flags.isdisjoint({"superseded", "stale"}) else _ENDED,
                format_bullet(hit.id, said, notes, year=packing.year),
                (hit,),
            )


def has_untold_words(text: str, claims: Iterable[Memory], before: Iterable[str | None] = ()) -> bool:
    """Return whether a text has words, beside stop words, that no claim made from it, nor a value before it, tells."""
    parts = [part for one in claims for part in (one.entity, one.attribute, one.value, one.scope)]
    told = {term for part in (*parts, *before) for term in tokenize(part or "")}
    return len(set(tokenize(text)) - told) >= _UNTOLD_WORDS


def _join_lines(lines: Sequence[_Line]) -> Iterator[_Line]:
    """Make one line of those that are shown together or not at all, under the heading of the first."""
    if lines:
        text, hits = "\n".join(line.text for line in lines), tuple(hit for line in lines for hit in line.hits)
        yield replace(lines[0], text=text, hits=hits)


def group_by_claim(hits: Iterable[Hit], now_us: int = 0, then: Collection[str] = ()) -> Collection[list[Hit]]:
    """Group the memories that claim the same, at the place of the first."""
    grouped: dict[tuple[str, ...], list[Hit]] = {}
    for hit in hits:
        key = (
            (hit.id,)
            if hit.memory is None
            else (
                _choose_heading(hit, now_us, then),
                format_author(hit.memory, write_claim(hit.memory)),
                _name_day(hit.memory),
            )
        )
        grouped.setdefault(key, []).append(hit)
    return grouped.values()


def _name_day(memory: Memory) -> str:
    """Return the day of a dated plan, by which it is another than that of another day."""
    dated = memory.stance in OPEN_STANCES and memory.valid_until_us is not None
    return str(memory.valid_from_us) if dated else ""


def _format_memories(memory: Memory, hits: tuple[Hit, ...], packing: Packing) -> _Line:
    """Format the line of a claim, with the notes of all memories that hold it."""
    notes = dict.fromkeys(
        note
        for hit in hits
        if hit.memory is not None
        for note in (
            *name_validity(hit, packing.zone, packing.language),
            *_word_previous_values(hit, hit.memory, packing),
            *_word_doubts(hit, packing),
        )
    )
    names = ", ".join(hit.id for hit in hits)
    claim = format_fact(memory, write_claim(memory, packing.now_us))
    return _Line(
        _choose_heading(hits[0], packing.now_us, packing.then),
        format_bullet(names, claim, notes, year=packing.year),
        hits,
    )


def _choose_heading(hit: Hit, now_us: int, then: Collection[str] = ()) -> str:
    """Return the heading of a memory: only what its own speaker asserts, and nothing speaks against, is held true."""
    memory = hit.memory
    if hit.id in then:
        return _THEN
    over = memory is not None and memory.valid_until_us is not None and "stale" in hit.flags
    if "superseded" in hit.flags or over:
        return _ENDED
    if memory is None or memory.stance in OPEN_STANCES or not has_begun(memory, now_us):
        return _PLANS
    doubted = hit.newer is not None or not _DOUBTS.isdisjoint(hit.flags)
    return _UNSURE if doubted or memory.stance not in ASSERTIVE_STANCES else _HELD


def name_validity(hit: Hit, zone: tzinfo, language: str = ENGLISH) -> list[str]:
    """Say since when the memory of a hit is true, or when it was told."""
    told = [event.occurred_us for event in hit.evidence]
    return [] if hit.memory is None else format_validity(hit.memory, zone, told, language)


def name_days(hit: Hit, zone: tzinfo, language: str = ENGLISH) -> list[str]:
    """Say since when the memory of a hit is true, or when a message was said and since when it is over by its words."""
    if hit.event is None:
        return name_validity(hit, zone, language)
    said_us, end_us = hit.event.occurred_us, None
    if "stale" in hit.flags:
        end_us = find_own_end(hit.event.text, said_us)
    over = [] if end_us is None else [f"{choose_word(language, 'over since')} {format_day(end_us, zone)}"]
    return [format_day(said_us, zone), *over]


def _is_told(hit: Hit, packing: Packing) -> bool:
    """Return whether other lines mention what a hit says: an ended value, or a sentence that gave one."""
    sentence = hit.memory is None or hit.memory.value is None
    return hit.id in packing.told and hit.id not in packing.then and (sentence or "superseded" in hit.flags)


def _word_doubts(hit: Hit, packing: Packing) -> list[str]:
    partly = [_PARTLY_ENDED] if hit.id in packing.outdated and "superseded" not in hit.flags else []
    told = {_WARNINGS["superseded"]} if "superseded" in hit.flags else set[str]()  # its heading says so
    return [choose_word(packing.language, one) for one in (*partly, *word_warnings(hit)) if one not in told]


def word_warnings(hit: Hit) -> list[str]:
    """Return the warnings of a hit in words."""
    own = hit.event is not None and find_own_end(hit.event.text, hit.event.occurred_us) is not None
    over = {"stale"} if own or (hit.memory is not None and hit.memory.over) else set[str]()  # its times say so
    return [*(_WARNINGS[flag] for flag in sorted(hit.flags - over)), *([_OLDER] if hit.newer is not None else [])]


def _word_previous_values(hit: Hit, memory: Memory, packing: Packing) -> list[str]:
    """Return a note with the latest earlier value; with several if the history was requested.

    The end of an earlier value is named only if it is not the beginning of this one. A denial denies it already, and
    that of an ended value has no line before it.
    """
    if _choose_heading(hit, packing.now_us) == _ENDED and not packing.history:
        return []
    earlier = packing.previous.get(memory.id, ())[: _VALUES if packing.history else 1]
    if memory.stance is Stance.NEGATED:
        earlier = [version for version in earlier if version.value != memory.value]
    named = [_word_value(version, packing) + _word_end(version, memory, packing) for version in earlier]
    return [f"{choose_word(packing.language, 'previously')} {', '.join(named)}"] if named else []


def _word_end(version: SlotVersion, memory: Memory, packing: Packing) -> str:
    if version.valid_until_us is None:
        return ""
    until = format_day(version.valid_until_us, packing.zone)
    begins = memory.valid_from_us is not None and format_day(memory.valid_from_us, packing.zone) == until
    return "" if begins else f" {choose_word(packing.language, 'until')} {until}"


def _word_value(version: SlotVersion, packing: Packing) -> str:
    value = version.value or version.text
    return f"{choose_word(packing.language, 'not')} {value}" if version.denied and version.value else value


def diversify(hits: Sequence[Hit]) -> list[Hit]:
    """Reorder hits by maximal marginal relevance, with the Jaccard index of their terms as similarity.

    Of a memory with a slot its value counts: statements about one thing share words, and are different facts. Hits
    flagged superseded stay behind the others.
    """
    told = {hit.id: hit.text if hit.memory is None else hit.memory.value or hit.text for hit in hits}
    terms = {name: frozenset(tokenize(text)) for name, text in told.items()}
    likeness = dict.fromkeys(terms, 0.0)
    left = list(hits)
    ordered: list[Hit] = []
    while left:
        best = max(left, key=lambda hit: _RELEVANCE_SHARE * hit.score - (1 - _RELEVANCE_SHARE) * likeness[hit.id])
        left.remove(best)
        ordered.append(best)
        for hit in left:
            one = terms[hit.id]
            other = terms[best.id]
            union = len({*one, *other})
            likeness[hit.id] = max(likeness[hit.id], len(set(one) & set(other)) / union if union else 1.0)
    return put_newest_first(sorted(ordered, key=lambda hit: "superseded" in hit.flags))
