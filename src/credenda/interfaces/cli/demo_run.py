"""Run the demo: store the conversation in a new memory, then search, resolve and delete. Prints nothing."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from credenda.client import Credenda
from credenda.clock import DAY_US, SECOND_US, from_datetime, seconds
from credenda.errors import Conflict
from credenda.model.change import ContestCase
from credenda.model.event import Receipt
from credenda.model.memory import Memory
from credenda.model.query import Explanation, SearchResult
from credenda.model.report import Resolution

# The demo's input: the included conversation, turn by turn, and what is done with it.


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
    """A conversation, and what the demo does after it."""

    turns: tuple[ScriptTurn, ...]
    story: Mapping[str, Any]


def load_script() -> Script:
    """Read the conversation and the story."""
    conversation = json.loads((_DATA / "demo_conversation.jsonl").read_text("utf-8").splitlines()[0])
    story = tomllib.loads((_DATA / "demo_story.toml").read_text("utf-8"))
    turns = tuple(_turn(session, turn) for session in conversation["sessions"] for turn in session["turns"])
    return Script(turns=turns, story=story)


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


_READ_SECONDS: Final = 300
_PAGE: Final = 50


class ConversationClock:
    """A clock at the time of the current message, so that every belief is recorded at the time of its message."""

    def __init__(self, start_us: int) -> None:
        self._now_us = start_us

    def now_us(self) -> int:
        """Return the current time of the conversation."""
        return self._now_us

    def move(self, to_us: int) -> None:
        """Move the clock forward; ignore an earlier time."""
        self._now_us = max(self._now_us, to_us)


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
class DemoRun:
    """The result of the demo. `held` was read before the contest was resolved and the belief deleted."""

    database: str
    turns: int
    sessions: int
    held: tuple[Explanation, ...]
    events: Mapping[str, str]
    """The id of the event of each turn."""
    answered: Answered | None
    deleted: Deleted | None
    earlier: tuple[Memory, ...]
    """The values of the story's attribute that held on its earlier day."""
    context: str
    """What an agent gets with the story's prompt."""
    seconds_total: float


def run_demo(script: Script, path: Path, user: str | None) -> DemoRun:
    """Run the demo on a new database; raise `Conflict` if the database exists."""
    if path.exists():
        raise Conflict(f"{path} exists already", why="the demo needs an empty memory", fix="name another file")
    begun = seconds()
    clock = ConversationClock(script.turns[0].time_us)
    events: dict[str, str] = {}
    with Credenda.open(path, user=user, clock=clock, workers=False) as memory:
        for turn in script.turns:
            clock.move(turn.time_us)
            events[turn.id] = memory.remember([turn.message], session=turn.session).event_ids[0]
        memory.settle(_READ_SECONDS)
        held = explain_all(memory)
        clock.move(clock.now_us() + DAY_US)
        answered = _answer_contest(memory, script)
        clock.move(clock.now_us() + SECOND_US)
        deleted = _delete(memory, script, held, events)
        told = script.story["story"]
        earlier = tuple(memory.list(entity="user", attribute=told["attribute"], as_of=told["as_of"]).items)
        context = memory.context(told["prompt"]).text
    return DemoRun(
        database=str(path),
        turns=len(script.turns),
        sessions=len({turn.session for turn in script.turns}),
        held=held,
        events=events,
        answered=answered,
        deleted=deleted,
        earlier=earlier,
        context=context,
        seconds_total=seconds() - begun,
    )


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


def _answer_contest(memory: Credenda, script: Script) -> Answered | None:
    """Answer the open contest with one value per scope."""
    contests = tuple(memory.manage.contests())
    if not contests:
        return None
    case, said = contests[0], script.story["resolve"]
    resolution = memory.manage.resolve(case.id, scopes=said["scopes"])
    memory.settle()
    believed = memory.list(entity=case.entity, attribute=case.attribute, limit=_PAGE).items
    return Answered(case=case, answer=said["answer"], resolution=resolution, believed=believed)


def _delete(
    memory: Credenda, script: Script, held: tuple[Explanation, ...], events: Mapping[str, str]
) -> Deleted | None:
    """Delete a belief, repeat its statement, and check that it is not stored again."""
    wanted = script.story["delete"]
    event_id = events[wanted["turn"]]
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
