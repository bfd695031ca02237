"""Run the demo: store the conversation in a new memory, then search, resolve and delete. Prints nothing."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.resources import as_file, files
from pathlib import Path
from statistics import median
from typing import Any, Final

from credenda.client import Credenda
from credenda.clock import from_datetime, seconds, to_datetime
from credenda.errors import Conflict
from credenda.interfaces.cli.render_beliefs import name_value
from credenda.model.change import ContestCase
from credenda.model.evaluation import BeliefTestReport
from credenda.model.event import Receipt
from credenda.model.memory import Memory
from credenda.model.query import Explanation, SearchResult
from credenda.model.report import Resolution
from credenda.testing import ManualClock
from credenda.text.normalize import normalise_value

# The demo's input: the included conversation, turn by turn, and its expectations.


_DATA: Final = files("credenda") / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptTurn:
    """One message of the conversation."""

    id: str
    session: str
    speaker: str
    text: str
    time_us: int
    wall_us: int
    """The speaker's local time, encoded as if it were UTC."""

    @property
    def message(self) -> dict[str, object]:
        """Return the turn as input of `remember`."""
        return {"role": self.speaker, "content": self.text, "id": self.id}


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A conversation, and the expected beliefs after it."""

    turns: tuple[ScriptTurn, ...]
    expected: Mapping[str, Any]

    def entries(self, name: str) -> Sequence[Mapping[str, Any]]:
        """Return the expectations of one kind."""
        return self.expected.get(name, ())

    def turn(self, turn_id: str) -> ScriptTurn:
        """Return a turn by its id."""
        return next(turn for turn in self.turns if turn.id == turn_id)


def load_script() -> Script:
    """Read the conversation and its expectations."""
    conversation = json.loads((_DATA / "demo_conversation.jsonl").read_text("utf-8").splitlines()[0])
    expected = tomllib.loads((_DATA / "demo_expectations.toml").read_text("utf-8"))
    turns = tuple(_turn(session, turn) for session in conversation["sessions"] for turn in session["turns"])
    return Script(turns=turns, expected=expected)


def _turn(session: Mapping[str, Any], turn: Mapping[str, Any]) -> ScriptTurn:
    moment = datetime.fromisoformat(turn.get("time", session["time"]))
    return ScriptTurn(
        id=turn["id"],
        session=session["id"],
        speaker=turn["speaker"],
        text=turn["text"],
        time_us=from_datetime(moment),
        wall_us=from_datetime(moment.replace(tzinfo=UTC)),
    )


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
    clock = ManualClock(to_datetime(script.turns[0].time_us))  # every belief is recorded at the time of its message
    with Credenda.open(path, user=user, clock=clock, workers=False) as memory:
        said = _submit_turns(memory, clock, script, each=measured)
        held = explain_all(memory)
        contests = tuple(memory.manage.contests())
        searches = tuple(_ask(memory, entry["question"]) for entry in script.entries("search"))
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
        clock.advance(max(to_datetime(turn.time_us) - clock.now(), timedelta(0)))
        begun = seconds()
        receipt = memory.remember([turn.message], session=turn.session)
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
    entries = script.entries("reworded")
    with Credenda.open(path, user=memory.user, embedder="none", read_only=True) as wordly:
        by_words = tuple(_find_entries(wordly, entries))
    return Gain(
        model_id=model_id, questions=len(entries), by_words=by_words, by_meaning=tuple(_find_entries(memory, entries))
    )


def _find_entries(memory: Credenda, entries: Sequence[Mapping[str, str]]) -> Iterator[str]:
    for entry in entries:
        hits = memory.search(entry["question"], limit=_TOP, record_access=False).hits
        if any(entry["words"].casefold() in hit.quote.casefold() for hit in hits):
            yield entry["question"]


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
            return _run_deletion(memory, why.memory, wanted)
    return None


def _run_deletion(memory: Credenda, target: Memory, wanted: Mapping[str, str]) -> Deleted:
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


def check_beliefs(script: Script, path: Path, user: str | None) -> BeliefTestReport:
    """Test the beliefs that the demo leaves in its database against `demo_beliefs.test`."""
    clock = ManualClock(to_datetime(script.turns[-1].time_us) + timedelta(days=2))
    with (
        as_file(_DATA / "demo_beliefs.test") as beliefs,
        Credenda.open(path, user=user, clock=clock, workers=False, read_only=True) as memory,
    ):
        return memory.inspect.test(beliefs)


def has_words(memory: Memory, words: str) -> bool:
    """Return whether words occur in a belief's value, or in its text when it has no value, ignoring case."""
    return normalise_value(words) in normalise_value(name_value(memory))


def is_from_turn(why: Explanation, run: DemoRun, turn: str) -> bool:
    """Return whether a turn is evidence of a memory."""
    return any(event.id == run.events[turn] for event, _, _ in why.evidence)
