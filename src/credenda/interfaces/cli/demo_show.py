"""The demo's story: five scenes in some 25 lines, read from the memory that the demo created."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from credenda.clock import to_datetime
from credenda.interfaces.cli.demo_run import (
    DemoRun,
    Script,
)
from credenda.interfaces.cli.output import Screen, escape_controls, truncate
from credenda.interfaces.cli.render_beliefs import (
    describe_replacement,
    describe_validity,
    label,
    name_value,
)
from credenda.model.memory import Memory, Status
from credenda.model.query import Explanation

_INDENT: Final = "   "
_LINES_OF_CONTEXT: Final = 4
_LINE: Final = re.compile(r"- \[[^\]]+\] (?P<told>.+)")


def write_story(screen: Screen, run: DemoRun, script: Script, command: str) -> str:
    """Return the story; `command` is the command line that opens this database."""
    told = script.story["story"]
    changed = _find_changed(run, told["attribute"])
    scenes = (
        ("A job changes", _tell_change(screen, changed)),
        ("Why it is believed", _tell_reasons(screen, run, changed, told["as_of"])),
        ("A preference that alternates becomes a question", _tell_contest(screen, run)),
        ("A deletion that holds", _tell_deletion(run)),
        (f"What an agent gets before “{told['prompt']}”", _tell_context(screen, run)),
    )
    first, last = (screen.day(to_datetime(turn.time_us)) for turn in (script.turns[0], script.turns[-1]))
    opening = (
        f"{run.turns} messages from {first} to {last}, read in {run.seconds_total:.1f} s "
        "without a network or a language model."
    )
    parts = [
        "\n".join([screen.heading(f"{number}. {title}"), *lines]) for number, (title, lines) in enumerate(scenes, 1)
    ]
    rest = f"Look around: {command} list"
    return "\n\n".join([screen.fill(opening), *parts, rest])


def _find_changed(run: DemoRun, attribute: str) -> tuple[Explanation, Explanation] | None:
    """Find the current memory of an attribute that took the place of another, and that one before it."""
    by_id = {why.memory.id: why for why in run.held}
    for old in run.held:
        new = by_id.get(old.memory.superseded_by or "")
        if new is not None and old.memory.attribute == attribute and new.memory.status is Status.ACTIVE:
            return old, new
    return None


def _tell_change(screen: Screen, changed: tuple[Explanation, Explanation] | None) -> Iterator[str]:
    if changed is None:
        yield f"{_INDENT}Nothing has changed."
        return
    old, new = changed
    for why in (old, new):
        yield _quote(screen, why)
    name = screen.bold(label(new.memory))
    span = describe_validity(screen, old.memory)
    yield f"{_INDENT}held: {name}: {describe_replacement(new.memory, [old.memory])}{screen.dim(f' ({span})')}"


def _quote(screen: Screen, why: Explanation, at: int = 0) -> str:
    event, start, end = why.evidence[at]
    said = escape_controls(event.text[start:end])
    return f"{_INDENT}{screen.day(event.occurred_at)}  you: “{truncate(said, screen.columns - 24)}”"


def _tell_reasons(
    screen: Screen, run: DemoRun, changed: tuple[Explanation, Explanation] | None, as_of: str
) -> Iterator[str]:
    if changed is None:
        return
    _, new = changed
    event, start, end = new.evidence[0]
    yield f"{_INDENT}by characters {start} to {end} of message {event.id}, kept word for word"
    if len(new.evidence) > 1:
        yield f"{_INDENT}and again on{_quote(screen, new, len(new.evidence) - 1).removeprefix(_INDENT[:-1])}"
    values = " · ".join(map(name_value, run.earlier))
    yield f"{_INDENT}asked what was true on {as_of}: {values}"


def _tell_contest(screen: Screen, run: DemoRun) -> Iterator[str]:
    if run.answered is None:
        yield f"{_INDENT}Nothing is contested."
        return
    yield screen.fill(f"asked: {run.answered.case.question}", _INDENT, _INDENT * 2)
    yield screen.fill(f"you: “{run.answered.answer}”", _INDENT)
    yield f"{_INDENT}held: {' · '.join(_name(screen, one) for one in run.answered.believed)}"


def _name(screen: Screen, memory: Memory) -> str:
    return f"{screen.bold(label(memory))}: {name_value(memory)}"


def _tell_deletion(run: DemoRun) -> Iterator[str]:
    if run.deleted is None:
        yield f"{_INDENT}There was nothing to delete."
        return
    value = name_value(run.deleted.memory)
    hits = run.deleted.search.hits
    found = sum(value.casefold() in hit.text.casefold() for hit in hits)
    yield f"{_INDENT}deleted: {label(run.deleted.memory)}: {value}"
    yield f"{_INDENT}said again: “{escape_controls(run.deleted.restated)}”"
    yield from (f"{_INDENT}refused: {reason}" for reason in run.deleted.receipt.refused)
    yield f"{_INDENT}asked “{run.deleted.question}”: {found} of {len(hits)} hits have it"


def _tell_context(screen: Screen, run: DemoRun) -> Iterator[str]:
    told = [found["told"] for line in run.context.splitlines() if (found := _LINE.match(line))]
    yield from (
        f"{_INDENT}{truncate(escape_controls(one), screen.columns - len(_INDENT))}" for one in told[:_LINES_OF_CONTEXT]
    )
