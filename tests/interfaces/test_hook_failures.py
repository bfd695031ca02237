"""A hook never fails its agent: whatever it is sent, and whatever has become of the memory, it exits with 0."""

from __future__ import annotations

import json
import os
import resource
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from credenda import Credenda
from credenda.errors import Unavailable
from credenda.hook_files import add_line, find_places, is_server, read_lines, write_durably
from credenda.interfaces.hook.run import Options, run_hook
from credenda.interfaces.hook_engine.listener import file_waiting, find_memory_places, make_private
from tests.waiting import PATIENCE_SECONDS

from .hooked import EVENTS, CodingAgent

ALLOWED = {
    "credenda",
    "credenda.__main__",
    "credenda.errors",
    "credenda.lazy",
    "credenda.hook_files",
    "credenda.interfaces",
    "credenda.projects",
    "credenda.text",
    "credenda.private",
    "credenda.text.recalled_block",
    "credenda.text.fence",
    "credenda.text.sentences",
    "credenda.clock",
    "credenda.limits",
    "credenda.model",
    "credenda.model.statement",
    "credenda.text.passages",
    "credenda.text.normalize",
    "credenda.text.tokens",
}
FOREIGN = ("numpy", "click", "pydantic", "mcp", "anyio", "httpx", "starlette", "asyncio", "dataclasses")
ALL = [*EVENTS, "unknown-host"]
AWKWARD = [
    b"",
    b"not json",
    b"[]",
    b"null",
    b'"text"',
    b'{"session_id": 7, "prompt": {"a": 1}, "cwd": ["x"]}',
    b'{"prompt": "no session, no folder"}',
    b'{"session_id": "s", "prompt": ""}',
    b'{"session_id": "s", "prompt": "\\ud800 alone", "cwd": "/nowhere/at/all"}',
    b'{"session_id": "s", "prompt": "\xff\xfe broken bytes"}',
    b'{"session_id": "' + b"s" * 100_000 + b'", "prompt": "long session"}',
    b"[" * 100_000,
    json.dumps({"session_id": "s", "prompt": "ünïcødé 😀 日本語 \u202e \x00 end"}).encode(),
    json.dumps({"session_id": "../../etc/passwd", "prompt": "path", "cwd": "\x00"}).encode(),
]
UNHURRIED = (
    "import runpy; from credenda.interfaces.hook import run; run.SECONDS = 60.0; "
    "runpy.run_module('credenda', run_name='__main__', alter_sys=True)"
)
"""`python -m credenda` whose hooks have the time that a busy machine may take."""


@pytest.mark.parametrize("host", ALL)
@pytest.mark.parametrize(
    "kind", ["start", "prompt", "reply", "tool", "PostCompact", "SubagentStart", "NoSuchEvent", ""]
)
def test_awkward_input_of_every_host_and_event_is_answered_with_nothing_or_text(
    folder: Path, host: str, kind: str
) -> None:
    agent = CodingAgent(folder, host if host in EVENTS else "codex")
    agent.host = host
    event = EVENTS.get(host, {}).get(kind, kind)
    for data in AWKWARD:
        answer = agent.send_raw(event, data)
        assert answer == "" or json.loads(answer)
    if host not in EVENTS:
        assert not Path(find_places(agent.target, "ana").folder).exists() or agent.waiting == []


def test_a_huge_prompt_is_kept_up_to_its_bound(folder: Path) -> None:
    agent = CodingAgent(folder)
    agent.say("word " * 100_000)
    (kept,) = agent.waiting
    assert len(kept["text"]) == 199_999
    assert agent.file() == 1


def test_a_user_without_a_database_gets_nothing_and_loses_nothing(folder: Path) -> None:
    agent = CodingAgent(folder)
    assert agent.start() == ""
    assert agent.say("I use Neovim.") == ""
    assert agent.target != str(agent.database) or not agent.database.exists()
    assert agent.file() == 1
    with agent.open() as memory:
        assert memory.list(attribute="tool").items[0].value == "Neovim"


@pytest.mark.sqlite_file  # the file is locked and damaged
def test_a_locked_or_damaged_database_costs_the_recall_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credenda.storage.sqlite.connection._BUSY_MS", 500)
    agent = CodingAgent(folder)
    agent.teach("We decided to use Postgres for the billing service.")
    locking = sqlite3.connect(agent.database)
    locking.execute("PRAGMA locking_mode = EXCLUSIVE")
    locking.execute("BEGIN EXCLUSIVE")
    told = agent.send("prompt", prompt="which database did we decide on for the billing service?")
    assert "cannot be reached" in json.loads(told)["systemMessage"]
    assert "hookSpecificOutput" not in told
    locking.rollback()
    locking.close()
    agent.database.write_bytes(b"not a database")
    for end in ("-wal", "-shm"):
        Path(f"{agent.database}{end}").unlink(missing_ok=True)
    assert agent.send("prompt", prompt="and this one?") == "", "one line an hour"
    mark = Path(find_places(agent.target, "ana").folder) / "warned"
    os.utime(mark, (0, 0))
    assert "cannot be reached" in agent.send("prompt", prompt="and this one?")
    names = [json.loads(path.read_bytes())["text"][:9] for path in Path(f"{agent.database}.hooks").rglob("*.json")
             if path.parent.name == "waiting"]  # fmt: skip
    assert sorted(names) == ["and this ", "and this ", "which dat"]


@pytest.mark.sqlite_file  # another process is about to create it
def test_a_database_that_is_just_being_made_is_no_failure(folder: Path) -> None:
    agent = CodingAgent(folder)
    agent.database.touch()
    assert agent.start() == ""
    assert agent.say("Which database did we choose?") == ""
    assert [line for line in read_lines(find_places(agent.target, "ana")) if "error" in line] == []


def test_an_engine_that_hangs_is_not_waited_for(folder: Path) -> None:
    agent = CodingAgent(folder)
    agent.teach("We decided to use Postgres for the billing service.")
    places = agent.places
    agent.start()
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(places.socket)
        line.listen(1)
        told = agent.send_within("which database did we decide on for the billing service?", seconds=20.0)
    assert "Postgres" in told
    Path(places.socket).unlink()
    assert read_lines(places)[-1]["by"] == ("server" if is_server(agent.target) else "memory")


def test_the_answer_of_an_engine_may_be_anything(folder: Path) -> None:
    agent = CodingAgent(folder)
    agent.teach("I use Neovim.")
    agent.start("resume")
    places = agent.places
    for answer in (b"{", b"[]\n", b'{"text": 5}\n', b'{"text": "x", "ids": 5}\n', b""):
        with socket.socket(socket.AF_UNIX) as line:
            line.bind(places.socket)
            line.listen(1)

            def reply(line: socket.socket = line, answer: bytes = answer) -> None:
                with line.accept()[0] as caller:
                    caller.recv(65_536)
                    caller.sendall(answer)

            thread = Thread(target=reply)
            thread.start()
            agent.say(f"hello {answer!r}")
            thread.join()
        Path(places.socket).unlink()
    assert len(agent.waiting) == 5


def test_a_message_stays_until_the_database_has_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = CodingAgent(folder)
    agent.say("I use Neovim.")
    agent.say("I live in Graz.")
    with agent.open() as memory:
        places = find_memory_places(memory)
        with monkeypatch.context() as broken:
            broken.setattr(Credenda, "remember", _fail)
            with pytest.raises(Unavailable):
                file_waiting(memory, places)
        assert len(agent.waiting) == 2
        waiting = {path.name: path.read_bytes() for path in Path(places.waiting).iterdir()}
        assert file_waiting(memory, places) == 2
        for name, data in waiting.items():  # as after a crash between the commit and the removal
            (Path(places.waiting) / name).write_bytes(data)
        file_waiting(memory, places)
        assert memory.stats().events == 2
    assert agent.waiting == []


def _fail(*_: object, **__: object) -> None:
    raise Unavailable("the disk is full", why="a test says so", fix="free some space")


def test_a_damaged_message_is_set_aside_and_doctor_tells(folder: Path) -> None:
    agent = CodingAgent(folder)
    agent.say("I use Neovim.")
    places = agent.places
    (Path(places.waiting) / "00000000000000001-aaaaaaaa.json").write_bytes(b'{"text": "half')
    assert agent.file() == 1
    for _ in range(30):
        agent.send_raw("Stop", b"not json")
    with agent.open() as memory:
        report = memory.data.doctor()
    details = [one.detail for one in report.findings if one.check == "hooks"]
    assert details == ["1 message of hooks could not be read"]  # what a program sends is no problem of the store


@pytest.mark.parametrize(
    "damage", [b"[" * 100_000, {"moment_us": 10**30}, {"moment_us": -(10**18)}], ids=["nested", "late", "early"]
)
def test_one_damaged_message_keeps_no_other_waiting(folder: Path, damage: bytes | dict[str, object]) -> None:
    agent = CodingAgent(folder)
    agent.say("I use Neovim.")
    (waiting,) = Path(agent.places.waiting).iterdir()
    whole = json.dumps(json.loads(waiting.read_bytes()) | damage).encode() if isinstance(damage, dict) else damage
    bad = waiting.with_name("00000000000000001-aaaaaaaa.json")
    bad.write_bytes(whole)
    assert agent.file() == 1
    assert [one.name for one in Path(agent.places.waiting).iterdir()] == [f"{bad.name}.damaged"]


def test_a_busy_engine_costs_the_end_of_a_turn_nothing(folder: Path) -> None:
    """Its words are on disk; the next call has them filed."""
    agent = CodingAgent(folder)
    agent.say("I use Neovim.")

    def keep_waiting(*_: object, **__: object) -> None:
        Event().wait(PATIENCE_SECONDS)

    options = Options(event="Stop", database=agent.target, user="ana", background=False)
    reply = json.dumps({"session_id": "s1", "last_assistant_message": "Neovim it is."}).encode()
    assert run_hook(options, reply, seconds=0.2, ask=keep_waiting) == ""
    last = read_lines(agent.places)[-1]
    assert (last["event"], last["done"], last.get("error")) == ("Stop", "journaled", None)
    assert agent.file() == 2


def test_doctor_tells_of_calls_that_failed_and_leaves_out_foreign_input(folder: Path) -> None:
    agent = CodingAgent(folder)
    agent.say("I use Neovim.")
    for number in range(30):
        agent.send_raw("Stop", b"not json")
        if number % 3 == 0:
            add_line(agent.places, {"event": "Stop", "error": "time", "ms": 300})
    with agent.open() as memory:
        (finding,) = [one for one in memory.data.doctor().findings if "failed" in one.detail]
    assert finding.detail == "10 of the last 11 calls of hooks failed: 10 time"


def test_a_call_that_opened_the_memory_or_waited_for_an_engine_to_start_is_not_slow(folder: Path) -> None:
    agent = CodingAgent(folder)
    agent.say("I use Neovim.")
    for line, found in (({"by": "memory"}, 0), ({"by": "engine", "started": True}, 0), ({"by": "engine"}, 1)):
        for _ in range(20):
            add_line(agent.places, {"event": "UserPromptSubmit", **line, "ms": 1_200})
        with agent.open() as memory:
            assert len([one for one in memory.data.doctor().findings if "took more than" in one.detail]) == found


def test_an_erased_user_leaves_no_words_of_hooks(folder: Path) -> None:
    agent = CodingAgent(folder)
    agent.say("My sister Hortensia lives in Valparaiso.")
    other = CodingAgent(folder)
    with agent.open() as memory:
        memory.erase(confirm="ana")
    assert not Path(find_places(agent.target, "ana").folder).exists()
    other.say("hello again")
    assert len(other.waiting) == 1


def run_process(agent: CodingAgent, event: str, payload: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-P", "-X", "importtime", "-c", UNHURRIED, "hook", event, "--host", agent.host]
    command += ["--db", agent.target, "--user", "ana", "--no-background"]
    return subprocess.run(
        command, input=json.dumps(payload).encode(), capture_output=True, check=True, timeout=PATIENCE_SECONDS
    )


@pytest.mark.sqlite_file  # the standard library alone reads a file; a server needs the engine
def test_a_process_loads_the_standard_library_and_few_modules_of_ours(folder: Path) -> None:
    agent = CodingAgent(folder)
    agent.teach("I'm allergic to peanuts.")
    done = run_process(agent, "SessionStart", {"session_id": "s", "source": "startup"})
    assert b"peanuts" in done.stdout
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines() if b"|" in line}
    ours = {name for name in loaded if name.partition(".")[0] == "credenda"}
    assert {name for name in ours if not name.startswith("credenda.interfaces.hook")} <= ALLOWED
    assert not {name.partition(".")[0] for name in loaded} & set(FOREIGN)
    assert "_hashlib" not in loaded  # with it comes OpenSSL
    outside = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names - {"credenda", "imported package"}
    assert {
        name for name in outside if not name.startswith(("_", "sitecustomize", "usercustomize", "encodings"))
    } == set()


def _measure_cpu(command: list[str], given: bytes) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=given, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.sqlite_file  # the standard library alone reads a file; a server needs the engine
def test_a_hook_takes_little_more_processor_time_than_a_bare_interpreter(folder: Path) -> None:
    """The least of several runs, as a multiple, so that a busy machine changes neither."""
    agent = CodingAgent(folder)
    agent.teach("I'm allergic to peanuts.")
    hook = [sys.executable, "-P", "-m", "credenda", "hook", "SessionStart", "--db", agent.target]
    bare = [sys.executable, "-P", "-c", "import argparse, json, sqlite3"]
    spent, compared = list[float](), list[float]()
    for number in range(9):
        payload = {"session_id": f"s{number}", "source": "startup"}
        compared.append(_measure_cpu(bare, b""))
        spent.append(_measure_cpu([*hook, "--user", "ana", "--no-background"], json.dumps(payload).encode()))
    assert min(spent) < 4 * min(compared), (spent, compared)


def test_an_interpreter_at_work_elsewhere_is_not_started_for_nothing(folder: Path) -> None:
    """A hook starts a process that files its messages, once for several prompts."""
    agent = CodingAgent(folder)
    command = [sys.executable, "-P", "-c", UNHURRIED, "hook", "UserPromptSubmit", "--db", agent.target]
    for number in range(2):
        payload = json.dumps({"session_id": "s", "prompt": f"I use Neovim {number}."}).encode()
        subprocess.run([*command, "--user", "ana"], input=payload, check=True, timeout=PATIENCE_SECONDS)
    started = [line.get("started") for line in read_lines(agent.places)]
    assert started == [True, None]
    waited = subprocess.run(
        [sys.executable, "-P", "-m", "credenda", "--db", agent.target, "--user", "ana", "worker", "--once"],
        check=True,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
    )
    assert waited.returncode == 0
    assert agent.waiting == []
    with agent.open() as memory:
        assert memory.stats().events == 2


def test_folders_that_a_hook_creates_are_their_owners_alone(folder: Path) -> None:
    """The data folder itself too, if its user deleted it."""
    data = folder / "deleted"
    places = find_places(str(data / "memory.db"), "ana")
    write_durably(places.waiting, "1.json", b"{}")
    made = [data, *(one for one in data.rglob("*") if one.is_dir())]
    assert len(made) == 4
    assert {one.stat().st_mode & 0o777 for one in made} == {0o700}


def test_no_process_listens_in_a_folder_that_others_can_write_to(folder: Path) -> None:
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="others can write"):
        make_private(str(folder))
    folder.chmod(0o700)
    (folder / "link").symlink_to(folder)
    with pytest.raises(PermissionError):
        make_private(str(folder / "link"))
    make_private(str(folder / "new"))
    assert (folder / "new").stat().st_mode & 0o777 == 0o700
