"""The demo's work: play the conversation into a fresh memory, then ask, answer and delete. Shows nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from credenda.client import Credenda
from credenda.clock import DAY_US, SECOND_US, seconds
from credenda.errors import Conflict
from credenda.interfaces.cli.demo_script import Script
from credenda.model.contest import ContestCase
from credenda.model.event import Receipt
from credenda.model.memory import Memory
from credenda.model.query import Explanation, SearchResult
from credenda.model.report import Resolution

__all__ = ["Answered", "Asked", "Deleted", "DemoRun", "Gain", "Timings", "run_demo"]

_MILLISECONDS: Final = 1_000
_ROUNDS: Final = 10
"""How often each question is asked to measure a search."""
_PAGE: Final = 50
_TOP: Final = 3


class ConversationClock:
    """A clock that stands where the conversation is, so that every belief is recorded at the time it was said."""

    def __init__(self, start_us: int) -> None:
        self._now_us = start_us

    def now_us(self) -> int:
        """Return the present moment of the conversation."""
        return self._now_us

    def move(self, to_us: int) -> None:
        """Move forward; an earlier moment changes nothing."""
        self._now_us = max(self._now_us, to_us)

    def wait(self, step_us: int) -> None:
        """Let some time pass."""
        self._now_us += step_us


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and what was found."""

    question: str
    result: SearchResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The contest as it was, the answer given, and what is believed since."""

    case: ContestCase
    answer: str
    resolution: Resolution
    believed: tuple[Memory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """A belief that was deleted, what happened when it was said again, and what is left of it."""

    memory: Memory
    question: str
    restated: str
    receipt: Receipt
    left: tuple[Memory, ...]
    search: SearchResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What a model adds: of the questions asked in other words, those whose answer is among the first three hits."""

    model_id: str
    questions: int
    by_words: tuple[str, ...]
    by_meaning: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Medians, measured in this run."""

    ack_ms_median: float
    ack_ms_max: float
    search_ms_median: float
    seconds_total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRun:
    """All that the demo found. `held` was read before anything was answered or deleted."""

    database: str
    turns: int
    sessions: int
    held: tuple[Explanation, ...]
    events: Mapping[str, str]
    masked: Mapping[str, tuple[str, ...]]
    contests: tuple[ContestCase, ...]
    searches: tuple[Asked, ...]
    abstention: Asked
    gain: Gain | None
    """None where no model is installed, or none is wanted."""
    answered: Answered | None
    deleted: Deleted | None
    timings: Timings


@dataclass(slots=True)
class _Said:
    """What came back while the conversation was filed."""

    acks_ms: list[float] = field(default_factory=list[float])
    events: dict[str, str] = field(default_factory=dict[str, str])
    masked: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def run_demo(script: Script, path: Path, user: str | None) -> DemoRun:
    """Run the whole demo on a database that does not exist yet; raises `Conflict` for one that does."""
    if path.exists():
        raise Conflict(f"{path} exists already", why="the demo begins with an empty memory", fix="name another file")
    begun = seconds()
    clock = ConversationClock(script.turns[0].time_us)
    with Credenda.open(path, user=user, clock=clock, workers=False) as memory:
        said = _submit_turns(memory, clock, script)
        held = explain_all(memory)
        contests = tuple(memory.manage.contests())
        searches = tuple(_ask(memory, entry["question"]) for entry in script.entries("search"))
        abstention = _ask(memory, script.expected["abstain"]["question"])
        gain = _measure_gain(memory, script, path)
        search_ms = _measure(memory, [*(asked.question for asked in searches), abstention.question])
        clock.wait(DAY_US)
        answered = _answer_contest(memory, script, contests)
        clock.wait(SECOND_US)
        deleted = _delete(memory, script, held, said)
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
        abstention=abstention,
        gain=gain,
        answered=answered,
        deleted=deleted,
        timings=timings,
    )


def _submit_turns(memory: Credenda, clock: ConversationClock, script: Script) -> _Said:
    """File the conversation turn by turn, each at its own time, and read each turn before the next."""
    said = _Said()
    for turn in script.turns:
        clock.move(turn.time_us)
        begun = seconds()
        receipt = memory.remember([turn.message], session=turn.session)
        said.acks_ms.append((seconds() - begun) * _MILLISECONDS)
        said.events[turn.id] = receipt.event_ids[0]
        if receipt.refused:
            said.masked[turn.id] = receipt.refused
        memory.settle()
    return said


def explain_all(memory: Credenda) -> tuple[Explanation, ...]:
    """Explain every memory that is held or was, oldest first."""
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
    """Ask what is asked in other words, with the model and, from the same file, without it."""
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
        if any(entry["words"].casefold() in hit.text.casefold() for hit in hits):
            yield entry["question"]


def _measure(memory: Credenda, questions: list[str]) -> float:
    """Return the median time of a search in milliseconds, as a caller sees it."""
    times: list[float] = []
    for question in questions * _ROUNDS:
        begun = seconds()
        memory.search(question, record_access=False)
        times.append((seconds() - begun) * _MILLISECONDS)
    return median(times)


def _answer_contest(memory: Credenda, script: Script, contests: tuple[ContestCase, ...]) -> Answered | None:
    """Answer the open contest as the person would, with scopes."""
    if not contests:
        return None
    case, said = contests[0], script.expected["resolve"]
    resolution = memory.manage.resolve(case.id, scopes=said["scopes"])
    memory.settle()
    believed = memory.list(entity=case.entity, attribute=case.attribute, limit=_PAGE).items
    return Answered(case=case, answer=said["answer"], resolution=resolution, believed=believed)


def _delete(memory: Credenda, script: Script, held: tuple[Explanation, ...], said: _Said) -> Deleted | None:
    """Delete a belief, say it again, and look whether it is back."""
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
