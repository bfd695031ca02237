"""A busy machine costs hooks time, and users nothing: who asks comes first, and what is late comes with the next."""

from __future__ import annotations

import json
import socket
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from credenda import Credenda
from credenda.agents import recall
from credenda.hook_files import find_late_mark
from credenda.interfaces.cli import agent_processes
from credenda.interfaces.cli.main import cli
from credenda.interfaces.hook import run
from credenda.interfaces.hook.run import ask_engine
from credenda.interfaces.hook_engine import listener
from tests.waiting import PATIENCE_SECONDS

from .hooked import CodingAgent, running_engine
from .terminal import NO_SETTINGS

ASKED = "which database did we decide on for the billing service?"
PROMPT = {"kind": "prompt", "session": "s", "text": ASKED, "seconds": PATIENCE_SECONDS, "waits": True}


@pytest.fixture
def agent(folder: Path) -> CodingAgent:
    found = CodingAgent(folder)
    found.teach("I'm allergic to peanuts.", "We decided to use Postgres for the billing service.")
    found.teach("We deploy the shop on Fridays.", session="earlier")
    return found


def fail(*_: object, **__: object) -> None:
    raise OSError


def be_late(*_: object, **__: object) -> None:
    """Give no answer in the time of a hook."""


@contextmanager
def loading_engine(
    agent: CodingAgent, memory: Credenda, monkeypatch: pytest.MonkeyPatch, loaded: Event
) -> Generator[None]:
    """Keep an engine listening that has not loaded its search before an event."""

    def load(memory: Credenda) -> recall.Recalled:
        assert loaded.wait(PATIENCE_SECONDS)
        return recall.find_core(memory)

    names = {name: getattr(recall, name) for name in ("find_for_prompt", "Recalled", "find_lines")}
    monkeypatch.setattr(listener, "recall", SimpleNamespace(find_core=load, **names))
    with running_engine(memory, agent.places):
        try:
            yield
        finally:
            loaded.set()


def test_an_engine_that_loads_is_waited_for_by_a_prompt_alone(
    agent: CodingAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, places = Event(), agent.places
    with agent.open() as memory, ThreadPoolExecutor() as others, loading_engine(agent, memory, monkeypatch, loaded):
        answer = others.submit(ask_engine, places, PROMPT, seconds=PATIENCE_SECONDS)
        assert ask_engine(places, {"kind": "core"}, seconds=PATIENCE_SECONDS) is None
        assert ask_engine(places, {"kind": "file"}, seconds=PATIENCE_SECONDS) == {}
        assert not answer.done()
        loaded.set()
        told = answer.result(PATIENCE_SECONDS)
    assert told is not None
    assert "Postgres" in told["text"]


def test_who_does_not_wait_any_more_costs_no_search(agent: CodingAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, places, asked = Event(), agent.places, list[object]()
    answer_hook = listener.answer_hook

    def count(memory: Credenda, request: Mapping[str, Any]) -> Mapping[str, object]:
        asked.append(request["session"])
        return answer_hook(memory, request)

    monkeypatch.setattr(listener, "answer_hook", count)
    with agent.open() as memory, loading_engine(agent, memory, monkeypatch, loaded):
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(places.socket)
            assert line.recv(1) == b" "  # heard, before anything was asked
            line.sendall(json.dumps({**PROMPT, "session": "gone"}).encode() + b"\n")
        loaded.set()
        assert ask_engine(places, PROMPT, seconds=PATIENCE_SECONDS)
    assert asked == ["s"]


def test_an_engine_that_is_heard_has_another_time(agent: CodingAgent) -> None:
    places = agent.places
    agent.start("resume")
    with socket.socket(socket.AF_UNIX) as line, ThreadPoolExecutor() as others:
        line.bind(places.socket)
        line.listen(1)

        def hear() -> bytes:
            with line.accept()[0] as caller:
                caller.sendall(b" ")
                caller.recv(65_536)
                return caller.recv(1)  # until the caller leaves

        heard = others.submit(hear)
        assert ask_engine(places, PROMPT, seconds=PATIENCE_SECONDS * 2, heard_seconds=0.01) is None
        assert heard.result(PATIENCE_SECONDS) == b""


def test_a_question_does_not_wait_for_a_write(agent: CodingAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    writing, written = Event(), Event()

    def write(*_: object) -> int:
        writing.set()
        assert written.wait(PATIENCE_SECONDS)
        return 0

    with agent.open() as memory, running_engine(memory, agent.places):
        assert ask_engine(agent.places, PROMPT, seconds=PATIENCE_SECONDS)  # it is loaded
        monkeypatch.setattr(listener, "file_waiting", write)
        agent.hear("I have changed the handler.")
        try:
            assert writing.wait(PATIENCE_SECONDS)
            told = ask_engine(agent.places, PROMPT, seconds=PATIENCE_SECONDS)
        finally:
            written.set()
    assert told is not None
    assert "Postgres" in told["text"]


def test_every_prompt_without_an_answer_gets_one_with_the_next(
    agent: CodingAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.start("resume")
    with monkeypatch.context() as patched:
        patched.setattr(run, "engine", SimpleNamespace(answer_once=fail))
        assert [agent.say(asked) for asked in (ASKED, "When do we deploy the shop?")] == ["", ""]
    with agent.open() as memory, running_engine(memory, agent.places):
        told = agent.say("rename foo to bar in utils.py")
        assert "Postgres" in told
        assert "Friday" in told
        assert agent.say("rename bar to baz in utils.py") == ""


def test_earlier_prompts_that_would_cost_the_answer_wait_for_the_next_one(agent: CodingAgent) -> None:
    with agent.open() as memory:
        for _ in range(2):
            memory.remember("When do we deploy the shop?", session="s")
        late = [event.occurred_us for event in memory.inspect.session("s").events]
        hurried = listener.answer_hook(memory, {**PROMPT, "late_us": late, "seconds": 0.0})
        patient = listener.answer_hook(memory, {**PROMPT, "late_us": late})
    assert "Postgres" in str(hurried["text"])
    assert hurried["late_us"] == late
    assert "Friday" in str(patient["text"])
    assert patient["late_us"] == []


@pytest.mark.parametrize("source", ["startup", "compact"])
def test_a_core_that_is_late_comes_with_the_first_prompt(
    agent: CodingAgent, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(run, "engine", SimpleNamespace(answer_once=fail))
        patched.setattr(run, "read_file", SimpleNamespace(read_core=fail))
        assert agent.start(source) == ""
    with agent.open() as memory, running_engine(memory, agent.places):
        told = agent.say("rename foo to bar in utils.py")
        assert "peanuts" in told
        assert agent.say("rename bar to baz in utils.py") == ""


def test_a_core_that_is_ready_comes_although_the_recall_is_late(
    agent: CodingAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.teach("Always answer in English.")
    with monkeypatch.context() as patched:
        patched.setattr(run, "read_file", SimpleNamespace(read_core=fail))
        assert agent.start() == ""
    with monkeypatch.context() as patched:
        patched.setattr(run, "engine", SimpleNamespace(answer_once=be_late))
        assert "peanuts" in agent.say(ASKED)
    with agent.open() as memory, running_engine(memory, agent.places):
        told = agent.say("rename foo to bar in utils.py")
    assert "Postgres" in told
    assert "peanuts" not in told


def test_after_a_late_prompt_the_process_that_reads_it_answers_the_next(
    agent: CodingAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that finds no late prompt, or another one that answers, ends when all is read."""
    agent.start("resume")
    assert agent.say("I use Neovim.") == ""
    command = ["--db", agent.target, "--user", "ana", "worker", "--once", "--for-hooks"]

    def work() -> None:
        assert CliRunner().invoke(cli, command, env=NO_SETTINGS).exit_code == 0

    work()
    monkeypatch.setattr(run, "engine", SimpleNamespace(answer_once=be_late))
    assert agent.say(ASKED) == ""
    asked: list[str] = []

    def ask(*_: object) -> bool:
        if not asked:
            work()  # beside the one that answers
            asked.append(agent.say("rename foo to bar in utils.py"))
            Path(find_late_mark(agent.places)).unlink()
        return False

    monkeypatch.setattr(agent_processes, "Event", lambda: SimpleNamespace(wait=ask))
    work()
    assert "Postgres" in asked[0]
