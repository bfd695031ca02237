"""Run the demo: store the conversation in a new memory, then search, resolve and delete. Prints nothing."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any, Final

from credenda.client import Credenda
from credenda.clock import DAY_US, from_datetime, seconds, to_datetime
from credenda.errors import Conflict
from credenda.interfaces.cli.render_beliefs import name_value
from credenda.model.change import ContestCase, ContestState
from credenda.model.event import Receipt
from credenda.model.memory import Memory, Relation, Status
from credenda.model.query import Explanation, SearchResult
from credenda.model.report import Resolution
from credenda.testing import ManualClock
from credenda.text.dates import Lean, find_dates
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_value

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


# Compare the demo's result with its expectations. demo_expectations.toml defines how entries match.


Entry = Mapping[str, Any]
_FLOOR: Final = 0.4
"""Lowest confidence of a memory that a search returns."""
_NOT_HELD: Final = 0.3
"""A memory at or below this confidence is stored but not believed."""
_UNLIKELY: Final = 0.5
"""A question that nothing answers must have a lower probability."""
_LEANS: Final[tuple[Lean | None, ...]] = (None, "past", "future")
_CURRENT: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
_PAST: Final = frozenset({Status.SUPERSEDED, Status.MERGED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The number of checked expectations, and those that are not met."""

    ok: bool
    checks: int
    mismatches: tuple[str, ...]


def has_words(memory: Memory, words: str) -> bool:
    """Return whether words occur in a belief's value, or in its text when it has no value, ignoring case."""
    return normalise_value(words) in normalise_value(name_value(memory))


def is_from_turn(why: Explanation, run: DemoRun, turn: str) -> bool:
    """Return whether a turn is evidence of a memory."""
    return any(event.id == run.events[turn] for event, _, _ in why.evidence)


def check(run: DemoRun, script: Script) -> Checked:
    """Check every expectation."""
    checker = Check(run, script)
    problems: list[str] = []
    count = 0
    for problem in checker.problems():
        count += 1
        if problem:
            problems.append(problem)
    return Checked(ok=not problems, checks=count, mismatches=tuple(problems))


class Check:
    """All comparisons of one run; each returns "" or a description of the failure."""

    def __init__(self, run: DemoRun, script: Script) -> None:
        self._run = run
        self._script = script

    def problems(self) -> Iterator[str]:
        """Return "" for each expectation that is met, and one line for each that is not."""
        kinds = {
            "current": self._current,
            "superseded": self._superseded,
            "ended": self._ended,
            "restated": self._restated,
            "dated": self._dated,
            "contest": self._contest,
            "refused": self._refused,
            "search": self._search,
        }
        for name, compare in kinds.items():
            for entry in self._script.entries(name):
                yield compare(entry)
        yield self._unanswered()
        yield self._gained()
        yield self._resolved(self._script.expected["resolve"])
        yield self._deleted(self._script.expected["delete"])

    def _from(self, turn: str, words: str) -> list[Memory]:
        """Return the memories that have a turn as evidence and contain some words."""
        return [
            why.memory for why in self._run.held if is_from_turn(why, self._run, turn) and has_words(why.memory, words)
        ]

    def _current(self, entry: Entry) -> str:
        name = f"current {entry['attribute']} = {entry['value']!r} ({entry['turn']})"
        found = [one for one in self._from(entry["turn"], entry["value"]) if one.status is Status.ACTIVE]
        if not found:
            return f"{name}: no active belief rests on this turn"
        one = found[0]
        if one.contested or one.confidence < _FLOOR or one.speaker != "user":
            return f"{name}: contested {one.contested}, confidence {one.confidence}, speaker {one.speaker}"
        if one.type.value != entry.get("type", one.type.value):
            return f"{name}: it is a {one.type.value}, not a {entry['type']}"
        scope = normalise_name(entry.get("scope", ""))
        shown = normalise_name(f"{one.scope or ''} {one.entity or ''} {one.text}")
        return "" if scope in shown else f"{name}: its scope is {one.scope!r}, not {entry['scope']!r}"

    def _superseded(self, entry: Entry) -> str:
        name = f"superseded {entry['attribute']} {entry['old']!r} → {entry['new']!r}"
        old = [one for one in self._from(entry["old_turn"], entry["old"]) if one.status in _PAST]
        new = {one.id for one in self._from(entry["new_turn"], entry["new"])}
        if not old:
            return f"{name}: the old value is not superseded"
        one = old[0]
        if one.relation is not Relation(entry["relation"]):
            return f"{name}: the relation is {one.relation}, not {entry['relation']}"
        if one.superseded_by not in new:
            return f"{name}: it was not replaced by the new value but by {one.superseded_by}"
        return "" if one.valid_until_us is not None else f"{name}: the old value has no end"

    def _ended(self, entry: Entry) -> str:
        name = f"ended {entry['attribute']} {entry['value']!r}"
        found = self._from(entry["turn"], entry["value"])
        ended = [one for one in found if one.status not in _CURRENT and one.valid_until_us is not None]
        moment_us = self._script.turn(entry["ended_turn"]).time_us
        if not ended:
            return f"{name}: it has not ended"
        if abs((ended[0].valid_until_us or 0) - moment_us) > DAY_US:
            return f"{name}: it ended at {ended[0].valid_until}"
        statuses = {word: {one.status for one in self._from(entry["turn"], word)} for word in entry["remaining"]}
        lost = [word for word, found in statuses.items() if Status.ACTIVE not in found]
        return f"{name}: {lost} is no longer active" if lost else ""

    def _restated(self, entry: Entry) -> str:
        name = f"restated {entry['attribute']} {entry['value']!r}"
        first = {one.id for one in self._from(entry["first_turn"], entry["value"])}
        again = {one.id for one in self._from(entry["again_turn"], entry["value"])}
        if not first or first != again:
            return f"{name}: {sorted(first)} from the first turn, {sorted(again)} from the second"
        return ""

    def _dated(self, entry: Entry) -> str:
        name = f"dated {entry['words']!r} ({entry['turn']})"
        first: date = entry["day"]
        after: date = entry.get("until", first) + timedelta(days=1)
        read = self._days_read(self._script.turn(entry["turn"]), entry["words"])
        if (first, after) not in read:
            return f"{name}: parsed as {sorted(map(str, read))}"
        wrong = [
            one.valid_from
            for one in self._dated_by_words(entry["turn"])
            if not first <= to_datetime(one.valid_from_us or 0).date() < after
        ]
        return f"{name}: a belief is valid from {wrong[0]}" if wrong else ""

    @staticmethod
    def _days_read(turn: ScriptTurn, words: str) -> set[tuple[date, date]]:
        """Parse the days that the words name on the speaker's calendar, as past and as future."""
        return {
            (to_datetime(span.from_us).date(), to_datetime(span.until_us).date())
            for lean in _LEANS
            for span in find_dates(turn.text, turn.wall_us, lean)
            if span.from_us is not None
            and span.until_us is not None
            and words.casefold() in turn.text[span.start : span.stop].casefold()
        }

    def _dated_by_words(self, turn: str) -> list[Memory]:
        """Return the beliefs of a turn whose validity begins at another time than the turn."""
        said_us = self._script.turn(turn).time_us
        found = [why.memory for why in self._run.held if is_from_turn(why, self._run, turn)]
        return [one for one in found if one.valid_from_us not in (None, said_us)]

    def _contest(self, entry: Entry) -> str:
        name = f"contest {entry['attribute']}"
        opened = [case for case in self._run.contests if case.state is ContestState.OPEN]
        for case in opened:
            known = " ".join(map(normalise_value, case.values))
            if all(normalise_value(value).split()[0] in known for value in entry["values"]):
                return "" if case.question else f"{name}: it has no question"
        return f"{name}: open contests are {[case.values for case in opened]}"

    def _refused(self, entry: Entry) -> str:
        name = f"refused ({entry['why']}) {entry.get('value', '')!r} ({entry['turn']})"
        bound = -1.0 if entry["why"] == "retracted" else _NOT_HELD
        believed = [one for one in self._of_user(entry) if one.confidence > bound]
        if believed:
            return f"{name}: believed as {believed[0].attribute} = {believed[0].value!r} at {believed[0].confidence}"
        if entry["why"] == "secret" and self._on_disk(entry["value"]):
            return f"{name}: the words are stored"
        return ""

    def _of_user(self, entry: Entry) -> list[Memory]:
        """Return current beliefs about the user from a refused turn, limited to a value if the entry names one."""
        found = self._from(entry["turn"], entry.get("value", ""))
        attribute = normalise_attribute(entry.get("attribute", ""))
        return [
            one
            for one in found
            if one.status in _CURRENT
            and normalise_name(one.entity or "user") == "user"
            and (not attribute or normalise_attribute(one.attribute or "") == attribute)
        ]

    def _on_disk(self, words: str) -> bool:
        database = Path(self._run.database)
        return any(words.encode() in path.read_bytes() for path in database.parent.glob(f"{database.name}*"))

    def _search(self, entry: Entry) -> str:
        name = f"search {entry['question']!r}"
        asked = next(one for one in self._run.searches if one.question == entry["question"])
        wanted = {self._run.events[turn] for turn in entry["turns"]}
        for hit in asked.result.hits[:_TOP]:
            sources = {hit.id, *(event.id for event in hit.evidence)}
            if wanted & sources and entry["words"].casefold() in hit.quote.casefold():
                return f"{name}: the search abstained" if asked.result.abstained else ""
        return f"{name}: the first hits are {[hit.text for hit in asked.result.hits[:_TOP]]}"

    def _unanswered(self) -> str:
        asked = self._run.unanswered
        probability = asked.result.probability
        return "" if probability < _UNLIKELY else f"unanswered {asked.question!r}: the probability is {probability:.0%}"

    def _gained(self) -> str:
        gain = self._run.gain
        if gain is None or len(gain.by_meaning) >= len(gain.by_words):
            return ""
        return f"reworded: {gain.model_id} finds {len(gain.by_meaning)} answers, lexical search {len(gain.by_words)}"

    def _resolved(self, entry: Entry) -> str:
        name = f"resolve {entry['attribute']}"
        answered = self._run.answered
        if answered is None or answered.resolution.contest.state is not ContestState.RESOLVED:
            return f"{name}: nothing was resolved"
        for scope, value in entry["scopes"].items():
            wanted = "" if scope == "default" else scope
            if not any(has_words(one, value) and (one.scope or "") == wanted for one in answered.believed):
                return f"{name}: {value!r} is not believed for {scope!r}"
        return "" if not any(one.contested for one in answered.believed) else f"{name}: it is still contested"

    def _deleted(self, entry: Entry) -> str:
        name = f"delete {entry['attribute']} {entry['value']!r}"
        deleted = self._run.deleted
        if deleted is None:
            return f"{name}: there was nothing to delete"
        if not deleted.receipt.refused:
            return f"{name}: the repeated statement was not refused"
        back = deleted.left or [hit for hit in deleted.search.hits if entry["value"] in hit.text]
        if back or self._on_disk(entry["value"]):
            return f"{name}: it is still stored"
        return ""
