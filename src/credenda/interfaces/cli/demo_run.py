"""Run the demo: store the conversation in a new memory, search, resolve and delete, and tell what came of it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.resources import as_file, files
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

from credenda.client import Credenda
from credenda.clock import seconds
from credenda.errors import Conflict
from credenda.interfaces.cli.output import Screen, escape_controls, truncate
from credenda.interfaces.cli.render_beliefs import (
    describe_replacement,
    describe_validity,
    label,
    name_value,
    quote_span,
    render_headline,
    show_results,
)
from credenda.model.change import ContestCase
from credenda.model.evaluation import BeliefTestReport
from credenda.model.event import Receipt
from credenda.model.memory import HELD, Memory, Status
from credenda.model.query import Explanation, SearchResult
from credenda.model.report import Resolution
from credenda.testing import ManualClock
from credenda.text.normalize import normalise_value

# The demo's input: the included conversation, turn by turn, and its expectations.


_DATA: Final = files("credenda") / "data"


class ScriptTurn(NamedTuple):
    """One message of the conversation."""

    id: str
    session: str
    speaker: str
    text: str
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A conversation, and the expected beliefs after it."""

    turns: tuple[ScriptTurn, ...]
    expected: Mapping[str, Any]


def load_script() -> Script:
    """Read the conversation and its expectations."""
    conversation = json.loads((_DATA / "demo_conversation.jsonl").read_text("utf-8").splitlines()[0])
    expected = tomllib.loads((_DATA / "demo_expectations.toml").read_text("utf-8"))
    turns = tuple(
        ScriptTurn(
            *(turn["id"], session["id"], turn["speaker"], turn["text"]),
            time=datetime.fromisoformat(turn.get("time", session["time"])),
        )
        for session in conversation["sessions"]
        for turn in session["turns"]
    )
    return Script(turns=turns, expected=expected)


_MILLISECONDS: Final = 1_000
_READ_SECONDS: Final = 300
_ROUNDS: Final = 10
"""Repetitions of each search when measuring its time."""
_PAGE: Final = 50
_TOP: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and the result of its search."""

    question: str
    result: SearchResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A resolved contest: the contest before, the answer, and the beliefs after."""

    case: ContestCase
    answer: str
    resolution: Resolution
    believed: tuple[Memory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """A deleted belief, the receipt of repeating its statement, and the memories that still contain it."""

    memory: Memory
    question: str
    restated: str
    receipt: Receipt
    left: tuple[Memory, ...]
    search: SearchResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The benefit of an embedding model: reworded questions whose answer is among the first three hits."""

    model_id: str
    questions: int
    by_words: tuple[str, ...]
    by_meaning: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Median times, measured in this run."""

    ack_ms_median: float
    ack_ms_max: float
    search_ms_median: float
    seconds_total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRun:
    """The result of the demo. `held` was read before the contest was resolved and the belief deleted."""

    database: str
    turns: int
    sessions: int
    held: tuple[Explanation, ...]
    events: Mapping[str, str]
    masked: Mapping[str, tuple[str, ...]]
    contests: tuple[ContestCase, ...]
    searches: tuple[Asked, ...]
    unanswered: Asked
    gain: Gain | None
    """None when no model is installed or configured."""
    answered: Answered | None
    deleted: Deleted | None
    earlier: tuple[Memory, ...]
    """The values of the story's attribute that held on its earlier day."""
    context: str
    """What an agent gets with the story's prompt."""
    timings: Timings


@dataclass(slots=True)
class _Said:
    """Results collected while the conversation was stored."""

    acks_ms: list[float] = field(default_factory=list[float])
    events: dict[str, str] = field(default_factory=dict[str, str])
    masked: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def run_demo(script: Script, path: Path, user: str | None, *, measured: bool = True) -> DemoRun:
    """Run the demo on a new database; raise `Conflict` if the database exists.

    Only a `measured` run asks the reworded questions and repeats its searches.
    """
    if path.exists():
        raise Conflict(f"{path} exists already", why="the demo needs an empty memory", fix="name another file")
    begun = seconds()
    clock = ManualClock(script.turns[0].time)  # every belief is recorded at the time of its message
    with Credenda.open(path, user=user, clock=clock, workers=False) as memory:
        said = _submit_turns(memory, clock, script, each=measured)
        held = explain_all(memory)
        contests = tuple(memory.manage.contests())
        searches = tuple(_ask(memory, entry["question"]) for entry in script.expected["search"])
        unanswered = _ask(memory, script.expected["unanswered"]["question"])
        gain = _measure_gain(memory, script, path) if measured else None
        rounds = _ROUNDS if measured else 1
        search_ms = _measure(memory, [*(asked.question for asked in searches), unanswered.question] * rounds)
        clock.advance(timedelta(days=1))
        answered = _answer_contest(memory, script, contests)
        clock.advance(timedelta(seconds=1))
        deleted = _delete(memory, script, held, said)
        told = script.expected["story"]
        earlier = tuple(memory.list(entity="user", attribute=told["attribute"], as_of=told["as_of"]).items)
        context = memory.context(told["prompt"]).text
    timings = Timings(
        ack_ms_median=median(said.acks_ms),
        ack_ms_max=max(said.acks_ms),
        search_ms_median=search_ms,
        seconds_total=seconds() - begun,
    )
    return DemoRun(
        database=str(path),
        turns=len(script.turns),
        sessions=len({turn.session for turn in script.turns}),
        held=held,
        events=said.events,
        masked=said.masked,
        contests=contests,
        searches=searches,
        unanswered=unanswered,
        gain=gain,
        answered=answered,
        deleted=deleted,
        earlier=earlier,
        context=context,
        timings=timings,
    )


def _submit_turns(memory: Credenda, clock: ManualClock, script: Script, *, each: bool) -> _Said:
    """Store the conversation message by message, each at its own time, and process `each` before the next, or all."""
    said = _Said()
    for turn in script.turns:
        clock.advance(max(turn.time - clock.now(), timedelta(0)))
        begun = seconds()
        message = {"role": turn.speaker, "content": turn.text, "id": turn.id}
        receipt = memory.remember([message], session=turn.session)
        said.acks_ms.append((seconds() - begun) * _MILLISECONDS)
        said.events[turn.id] = receipt.event_ids[0]
        if receipt.refused:
            said.masked[turn.id] = receipt.refused
        if each:
            memory.settle()
    memory.settle(_READ_SECONDS)
    return said


def explain_all(memory: Credenda) -> tuple[Explanation, ...]:
    """Explain every current and past memory, oldest first."""
    found: list[Memory] = []
    cursor: str | None = None
    while True:
        page = memory.list(status=None, limit=_PAGE, cursor=cursor)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return tuple(memory.why(one.id) for one in reversed(found))


def _ask(memory: Credenda, question: str) -> Asked:
    return Asked(question=question, result=memory.search(question, limit=5, explain=True))


def _measure_gain(memory: Credenda, script: Script, path: Path) -> Gain | None:
    """Run the reworded searches with the model and, on the same database, without it."""
    model_id = memory.stats().embedder
    if model_id is None:
        return None
    entries = script.expected["reworded"]

    def find_answered(asked: Credenda) -> Iterator[str]:
        for entry in entries:
            hits = asked.search(entry["question"], limit=_TOP, record_access=False).hits
            if any(entry["words"].casefold() in hit.quote.casefold() for hit in hits):
                yield entry["question"]

    with Credenda.open(path, user=memory.user, embedder="none", read_only=True) as wordly:
        by_words = tuple(find_answered(wordly))
    return Gain(model_id=model_id, questions=len(entries), by_words=by_words, by_meaning=tuple(find_answered(memory)))


def _measure(memory: Credenda, questions: list[str]) -> float:
    """Return the median wall-clock time of a search in milliseconds."""
    times: list[float] = []
    for question in questions:
        begun = seconds()
        memory.search(question, record_access=False)
        times.append((seconds() - begun) * _MILLISECONDS)
    return median(times)


def _answer_contest(memory: Credenda, script: Script, contests: tuple[ContestCase, ...]) -> Answered | None:
    """Answer the open contest with one value per scope."""
    if not contests:
        return None
    case, said = contests[0], script.expected["resolve"]
    resolution = memory.manage.resolve(case.id, scopes=said["scopes"])
    memory.settle()
    believed = memory.list(entity=case.entity, attribute=case.attribute, limit=_PAGE).items
    return Answered(case=case, answer=said["answer"], resolution=resolution, believed=believed)


def _delete(memory: Credenda, script: Script, held: tuple[Explanation, ...], said: _Said) -> Deleted | None:
    """Delete a belief, repeat its statement, and check that it is not stored again."""
    wanted = script.expected["delete"]
    event_id = said.events[wanted["turn"]]
    for why in held:
        if wanted["value"] in (why.memory.value or why.memory.text) and any(
            event.id == event_id for event, _, _ in why.evidence
        ):
            target = why.memory
            question = f"What is my {(target.attribute or wanted['attribute']).replace('_', ' ')}?"
            memory.delete(target.id)
            receipt = memory.remember(wanted["restatement"])
            memory.settle()
            left = [why.memory for why in explain_all(memory)]
            return Deleted(
                memory=target,
                question=question,
                restated=wanted["restatement"],
                receipt=receipt,
                left=tuple(one for one in left if wanted["value"] in f"{one.value} {one.text}"),
                search=memory.search(question, limit=5),
            )
    return None


def check_beliefs(script: Script, path: Path, user: str | None) -> BeliefTestReport:
    """Test the beliefs that the demo leaves in its database against `demo_beliefs.test`."""
    clock = ManualClock(script.turns[-1].time + timedelta(days=2))
    with (
        as_file(_DATA / "demo_beliefs.test") as beliefs,
        Credenda.open(path, user=user, clock=clock, workers=False, read_only=True) as memory,
    ):
        return memory.inspect.test(beliefs)


# The demo's text output, section by section, read from the memory that the demo created.


_FLOOR: Final = 0.4


def write_report(screen: Screen, run: DemoRun, script: Script, command: str, *, whole: bool) -> str:
    """Return the story, and after it everything else; `command` is the command line that opens this database."""
    parts = _list_scenes(screen, run, script)
    more = (
        ("Current beliefs, with validity and evidence", _show_beliefs(screen, run)),
        ("Past and corrected values", _show_replaced(screen, run)),
        ("Statements that are not beliefs about you", _show_refused(screen, run, script)),
        ("Searches, with every term of the score", _show_searches(screen, run.searches, _show_gain(run.gain))),
        ("Saying how probable an answer is", _show_searches(screen, [run.unanswered])),
        ("Timings", _show_timings(screen, run)),
        ("Commands to try", _show_commands(run, command)),
    )
    rest = f"All beliefs, refusals and scores: credenda demo --long. Look around: {command} list"
    parts, end = ((*parts, *more), ()) if whole else (parts, (rest,))
    first, last = (screen.day(turn.time) for turn in (script.turns[0], script.turns[-1]))
    opening = (
        f"{run.turns} messages from {first} to {last}, read in {run.timings.seconds_total:.1f} s "
        "without a network or a language model."
    )
    told = ["\n".join([screen.bold(f"{number}. {title}"), *lines]) for number, (title, lines) in enumerate(parts, 1)]
    return "\n\n".join([screen.fill(opening), *told, *end])


def _show_beliefs(screen: Screen, run: DemoRun) -> Iterator[str]:
    for why in run.held:
        one = why.memory
        if one.status in HELD and one.speaker == "user" and one.confidence >= _FLOOR and not one.contested:
            yield f"  {render_headline(screen, one)}{screen.dim(f'  {describe_validity(screen, one)}')}"
            for event, start, end in why.evidence:
                quoted = f"{quote_span(screen, event, start, end)} [{event.id}, {start}–{end}]"
                yield screen.dim(screen.fill(quoted, "      ", "        "))


def _show_replaced(screen: Screen, run: DemoRun) -> Iterator[str]:
    by_id = {why.memory.id: why.memory for why in run.held}
    past = [why.memory for why in run.held if why.memory.status not in HELD]
    for old in past:
        new = by_id.get(old.superseded_by or "")
        told = f"{screen.bold(label(old))}: {describe_replacement(new, [old])}" if new else render_headline(screen, old)
        yield f"  {told}  {screen.dim(describe_validity(screen, old))}"
    if not past:
        yield "  Nothing."


def _show_refused(screen: Screen, run: DemoRun, script: Script) -> Iterator[str]:
    """Show each statement that is no belief about the user, with what became of it."""
    texts = {turn.id: turn.text for turn in script.turns}
    for entry in script.expected["refused"]:
        turn, value = entry["turn"], entry.get("value", "")
        stored = [
            f"stored as {render_headline(screen, why.memory)}"
            for why in run.held
            if any(event.id == run.events[turn] for event, _, _ in why.evidence)
            and why.memory.status in HELD
            and normalise_value(value) in normalise_value(name_value(why.memory))
        ]
        yield f"  {entry['why']}: “{truncate(_cut_passage(texts[turn], value), screen.columns - 20)}”"
        outcome = "; ".join([*run.masked.get(turn, ()), *stored]) or "no belief"
        yield screen.dim(screen.fill(f"→ {outcome}", "      ", "        "))


def _cut_passage(text: str, value: str) -> str:
    """Return the sentence that contains a value, without the sentences before it; never show secrets."""
    at = max(text.casefold().find(value.casefold()), 0) if value else 0
    begin = max(text.rfind(mark, 0, at) + 2 for mark in (". ", "! ", "? "))
    shown = text[begin if begin > 1 else 0 :]
    return escape_controls(shown.replace(value, f"{value[:8]}…") if value.startswith("sk-") else shown)


def _show_searches(screen: Screen, asked: Sequence[Asked], gain: str = "") -> Iterator[str]:
    for one in asked:
        yield f"  {screen.bold(one.question)}"
        yield from show_results(screen, one.result)
    if gain:
        yield screen.fill(gain, "  ")


def _show_gain(gain: Gain | None) -> str:
    """Describe the benefit of the model, measured on reworded questions."""
    if gain is None:
        return "No embedding model is in use: search is lexical only."
    more = [f"“{question}”" for question in gain.by_meaning if question not in gain.by_words]
    shown = f", such as {more[0]}" if more else ""
    return (
        f"Of {gain.questions} reworded questions, lexical search answers {len(gain.by_words)} "
        f"and the model {gain.model_id} {len(gain.by_meaning)}{shown}."
    )


def _show_timings(screen: Screen, run: DemoRun) -> Iterator[str]:
    times = run.timings
    rows = (
        ("storing a turn, on disk", f"{times.ack_ms_median:.2f} ms median, {times.ack_ms_max:.2f} ms at most"),
        ("a search", f"{times.search_ms_median:.2f} ms median"),
        ("whole demo", f"{times.seconds_total:.1f} s"),
    )
    yield screen.pairs(rows)


def _show_commands(run: DemoRun, command: str) -> Iterable[str]:
    changed = next((why.memory for why in run.held if why.memory.status is Status.SUPERSEDED), None)
    slot = f"{changed.entity or 'user'} {changed.attribute}" if changed and changed.attribute else "user residence"
    current = next((why.memory.id for why in reversed(run.held) if why.memory.status is Status.ACTIVE), "ID")
    yield f"  The database is {run.database}"
    yield ""
    for tail in (f'search "{run.searches[0].question}"', f"history {slot}", f"why {current}"):
        yield f"    {command} {tail}"


# The demo's story: five scenes in some 25 lines, read from the memory that the demo created.


_INDENT: Final = "   "
_LINES_OF_CONTEXT: Final = 4
_LINE: Final = re.compile(r"- \[[^\]]+\] (?P<told>.+)")


def _list_scenes(screen: Screen, run: DemoRun, script: Script) -> tuple[tuple[str, Iterable[str]], ...]:
    told = script.expected["story"]
    changed = _find_changed(run, told["attribute"])
    return (
        ("A job changes", _tell_change(screen, changed)),
        ("Why it is believed", _tell_reasons(screen, run, changed, told["as_of"])),
        ("A preference that alternates becomes a question", _tell_contest(screen, run)),
        ("A deletion that holds", _tell_deletion(run)),
        (f"What an agent gets before “{told['prompt']}”", _tell_context(screen, run)),
    )


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
    held = (f"{screen.bold(label(one))}: {name_value(one)}" for one in run.answered.believed)
    yield f"{_INDENT}held: {' · '.join(held)}"


def _tell_deletion(run: DemoRun) -> Iterator[str]:
    if run.deleted is None:
        yield f"{_INDENT}There was nothing to delete."
        return
    value = name_value(run.deleted.memory)
    hits = run.deleted.search.hits
    found = sum(value.casefold() in hit.text.casefold() for hit in hits) or "no"
    left = len(run.deleted.left) or "no"
    yield f"{_INDENT}deleted: {label(run.deleted.memory)}: {value}"
    yield f"{_INDENT}said again: “{escape_controls(run.deleted.restated)}”"
    yield from (f"{_INDENT}refused: {reason}" for reason in run.deleted.receipt.refused)
    yield f"{_INDENT}asked “{run.deleted.question}”: {found} hit has it, {left} memory holds it"


def _tell_context(screen: Screen, run: DemoRun) -> Iterator[str]:
    told = [found["told"] for line in run.context.splitlines() if (found := _LINE.match(line))]
    yield from (
        f"{_INDENT}{truncate(escape_controls(one), screen.columns - len(_INDENT))}" for one in told[:_LINES_OF_CONTEXT]
    )
