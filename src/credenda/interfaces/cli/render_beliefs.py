"""Text output of beliefs: one memory, lists, evidence and changes, and contests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from credenda.clock import DAY_US, SECOND_US, to_datetime
from credenda.interfaces.cli.outcome import Believed, Consequence, Remembered
from credenda.interfaces.cli.output import Screen, escape_controls, register_output
from credenda.model import statement
from credenda.model.browse import Diff, Difference, DifferenceKind
from credenda.model.change import ContestCase, ContestState
from credenda.model.event import Event, Source
from credenda.model.memory import (
    ASSERTIVE_STANCES,
    DUPLICATE_OF,
    OPEN_STANCES,
    Memory,
    Relation,
    Status,
    TypeClass,
    is_dreamed,
    list_sources,
)
from credenda.model.query import EventDetails, Explanation, Hit, Page, SearchResult, SlotVersion
from credenda.model.statement import format_planned, name_slot
from credenda.text.recalled_block import count_noun

_UNSURE: Final = 0.4


def label(memory: Memory) -> str:
    """Name the slot of a memory, or its type when it has no slot."""
    return name_slot(memory.entity, memory.attribute, memory.scope) or memory.type.value


def describe_status(memory: Memory) -> str:
    """Describe an unusual status, contest, flags or confidence of a memory; "" for an ordinary one."""
    notes: list[str] = []
    if memory.contested:
        notes.append("contested")
    if memory.over:
        notes.append("over")
    if memory.due:
        notes.append("not yet confirmed")
    if memory.status.value != "active":
        notes.append(f"{memory.status.value} ({memory.relation.value})" if memory.relation else memory.status.value)
    if memory.stance not in ASSERTIVE_STANCES:
        notes.append(memory.stance.value.replace("_", " "))
    if memory.confidence < _UNSURE:
        notes.append(f"confidence {memory.confidence:.2f}")
    if memory.pinned:
        notes.append("pinned")
    return " · ".join(notes)


def name_value(memory: Memory) -> str:
    """Return a memory's value as text, or its statement when it has no value."""
    return escape_controls(statement.name_value(memory))


def render_headline(screen: Screen, memory: Memory) -> str:
    """Describe a memory in one line."""
    notes = describe_status(memory)
    return f"{screen.bold(f'{label(memory)}: {name_value(memory)}')}{screen.warn(f'  [{notes}]') if notes else ''}"


def describe_validity(screen: Screen, memory: Memory | SlotVersion) -> str:
    """Format the time range in which a memory was true."""
    if memory.relation is Relation.CORRECTED:
        return "never"
    if isinstance(memory, Memory) and (planned := format_planned(memory)):
        return f"{memory.stance.value} for {planned}"
    if memory.valid_from_us is None and memory.valid_until_us is not None:
        return f"until {screen.day(memory.valid_until)}"
    since = screen.day(memory.valid_from) or "?"
    return f"{since} – {screen.day(memory.valid_until)}" if memory.valid_until_us is not None else f"since {since}"


def _describe_importance(one: Memory) -> str:
    """Format the importance of a memory, with the effect of surprise where it is known."""
    shown = f"{one.importance:.2f}"
    if one.surprise is None:
        return shown
    return f"{shown} ({one.base_importance:.2f} as stated; surprise {one.surprise:.3f} when it was written)"


def _sum_terms(terms: Mapping[str, float], digits: int) -> str:
    return " + ".join(f"{name} {value:.{digits}f}" for name, value in terms.items())


@register_output(Memory)
def _show_memory(screen: Screen, one: Memory) -> Iterator[str]:
    said = f"confidence {one.confidence:.2f}, trust {one.trust:.2f}, confirmed {one.confirmations} times"
    kept = f"{one.type.value}, {one.layer.value}, importance {_describe_importance(one)}"
    shown = f"{one.access_count} times" + (f", last {screen.moment(one.last_accessed)}" if one.last_accessed_us else "")
    rows = (
        ("statement", escape_controls(one.statement)),
        ("quote", escape_controls(one.quote) if one.value else ""),
        ("id", f"{one.id} (version {one.version})"),
        ("status", describe_status(one) or one.status.value),
        ("true", describe_validity(screen, one)),
        ("recorded", screen.moment(one.recorded_at)),
        ("belief", said),
        ("kind", kept),
        ("replaced by", one.superseded_by or ""),
        ("speaker", "" if one.speaker == "user" else one.speaker),
        ("session", one.source_session),
        ("topic", one.topic or ""),
        ("tags", ", ".join(one.tags)),
        ("metadata", ", ".join(f"{name}={value}" for name, value in one.metadata.items())),
        ("expires", screen.moment(one.expires_at)),
        ("shown", shown),
    )
    yield render_headline(screen, one)
    yield screen.pairs(rows)


@register_output("list")
def _show_page(screen: Screen, found: Page[Memory]) -> Iterator[str]:
    if not found.items:
        yield screen.fill("No memory matches. `credenda remember` stores a message, `credenda stats` counts memories.")
        return
    rows: list[tuple[str, ...]] = []
    for one in found.items:
        said = "" if one.speaker == "user" else f"said by {escape_controls(one.speaker)}"
        notes = " · ".join(filter(None, (said, describe_status(one))))
        believed = f"{name_value(one)}  [{notes}]" if notes else name_value(one)
        rows.append((one.id, one.type.value, format_planned(one) or screen.day(one.valid_from), label(one), believed))
    yield screen.table(("ID", "TYPE", "SINCE", "ABOUT", "BELIEVED"), rows) + screen.more(found.next_cursor)


def name_speaker(event: Event) -> str:
    """Name who said the words of an event: "you" only for what the user wrote, not for what a model stored."""
    if event.speaker == "user" and event.source is Source.AI:
        return escape_controls(event.agent) or "assistant"
    return "you" if event.speaker == "user" else escape_controls(event.speaker)


def quote_span(screen: Screen, event: Event, start: int, end: int) -> str:
    """Quote the evidence span of an event with its source."""
    return f"{screen.day(event.occurred_at)}  {name_speaker(event)}: “{escape_controls(event.text[start:end])}”"


@register_output(EventDetails)
def _show_event(screen: Screen, found: EventDetails) -> Iterator[str]:
    one = found.event
    rows = (
        ("id", one.id),
        ("said", f"{screen.moment(one.occurred_at)} by {name_speaker(one)}"),
        ("session", escape_controls(one.session)),
        ("topic", escape_controls(one.topic or "")),
        ("agent", escape_controls(one.agent)),
        ("came in as", one.source.value),
    )
    yield screen.fill(f"“{escape_controls(one.text)}”" if one.text else "its words were deleted")
    yield screen.pairs(rows)
    yield f"\n{screen.bold('Memories based on it')}"
    yield from (f"  {memory.id}  {render_headline(screen, memory)}" for memory in found.memories)
    if not found.memories:
        yield "  no memory"


@register_output(Explanation)
def _show_explanation(screen: Screen, why: Explanation) -> Iterator[str]:
    rows = (
        ("id", why.memory.id),
        ("true", describe_validity(screen, why.memory)),
        ("importance", _describe_importance(why.memory)),
        ("earned", f"{why.earned.score:.2f} = {_sum_terms(why.earned.terms, 2)}" if why.earned else ""),
        ("possible duplicate of", escape_controls(str(why.memory.metadata.get(DUPLICATE_OF, "")))),
    )
    yield render_headline(screen, why.memory)
    yield screen.pairs(rows)
    yield f"\n{screen.bold('Because')}"
    for event, start, end in why.evidence:
        by = f", by {escape_controls(why.authors[event.id])}" if event.id in why.authors else ""
        yield screen.item(quote_span(screen, event, start, end))
        yield f"    {screen.dim(f'[{event.id}, characters {start}–{end}{by}]')}"
    if is_dreamed(why.memory):
        named = sorted(list_sources(why.memory), key=lambda one: (len(one), one))
        yield screen.item(f"derived from {', '.join(named)}; it has no evidence of its own")
    elif not why.evidence:
        yield "  its evidence was deleted"
    yield f"\n{screen.bold('Changes')}"
    changes = [
        (screen.moment(one.at), one.kind.value, why.authors.get(one.id, one.actor.value), one.id, one.reason)
        for one in why.changes
    ]
    yield screen.table(("WHEN", "CHANGE", "BY", "ID", "REASON"), changes, indent="  ")


@register_output("contests")
def _show_contests(screen: Screen, cases: Sequence[ContestCase]) -> Iterator[str]:
    yield "\n\n".join(render_contest(screen, case) for case in cases) or "Nothing is contested."


def render_contest(screen: Screen, case: ContestCase) -> str:
    """Show one contest."""
    name = name_slot(case.entity, case.attribute, case.scope)
    lines = [f"{screen.bold(name)}  {screen.dim(case.id)}  {screen.warn(case.state.value)}"]
    if case.state is ContestState.OPEN:
        lines += [screen.fill(case.question, "  "), screen.dim(f"  answer: {_describe_answer(case)}")]
    else:
        lines += [screen.fill(case.resolution or "resolved", "  "), screen.pairs(case.scopes.items())]
    return "\n".join(filter(None, lines))


def _describe_answer(case: ContestCase) -> str:
    value = case.values[0] if case.values else "VALUE"
    return f'credenda resolve {case.id} --keep "{escape_controls(value)}", or --scope WHEN=VALUE for each'


@register_output(Remembered)
def _show_remembered(screen: Screen, done: Remembered) -> Iterator[str]:
    receipt = done.receipt
    ids = ", ".join(receipt.event_ids)
    stored = f"Already stored as {ids}." if receipt.cached else f"Stored as {ids}."
    yield stored if ids else "Nothing was stored."
    rows = [
        ("new" if one.consequence is Consequence.ADDED else one.consequence.value, _describe_consequence(one))
        for one in done.believed
    ]
    rows += [("contest", f"{case.question} ({_describe_answer(case)})") for case in done.contests]
    rows += [("refused", reason) for reason in receipt.refused]
    rows += [("not read", part) for part in receipt.unread]
    for one in receipt.claims:
        understood = f": {one.understood} ({one.memory_id})" if one.understood else ""
        rows += [(f"claim {one.number}", f"{one.outcome}, {one.reason}{understood}")] if one.reason else []
    if rows:
        yield screen.pairs(rows)
    elif done.settled and ids:
        yield "No belief follows from it; search finds its words."


def describe_replacement(new: Memory, old: Sequence[Memory]) -> str:
    """Describe a replacement: a change of the value, or a correction of a wrong value."""
    apart = [f"{label(one)}: " if label(one) != label(new) and one.stance not in OPEN_STANCES else "" for one in old]
    before = "; ".join(name + _name_replaced(one) for name, one in zip(apart, old, strict=True))
    if all(one.relation is Relation.CORRECTED for one in old):
        return f"{name_value(new)}; {before} was wrong"
    return f"now {name_value(new)}; previously {before}"


def _name_replaced(old: Memory) -> str:
    """Name a replaced value, and say if it was only planned or considered: a decision for it keeps the same words."""
    is_open = old.stance in OPEN_STANCES
    return f"{name_value(old)} [{old.stance.value}]" if is_open else name_value(old)


def _describe_consequence(one: Believed) -> str:
    name, value = label(one.memory), name_value(one.memory)
    notes = describe_status(one.memory)
    tail = f" [{notes}] ({one.memory.id})" if notes else f" ({one.memory.id})"
    match one.consequence:
        case Consequence.CHANGED:
            return f"{name}: {describe_replacement(one.memory, one.previous)}{tail}"
        case Consequence.ADJUSTED:
            return f"{name}: {value} ({one.reason}){tail}"
        case _:
            return f"{name}: {value}{tail}"


# Text output of search results.


_NOTHING: Final = 0.0005
_UNLIKELY: Final = 0.1
_SHOWN_CHARACTERS: Final = 400
"""Longest text of a hit, so that ten hits fit on a screen."""


@register_output(SearchResult)
def show_results(screen: Screen, found: SearchResult) -> Iterator[str]:
    """Show hits, best first, or that nothing relevant is known."""
    if found.abstained or not found.hits:
        yield "Nothing relevant is known."
    elif found.probability < _UNLIKELY:
        yield "Probably unknown: none of these is likely to be the answer."
    if found.nearest:
        yield screen.dim("Nearest texts, which probably do not answer:")
    for rank, hit in enumerate(found.hits or found.nearest, 1):
        yield from _show_hit(screen, rank, hit)
    likely = f", {100 * found.probability:.0f} % likely to hold the answer," if found.hits else ""
    yield screen.dim(f"{count_noun(len(found.hits), 'hit')}{likely} in {found.took_ms:.1f} ms")


def _show_hit(screen: Screen, rank: int, hit: Hit) -> Iterator[str]:
    place = f"{rank:>2}  {hit.score:.2f}  "
    margin = " " * len(place)
    flags = f"  [{', '.join(sorted(hit.flags))}]" if hit.flags else ""
    text = screen.fill(_shorten(escape_controls(hit.text)), place, margin)
    if hit.memory is not None:
        parts = [hit.id, hit.memory.type.value, describe_status(hit.memory)]
        parts += [f"from {screen.day(event.occurred_at)} ({event.id})" for event in hit.evidence[-1:]]
        parts += [f"“{escape_controls(_shorten(hit.quote))}”" if hit.quote not in hit.text else ""]
    elif hit.event is not None:
        who = "you" if hit.event.speaker == "user" else escape_controls(hit.event.speaker)
        parts = [hit.id, f"{who}, {screen.day(hit.event.occurred_at)}", hit.event.session]
    else:
        parts = [hit.id, hit.kind]
    yield f"{text}{screen.warn(flags)}"
    yield screen.dim(screen.fill(" · ".join(filter(None, parts)), margin))
    if hit.terms:
        yield screen.dim(screen.fill(f"terms: {format_terms(hit.terms)}", margin))


def _shorten(text: str) -> str:
    """Shorten a long passage, at a word boundary if possible; `--json` shows the whole."""
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    start, space, last = text[:_SHOWN_CHARACTERS].rpartition(" ")
    return f"{start if space and len(last) < _SHOWN_CHARACTERS // 4 else text[:_SHOWN_CHARACTERS]}…"


def format_terms(summands: Mapping[str, float]) -> str:
    """Write the nonzero terms of a score, the largest first."""
    counted = {name: value for name, value in summands.items() if abs(value) >= _NOTHING}
    ranked = dict(sorted(counted.items(), key=lambda term: -abs(term[1])))
    return _sum_terms(ranked, 3).replace("+ -", "− ")


# Text output over time: the history of a slot as a timeline, and the difference between two times.


_WIDTH: Final = 80
_BAR: Final = 24
_GAP: Final = "  "
_WRONG: Final = frozenset({Status.INVALIDATED, Status.FORGOTTEN, Status.DELETED})
_CLASSES: Final = {TypeClass.DECISION: "decision", TypeClass.PROCEDURE: "procedure"}
_TITLES: Final = {
    DifferenceKind.CHANGED: "Changed",
    DifferenceKind.CORRECTED: "Corrected",
    DifferenceKind.MERGED: "Merged",
    DifferenceKind.ADDED: "New",
    DifferenceKind.RESTORED: "Restored",
    DifferenceKind.ENDED: "Ended",
    DifferenceKind.DELETED: "Deleted",
    DifferenceKind.CONTESTED: "Contested now",
    DifferenceKind.RESOLVED: "Resolved now",
    DifferenceKind.DOUBTED: "Challenged now",
    DifferenceKind.CONFIRMED: "Confirmed",
}


_LINES: Final = "━╌≈┣┫▶"
_PLAIN: Final = "=.~||>"
"""The characters of a bar: true, wrong or unused, contested; begin, end, and open end."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """Maps times to columns of a bar, from the first to the last time shown, with the characters to draw."""

    first_us: int
    last_us: int
    glyphs: str

    def column(self, moment_us: int) -> int:
        """Return the column of a time, from 0 to the bar's width less one."""
        span = max(self.last_us - self.first_us, 1)
        return max(0, min(_BAR - 1, (moment_us - self.first_us) * _BAR // span))


@register_output("history")
def show_history(screen: Screen, versions: Sequence[SlotVersion]) -> Iterator[str]:
    """Draw the values of a slot as bars over a common time span, oldest first; one group per slot.

    Never wider than 80 columns; without a terminal the bars are plain ASCII.
    """
    if not versions:
        yield "This slot never had a value."
        return
    page = replace(screen, width=min(screen.width or _WIDTH, _WIDTH))
    ends = [one.valid_until_us for one in versions if one.valid_until_us is not None]
    begins = [_find_start_us(one) for one in versions]
    last = max(begins + ends) if screen.now_us is None else max(*begins, *ends, screen.now_us)
    glyphs = _PLAIN if screen.width is None else _LINES
    scale = _Scale(min(begins), max(last, min(begins) + DAY_US), glyphs)
    groups: dict[str, list[SlotVersion]] = {}
    for one in versions:
        groups.setdefault(_group(one), []).append(one)
    named = next((name for name in groups if name), "")
    if named and "" in groups:  # a deleted value has no slot names: show it with the first named group
        groups[named] = sorted([*groups[named], *groups.pop("")], key=_find_start_us)
    yield "\n\n".join("\n".join(_draw_slot(page, name, held, scale)) for name, held in groups.items())


def _group(one: SlotVersion) -> str:
    """Name the slot of a value: entity, attribute, scope and speaker."""
    if one.attribute is None and one.entity is None:
        return ""
    name = name_slot(one.entity, one.attribute, one.scope)
    notes = [_CLASSES.get(one.kind, ""), "" if one.speaker == "user" else f"speaker {one.speaker}"]
    told = ", ".join(note for note in notes if note)
    return f"{name}, {told}" if told else name


def _find_start_us(one: SlotVersion) -> int:
    """Find since when a value is known to be true: of an unknown start, not after its end."""
    if one.valid_from_us is not None:
        return one.valid_from_us
    return one.recorded_us if one.valid_until_us is None else min(one.recorded_us, one.valid_until_us)


def _draw_slot(screen: Screen, name: str, versions: Sequence[SlotVersion], scale: _Scale) -> Iterator[str]:
    first, last = (screen.day(to_datetime(moment_us)) for moment_us in (scale.first_us, scale.last_us))
    ruler = f"{first}{last.rjust(_BAR - len(first))}"
    yield f"{screen.dim(ruler)}{_GAP}{screen.bold(escape_controls(name) or 'memory')}"
    margin = " " * (_BAR + len(_GAP))
    for one in versions:
        # Draw the time span of a value; wrong or unused values are dim.
        true, wrong, unsettled, begin, end, open_end = scale.glyphs
        start = scale.column(_find_start_us(one))
        stop = _BAR - 1 if one.valid_until_us is None else max(start, scale.column(one.valid_until_us - 1))
        is_wrong = one.relation is Relation.CORRECTED or one.status in _WRONG
        body = [wrong if is_wrong else unsettled if one.contested else true] * (stop - start + 1)
        body[-1] = open_end if one.valid_until_us is None and not is_wrong else end
        if len(body) > 1:
            body[0] = begin
        bar = (" " * start + "".join(body)).ljust(_BAR)
        value, *rest = screen.fill(_word_value(one), margin).split("\n")
        yield f"{screen.warn(bar) if one.contested else bar}{value[_BAR:]}"
        yield from rest
        yield screen.dim(screen.fill(_describe_version(screen, one), margin))
        if one.reason:
            yield screen.dim(screen.fill(one.reason, margin))


def _word_value(one: SlotVersion) -> str:
    if one.status is Status.DELETED:
        return "(deleted)"
    value = one.value or one.text
    return f"not {value}" if one.denied and one.value else value


def _describe_version(screen: Screen, one: SlotVersion) -> str:
    """Describe the time span, status and id of a value."""
    standing = "" if one.status is Status.ACTIVE else one.status.value
    if one.relation is not None:
        standing = f"{standing} ({one.relation.value})"
    contested = "contested" if one.contested else ""
    return " · ".join(note for note in (describe_validity(screen, one), standing, contested, one.memory_id) if note)


@register_output(Diff)
def _show_diff(screen: Screen, diff: Diff) -> Iterator[str]:
    # To the second, rounded up: the end of a day shows as the beginning of the next.
    ends = (-(-moment_us // SECOND_US) * SECOND_US for moment_us in (diff.since_us, diff.until_us))
    since, until = (screen.moment(to_datetime(moment_us)) for moment_us in ends)
    yield screen.dim(f"{'beliefs' if diff.axis == 'known' else 'facts'}, from {since} to {until}")
    for kind, title in _TITLES.items():
        if found := [one for one in diff.differences if one.kind is kind]:
            yield f"\n{screen.bold(title)}"
            for one in found:
                yield from _show_difference(screen, one)
    if not diff.differences:
        yield "Nothing changed."


def _show_difference(screen: Screen, one: Difference) -> Iterator[str]:
    memory, previous = one.memory, one.previous
    ids = memory.id if previous is None else f"{memory.id}, was {previous.id}"
    if one.kind is DifferenceKind.DELETED:
        told = "(its text was deleted)"
    elif previous is not None:
        told = f"{label(memory)}: {describe_replacement(memory, [previous])}"
    else:
        told = f"{label(memory)}: {name_value(memory)}"
    again = f", confirmed {one.confirmations} times" if one.confirmations > 1 else ""
    day = screen.day(to_datetime(one.at_us))
    yield screen.item(told)
    yield screen.dim(screen.fill(f"{day} · {ids}{again}{f' · {one.reason}' if one.reason else ''}", "    "))
