"""The process of a hook ends well and says nothing wrong, whatever has become of its server, disk, user or host."""

from __future__ import annotations

import io
import json
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.hook_files import Places, find_places, list_waiting, read_lines
from credenda.interfaces.hook import run
from credenda.interfaces.hook.run import run_command
from tests.postgres_server import lend_database
from tests.waiting import PATIENCE_SECONDS

from .hooked import CodingAgent

ASKED = "which database did we decide on for the billing service?"
PAYLOAD = json.dumps({"session_id": "s", "prompt_id": "p", "prompt": ASKED}).encode()


@pytest.fixture
def agent(folder: Path) -> CodingAgent:
    found = CodingAgent(folder)
    found.teach("We decided to use Postgres for the billing service.")
    return found


def make_command(database: str, *more: str) -> list[str]:
    command = [sys.executable, "-P", "-m", "credenda", "hook", "UserPromptSubmit", "--no-background"]
    return [*command, "--db", database, "--user", "ana", *more]


def call(command: Sequence[str], data: bytes = PAYLOAD, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, input=data, capture_output=True, check=False, timeout=PATIENCE_SECONDS, env={**os.environ, **env}
    )


def expect_nothing_or_text(done: subprocess.CompletedProcess[bytes]) -> None:
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout == b"" or b"Postgres" in done.stdout or b"systemMessage" in done.stdout


def get_places(agent: CodingAgent) -> Places:
    return find_places(agent.target, "ana")


def test_a_server_that_died_is_not_missed(agent: CodingAgent) -> None:
    places = get_places(agent)
    Path(places.folder).mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(places.socket)  # nobody listens, as after a kill
    expect_nothing_or_text(call(make_command(agent.target)))
    assert len(list_waiting(places)) == 1
    assert read_lines(places)[-1].get("by", "memory") in {"memory", "server"}


def test_a_server_that_hangs_is_left_alone(agent: CodingAgent) -> None:
    places = get_places(agent)
    Path(places.folder).mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(places.socket)
        line.listen(1)
        expect_nothing_or_text(call(make_command(agent.target)))
    assert len(list_waiting(places)) == 1


@pytest.mark.sqlite_file  # the file is locked
def test_a_locked_database_costs_at_most_the_recall(agent: CodingAgent) -> None:
    locking = sqlite3.connect(agent.database)
    locking.execute("PRAGMA locking_mode = EXCLUSIVE")
    locking.execute("BEGIN EXCLUSIVE")
    expect_nothing_or_text(call(make_command(agent.target)))
    locking.rollback()
    locking.close()
    assert len(list_waiting(get_places(agent))) == 1


@pytest.mark.parametrize("place", ["/dev/null/memory.db", "/proc/memory.db"])
def test_a_place_that_cannot_be_written_silences_the_hook(place: str) -> None:
    done = call(make_command(place))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_disk_that_takes_no_more_silences_the_hook(agent: CodingAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("credenda.interfaces.hook.run.write_durably", refuse)
    monkeypatch.setattr("credenda.interfaces.hook.run.add_line", refuse)
    assert agent.say(ASKED) == ""
    assert agent.waiting == []


def test_a_user_without_a_home_leaves_no_folder_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "CREDENDA_DB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", str)  # as for a number without an entry of a user
    monkeypatch.chdir(folder)
    assert run_command(["UserPromptSubmit", "--no-background"]) == 0
    assert capsys.readouterr().out == ""
    assert list(folder.iterdir()) == []


@pytest.mark.sqlite_file  # words lie beside the file; those for a server lie in the home
@pytest.mark.parametrize("scheme", ["", "sqlite:///"])
def test_a_user_without_a_home_whose_command_names_a_database_is_served(agent: CodingAgent, scheme: str) -> None:
    command = ["env", "-u", "HOME", "-u", "XDG_DATA_HOME", *make_command(f"{scheme}{agent.target}")]
    expect_nothing_or_text(call(command))
    assert len(list_waiting(get_places(agent))) == 1


def test_a_host_that_never_closes_its_end_is_not_waited_for(agent: CodingAgent) -> None:
    with subprocess.Popen(make_command(agent.target), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(timeout=PATIENCE_SECONDS) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""


def test_words_of_a_host_that_never_closes_its_end_are_kept(agent: CodingAgent) -> None:
    with subprocess.Popen(make_command(agent.target), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(PAYLOAD)
        process.stdin.flush()
        assert process.wait(timeout=PATIENCE_SECONDS) == 0
    assert len(list_waiting(get_places(agent))) == 1


def test_a_host_that_does_not_read_the_answer_sees_no_failure(agent: CodingAgent) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            make_command(agent.target),
            input=PAYLOAD,
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
            timeout=PATIENCE_SECONDS,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_folder_that_is_gone_costs_the_project_alone(agent: CodingAgent, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    shell = ["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', str(gone), *make_command(agent.target)]
    data = json.dumps({"session_id": "s", "prompt": "I use Neovim.", "cwd": str(gone)}).encode()
    assert call(shell, data).returncode == 0
    assert [one["project"] for one in agent.waiting] == [""]


def test_the_time_of_a_hook_is_what_the_page_says() -> None:
    assert (run.SECONDS, run.ENGINE_SECONDS) == (0.3, 5.0)
    text = (Path(__file__).parents[2] / "docs" / "how-to" / "coding-agents.md").read_text("utf-8")
    assert "ends after 300 ms" in text
    assert "within 5 seconds" in text


@pytest.mark.parametrize("hangs", [False, True])
def test_a_database_server_that_refuses_or_hangs_silences_the_hook(folder: Path, *, hangs: bool) -> None:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        if hangs:
            line.listen(8)
        address = f"postgresql://ana@127.0.0.1:{line.getsockname()[1]}/memory"
        places = find_places(address, "ana")
        assert Path(places.folder).is_relative_to(folder)
        for _ in range(2):
            done = call(make_command(address))
            assert (done.returncode, done.stderr) == (0, b"")
            assert b"hookSpecificOutput" not in done.stdout
    assert len(list_waiting(places)) == 2
    told = read_lines(places)
    assert told[0]["by"] == "server"
    assert told[0]["error"] in ({"time"} if hangs else {"time", "Unavailable"})
    assert "error" not in told[1]  # it is left alone for a while
    assert b"ana@127.0.0.1" not in Path(places.log).read_bytes()


@pytest.mark.usefixtures("folder")
def test_a_process_recalls_from_a_server_that_nobody_holds_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is loaded by the call, and ends with it."""
    monkeypatch.setattr(run, "ENGINE_SECONDS", 60.0)  # a busy machine loads it late
    database = lend_database()
    with Credenda.open(database.url(), user="ana", workers=False) as memory:
        memory.remember("We decided to use Postgres for the billing service.")
        memory.settle()
    told = ""
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PAYLOAD)))
        with redirect_stdout(io.StringIO()) as shown:
            run_command([event, "--host", "vscode", "--db", database.url(), "--user", "ana", "--no-background"])
        told += shown.getvalue()
    assert told.count("database: Postgres (billing service)") == 2  # twice in one answer
    with redirect_stdout(io.StringIO()) as shown:
        run_command(["StatusLine", "--db", database.url(), "--user", "ana", "--no-background"])
    assert shown.getvalue() == "1 held"
    assert {line["by"] for line in read_lines(find_places(database.url(), "ana")) if "by" in line} == {"server"}
    database.server.take_back(database)
