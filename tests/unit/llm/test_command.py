"""A model behind a program: one process a question, bounded in time, without a trace of the texts in its failures."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from credenda import Credenda, Invalid, Unavailable
from credenda.config import Settings
from credenda.providers.llm.client import open_model
from credenda.providers.llm.command import Command
from credenda.providers.llm.protocol import LanguageModel, ModelFailure, Question, Trouble
from tests.waiting import PATIENCE_SECONDS, await_that

QUESTION = Question(
    instructions="Say what is worth keeping.",
    prompt='{"message": {"text": "I live in Zorkville."}}',
    schema={"type": "object", "required": ["claims"]},
    tokens_max=256,
    earlier=(("nonsense", "That is not JSON."),),
)

Program = Callable[[str], Command]


def line(tmp_path: Path, code: str) -> str:
    path = tmp_path / "program.py"
    path.write_text("import json, os, sys, time\n" + code, encoding="utf-8")
    return shlex.join([sys.executable, str(path)])


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return lambda code: Command(line(tmp_path, code), timeout_seconds=20.0, at_once=2)


def failure(model: LanguageModel) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        model.ask(QUESTION)
    assert "Zorkville" not in str(caught.value)
    return caught.value


def test_the_program_gets_the_whole_question_and_its_output_is_the_answer(program: Program) -> None:
    model = program('text = sys.stdin.read()\nprint(json.dumps({"claims": [text]}))')
    assert isinstance(model, LanguageModel)
    asked = json.loads(model.ask(QUESTION).text)["claims"][0]
    for part in (
        "Say what is worth",
        '"required": ["claims"]',
        "I live in Zorkville.",
        "nonsense",
        "That is not JSON.",
    ):
        assert part in asked


@pytest.mark.parametrize("around", ["```json\n{}\n```", "Here you are: {} I hope it helps {{}}", "{{ no\n{}"])
def test_an_answer_may_stand_in_a_fence_or_between_sentences(program: Program, around: str) -> None:
    said = around.format('{"claims": ["é"]}')
    reply = program(f"sys.stdout.buffer.write({said!r}.encode())").ask(QUESTION)
    assert json.loads(reply.text) == {"claims": ["é"]}


@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("sys.exit(3)", Trouble.BUSY),
        ('print("I live in Zorkville.")', Trouble.UNREADABLE),
        ("", Trouble.UNREADABLE),
        ('print("x" * 10_000_000)', Trouble.UNREADABLE),
        ('while True: sys.stdout.write("x" * 65_536)', Trouble.UNREADABLE),
        ("sys.stdin.close(); sys.exit(1)", Trouble.BUSY),
    ],
)
def test_each_way_of_not_answering_is_a_failure_with_its_kind(program: Program, code: str, trouble: Trouble) -> None:
    assert failure(program(code)).trouble is trouble


@pytest.mark.parametrize(
    ("code", "fix", "seconds"),
    [
        ("sys.exit(3)", "status 3; run it by hand", PATIENCE_SECONDS),
        ('print("tea")', "it must print the one that the prompt asks for", PATIENCE_SECONDS),
        ("time.sleep(60)", "raise llm_timeout_seconds", 0.5),
    ],
)
def test_a_failure_says_what_to_do(tmp_path: Path, code: str, fix: str, seconds: float) -> None:
    assert fix in str(failure(Command(line(tmp_path, code), timeout_seconds=seconds)))


def test_an_argument_is_quoted_as_in_a_shell_and_nothing_is_expanded(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text("import json, sys\nprint(json.dumps({'claims': sys.argv[1:]}))", encoding="utf-8")
    words = f"{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'echo.py'))}"
    reply = Command(f"{words} 'a b; $HOME' ~ \"c\"").ask(QUESTION)
    assert json.loads(reply.text) == {"claims": ["a b; $HOME", "~", "c"]}


def test_a_program_that_reads_nothing_may_answer(program: Program) -> None:
    large = replace(QUESTION, prompt="I live in Zorkville. " * 50_000)
    assert json.loads(program('print(json.dumps({"claims": []}))').ask(large).text) == {"claims": []}


def test_the_tokens_are_estimated_from_the_texts_and_fill_the_budget_of_a_day(tmp_path: Path) -> None:
    model = Command(line(tmp_path, 'sys.stdin.read()\nprint(json.dumps({"claims": [], "more": False}))'))
    reply = model.ask(QUESTION)
    assert reply.tokens_in > 20
    assert reply.tokens_out > 3
    llm = f"command:{line(tmp_path, 'sys.stdin.read()')}"
    with Credenda.open(tmp_path / "m.db", user="ana", llm=llm, embedder="none", workers=False) as memory:
        memory.remember("Folks, quorum of the choir board: nine.")
        memory.settle(30)
        use = memory.stats().model
        assert use is not None
        assert use.tokens > reply.tokens_in


def test_a_silent_program_is_killed_with_the_programs_that_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    child = f"import time, pathlib; time.sleep(3); pathlib.Path({str(mark)!r}).touch()"
    code = f"import subprocess\nsubprocess.Popen([sys.executable, '-c', {child!r}])\ntime.sleep(60)"
    found = failure(Command(line(tmp_path, code), timeout_seconds=0.5))
    assert found.trouble is Trouble.AWAY
    assert "0.5 s" in str(found)
    assert not mark.exists()


def test_closing_ends_a_running_question(program: Program, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    model = program(f"open({str(mark)!r}, 'w').close()\ntime.sleep(600)")
    failures: list[ModelFailure] = []
    asking = Thread(target=lambda: failures.append(failure(model)))
    asking.start()
    await_that(mark.exists, "the question to the program")
    model.close()
    asking.join(PATIENCE_SECONDS)
    assert [one.trouble for one in failures] == [Trouble.AWAY]
    assert failure(model).trouble is Trouble.AWAY


def test_the_program_does_not_ask_a_model_of_its_own_memory(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDENDA_LLM", "command:itself")
    reply = program('print(json.dumps({"llm": os.environ["CREDENDA_LLM"]}))').ask(QUESTION)
    assert json.loads(reply.text) == {"llm": "none"}


def test_the_id_of_the_model_leaves_the_arguments_out() -> None:
    model = Command(f"{shlex.quote(sys.executable)} --token secret")
    assert model.model_id.startswith("command:python")
    assert "secret" not in model.model_id


@pytest.mark.parametrize(
    ("name", "error"),
    [("command:", Invalid), ("command:  ", Invalid), ("command:'open", Invalid), ("command:no-such-xyz", Unavailable)],
)
def test_a_command_that_cannot_run_is_refused_at_once(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        open_model(name, Settings())


def test_a_memory_extracts_with_a_program(tmp_path: Path) -> None:
    claim = {
        "turn": "t1",
        "quote": "quorum of the choir board: nine",
        "entity": "choir board",
        "attribute": "quorum",
        "value": "nine",
        "scope": None,
        "stance": "asserted",
        "effect": None,
    }
    code = f"sys.stdin.read()\nprint(json.dumps({ {'claims': [claim], 'more': False}!r}))"
    llm = f"command:{line(tmp_path, code)}"
    with Credenda.open(tmp_path / "m.db", user="ana", llm=llm, embedder="none", workers=False) as memory:
        memory.remember("Folks, quorum of the choir board: nine.")
        memory.settle(30)
        (found,) = [one for one in memory.list().items if one.value == "nine"]
        assert [change.actor for change in memory.why(found.id).changes] == ["model"]
