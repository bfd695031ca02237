"""Copilot CLI: it reads the hooks of VS Code, takes text with a prompt, and keeps its answers in a file of events."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from credenda.hook_files import find_places, list_waiting
from credenda.interfaces.hook.copilot_events import find_answer
from credenda.interfaces.hook.run import run_command

from .hooked import CodingAgent

FACT = "We decided to use Postgres for the billing service."
ASKED = "which database did we decide on for the billing service?"
STEP = [{"toolCallId": "c1", "name": "bash"}]


def ask(text: str) -> dict[str, Any]:
    return {"type": "user.message", "id": f"u-{text}", "data": {"content": text}}


def answer(text: str, **more: object) -> dict[str, Any]:
    data: dict[str, Any] = {"messageId": f"a-{text}", "content": text, "toolRequests": [], **more}
    return {"type": "assistant.message", "id": "e", "data": data}


class Events:
    """The file of events of a session."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.touch()

    def add(self, *events: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.writelines(json.dumps(event) + "\n" for event in events)


class Copilot(CodingAgent):
    """A session of Copilot CLI."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "copilot")
        self.events = Events(folder / "events.jsonl")

    def stop(self) -> None:
        assert self.send("reply", transcript_path=str(self.events.path), stop_reason="end_turn") == ""

    @property
    def heard(self) -> list[str]:
        return [one["text"] for one in self.waiting if one["role"] == "assistant"]


def test_what_is_recalled_comes_with_the_prompt(folder: Path) -> None:
    agent = CodingAgent(folder, "copilot")
    agent.teach(FACT)
    told = json.loads(agent.send("prompt", prompt=ASKED, timestamp="t1"))
    assert "Postgres" in told["additionalContext"]
    assert agent.send("PostToolUse", tool_name="Bash") == ""


@pytest.mark.parametrize("caller", ["copilot", "vscode"])
def test_copilot_cli_calls_the_hooks_of_vs_code_as_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caller: str
) -> None:
    monkeypatch.delenv("COPILOT_CLI", raising=False)
    if caller == "copilot":
        monkeypatch.setenv("COPILOT_CLI", "1")
    agent = CodingAgent(folder)
    told = {"session_id": "s1", "prompt": "I moved to Graz in May.", "cwd": str(folder)}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(told).encode())))
    options = ["--host", "vscode", "--db", agent.target, "--user", "ana", "--no-background"]
    with redirect_stdout(io.StringIO()):
        run_command(["UserPromptSubmit", *options])
    waiting = list_waiting(find_places(agent.target, "ana"))
    assert [json.loads(Path(path).read_bytes())["agent"] for path in waiting] == [caller]


def test_the_answer_is_read_from_the_file_of_events(folder: Path) -> None:
    agent = Copilot(folder)
    agent.say("Which port?")
    step, below = answer("Let me look.", toolRequests=STEP), answer("Found it.", parentToolCallId="c1")
    agent.events.add(ask("Which port?"), step, below, answer("The port is 8080."), {"type": "assistant.turn_end"})
    agent.stop()
    (kept,) = [one for one in agent.waiting if one["role"] == "assistant"]
    assert (kept["text"], kept["agent"], kept["session"]) == ("The port is 8080.", "copilot", "s1")


def test_an_answer_that_comes_late_is_awaited(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = Copilot(folder)
    monkeypatch.setattr("credenda.interfaces.hook.run._FILE_WAIT_SECONDS", 200.0)
    agent.events.add(ask("Which port?"), answer("Let me look.", toolRequests=STEP))

    def pause(_: float) -> None:
        agent.events.add(answer("The port is 8080."))

    monkeypatch.setattr("credenda.interfaces.hook.copilot_events.time.sleep", pause)
    agent.stop()
    assert agent.heard == ["The port is 8080."]


@pytest.mark.parametrize("kind", ["prompt", "end"])
def test_an_answer_that_was_not_there_yet_is_kept_at_the_next_moment_before_its_words(folder: Path, kind: str) -> None:
    agent = Copilot(folder)
    agent.say("Which port?")
    agent.stop()
    assert agent.heard == []
    agent.events.add(ask("Which port?"), answer("The port is 8080."))
    agent.send(kind, prompt="Thanks, and which host?")
    agent.send(kind, prompt="Thanks, and which host?")
    after = [] if kind == "end" else ["Thanks, and which host?"] * 2
    assert [one["text"] for one in agent.waiting] == ["Which port?", "The port is 8080.", *after]


def test_the_answer_of_the_turn_before_is_not_taken_again(folder: Path) -> None:
    agent = Copilot(folder)
    agent.events.add(ask("Which port?"), answer("The port is 8080."))
    agent.stop()
    agent.stop()  # nothing of the second turn is written yet
    agent.events.add(ask("Which host?"), answer("The host is alpha."))
    agent.send("end")
    assert agent.heard == ["The port is 8080.", "The host is alpha."]


def test_no_answer_is_kept_to_words_off_the_record(folder: Path) -> None:
    agent = Copilot(folder)
    agent.say("Off the record: I am looking for another job.")
    agent.stop()
    agent.events.add(ask("…"), answer("I hope that the search for another job goes well."))
    agent.say("Which port?")
    agent.events.add(ask("Which port?"), answer("The port is 8080."))
    agent.stop()
    assert [one["text"] for one in agent.waiting] == ["Which port?", "The port is 8080."]


@pytest.mark.parametrize(
    ("tail", "found"),
    [
        (b"", ""),
        (b"\xff\xfe{", ""),
        (b'"content": "cut"}}\n' + json.dumps(answer("whole")).encode(), "whole"),
        (json.dumps(answer("before")).encode() + b"\n" + json.dumps(ask("again")).encode(), ""),
        (b'[1]\n{"type": "assistant.message", "data": 5}\n', ""),
        (json.dumps(answer("broken \ud800")).encode(), "broken ?"),
    ],
)
def test_any_end_of_a_file_is_read(tail: bytes, found: str) -> None:
    assert find_answer(tail).text == found
