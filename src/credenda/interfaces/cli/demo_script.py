"""The demo's input: the included conversation, turn by turn, and its expectations."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Final

from credenda.clock import from_datetime

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
