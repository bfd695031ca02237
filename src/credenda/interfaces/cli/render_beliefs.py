"""Text output of beliefs: one memory, lists, evidence and changes, and contests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from credenda.interfaces.cli.layout import Screen, escape_controls
from credenda.interfaces.cli.outcome import Believed, Consequence, Remembered
from credenda.model import statement
from credenda.model.contest import ContestCase, ContestState
from credenda.model.derived import is_dreamed, list_sources
from credenda.model.event import ClaimReceipt, Event, Source
from credenda.model.memory import Memory, Relation, Stance
from credenda.model.query import EventDetails, Explanation, Page, SlotVersion
from credenda.model.statement import name_slot
from credenda.model.surprise import DUPLICATE_OF

__all__ = [
    "describe_replacement",
    "describe_status",
    "describe_validity",
    "name_value",
    "render_contests",
    "render_event",
    "render_explanation",
    "render_memory",
    "render_page",
    "render_remembered",
]

_UNSURE: Final = 0.4
_VERBS: Final = {
    Consequence.ADDED: "new",
    Consequence.CHANGED: "changed",
    Consequence.CONFIRMED: "confirmed",
    Consequence.ENDED: "ended",
    Consequence.CONTESTED: "contested",
    Consequence.ADJUSTED: "adjusted",
}


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
    if memory.status.value != "active":
        notes.append(f"{memory.status.value} ({memory.relation.value})" if memory.relation else memory.status.value)
    if memory.stance not in {Stance.ASSERTED, Stance.NEGATED}:
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
    since = screen.day(memory.valid_from) or "?"
    return f"{since} – {screen.day(memory.valid_until)}" if memory.valid_until_us is not None else f"since {since}"


def _describe_importance(one: Memory) -> str:
    """Format the importance of a memory, with the effect of surprise where it is known."""
    shown = f"{one.importance:.2f}"
    if one.surprise is None:
        return shown
    return f"{shown} ({one.base_importance:.2f} as stated; surprise {one.surprise:.3f} when it was written)"


def render_memory(screen: Screen, one: Memory) -> str:
    """Show all fields of one memory."""
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
    return f"{render_headline(screen, one)}\n{screen.pairs(rows)}"


def render_page(screen: Screen, found: Page[Memory]) -> str:
    """Show a page of memories as a table."""
    if not found.items:
        return screen.fill("No memory matches. `credenda remember` stores a message, `credenda stats` counts memories.")
    head = ("ID", "TYPE", "SINCE", "ABOUT", "BELIEVED")
    rows = [
        (one.id, one.type.value, screen.day(one.valid_from), label(one), _describe_confidence(one))
        for one in found.items
    ]
    more = f"\nMore: --cursor {found.next_cursor}" if found.next_cursor else ""
    return screen.table(head, rows) + screen.dim(more)


def _describe_confidence(memory: Memory) -> str:
    said = "" if memory.speaker == "user" else f"said by {escape_controls(memory.speaker)}"
    notes = " · ".join(filter(None, (said, describe_status(memory))))
    return f"{name_value(memory)}  [{notes}]" if notes else name_value(memory)


def name_speaker(event: Event) -> str:
    """Name who said the words of an event: "you" only for what the user wrote, not for what a model stored."""
    if event.speaker == "user" and event.source is Source.AI:
        return escape_controls(event.agent) or "assistant"
    return "you" if event.speaker == "user" else escape_controls(event.speaker)


def quote_span(screen: Screen, event: Event, start: int, end: int) -> str:
    """Quote the evidence span of an event with its source."""
    return f"{screen.day(event.occurred_at)}  {name_speaker(event)}: “{escape_controls(event.text[start:end])}”"


def render_event(screen: Screen, found: EventDetails) -> str:
    """Show an event whole: what was said, by whom, when, and which memories rest on it."""
    one = found.event
    rows = (
        ("id", one.id),
        ("said", f"{screen.moment(one.occurred_at)} by {name_speaker(one)}"),
        ("session", escape_controls(one.session)),
        ("topic", escape_controls(one.topic or "")),
        ("agent", escape_controls(one.agent)),
        ("came in as", one.source.value),
    )
    said = f"“{escape_controls(one.text)}”" if one.text else "its words were deleted"
    lines = [screen.fill(said), screen.pairs(rows), "", screen.heading("Memories based on it")]
    lines += [f"  {memory.id}  {render_headline(screen, memory)}" for memory in found.memories]
    return "\n".join([*lines, *([] if found.memories else ["  no memory"])])


def render_explanation(screen: Screen, why: Explanation) -> str:
    """Show the evidence and all changes of a memory."""
    lines = [
        render_headline(screen, why.memory),
        screen.pairs(
            [
                ("id", why.memory.id),
                ("true", describe_validity(screen, why.memory)),
                ("importance", "" if why.memory.surprise is None else _describe_importance(why.memory)),
                ("possible duplicate of", escape_controls(str(why.memory.metadata.get(DUPLICATE_OF, "")))),
            ]
        ),
    ]
    lines += ["", screen.heading("Because")]
    for event, start, end in why.evidence:
        by = f", by {escape_controls(why.authors[event.id])}" if event.id in why.authors else ""
        place = screen.dim(f"[{event.id}, characters {start}–{end}{by}]")
        lines += [screen.fill(quote_span(screen, event, start, end), "  ", "    "), f"    {place}"]
    if is_dreamed(why.memory):
        named = sorted(list_sources(why.memory), key=lambda one: (len(one), one))
        lines.append(
            screen.fill(
                f"derived from {escape_controls(', '.join(named))}; it has no evidence of its own", "  ", "    "
            )
        )
    elif not why.evidence:
        lines.append("  its evidence was deleted")
    lines += ["", screen.heading("Changes"), _render_changes(screen, why)]
    return "\n".join(lines)


def _render_changes(screen: Screen, why: Explanation) -> str:
    named = {key: escape_controls(name) for key, name in why.authors.items()}
    rows = [
        (screen.moment(one.at), one.kind.value, named.get(one.id, one.actor.value), one.id, one.reason)
        for one in why.changes
    ]
    return screen.table(("WHEN", "CHANGE", "BY", "ID", "REASON"), rows, indent="  ")


def render_contests(screen: Screen, cases: Sequence[ContestCase]) -> str:
    """Show contests with their questions and how to answer."""
    if not cases:
        return "Nothing is contested."
    return "\n\n".join(render_contest(screen, case) for case in cases)


def render_contest(screen: Screen, case: ContestCase) -> str:
    """Show one contest."""
    name = name_slot(case.entity, case.attribute, case.scope)
    lines = [f"{screen.bold(name)}  {screen.dim(case.id)}  {screen.warn(case.state.value)}"]
    if case.state is ContestState.OPEN:
        lines += [screen.fill(case.question, "  "), screen.dim(f"  answer: {describe_answer(case)}")]
    else:
        lines.append(screen.fill(case.resolution or "resolved", "  "))
        lines.append(screen.pairs((value, scope) for value, scope in case.scopes.items()))
    return "\n".join(line for line in lines if line)


def describe_answer(case: ContestCase) -> str:
    """Return the command that answers a contest."""
    value = case.values[0] if case.values else "VALUE"
    return f'credenda resolve {case.id} --keep "{escape_controls(value)}", or --scope WHEN=VALUE for each'


def render_remembered(screen: Screen, done: Remembered) -> str:
    """Show the stored events, and the resulting beliefs."""
    receipt = done.receipt
    ids = ", ".join(receipt.event_ids)
    stored = f"Already stored as {ids}." if receipt.cached else f"Stored as {ids}."
    lines = [stored if ids else "Nothing was stored."]
    rows = [(_VERBS[one.consequence], _describe_consequence(one)) for one in done.believed]
    rows += [("contest", f"{case.question} ({describe_answer(case)})") for case in done.contests]
    rows += [("refused", reason) for reason in receipt.refused]
    rows += [("not read", part) for part in receipt.unread]
    rows += [(f"claim {one.number}", _describe_claim(one)) for one in receipt.claims if one.reason]
    if rows:
        lines.append(screen.pairs(rows))
    elif done.settled and ids:
        lines.append("No belief follows from it; search finds its words.")
    return "\n".join(lines)


def _describe_claim(one: ClaimReceipt) -> str:
    """Say what became of a claim that was refused, or is not believed as it was passed."""
    understood = f": {one.understood} ({one.memory_id})" if one.understood else ""
    return f"{one.outcome}, {one.reason}{understood}"


def describe_replacement(new: Memory, old: Sequence[Memory]) -> str:
    """Describe a replacement: a change of the value, or a correction of a wrong value."""
    before = "; ".join(map(_name_replaced, old))
    if all(one.relation is Relation.CORRECTED for one in old):
        return f"{name_value(new)}; {before} was wrong"
    return f"now {name_value(new)}; previously {before}"


def _name_replaced(old: Memory) -> str:
    """Name a replaced value, and say if it was only planned or considered: a decision for it keeps the same words."""
    is_open = old.stance in {Stance.PLANNED, Stance.CONSIDERED}
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
