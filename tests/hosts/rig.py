"""A person who works with a real host: a home with nothing in it, the host's program, and a model that is a stub."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.waiting import PATIENCE_SECONDS, await_that

from .model import Model, Request, Step, serve_model
from .npm import find_program

SAID: Final = "For the invoice service we decided to use Kafka."
ASKED: Final = "What did we decide to use for the invoice service?"
VALUE: Final = "Kafka"
SEARCH: Final = "search_memories"
OWN: Final = Path(".local") / "share" / "credenda"
"""The folder of the memory, in a home."""
Snapshot = dict[str, bytes | None]
"""The files of a home with their content, and its folders with None; without those of the memory."""


class Person:
    """Runs programs in a home, with nothing of the environment of the tests."""

    def __init__(self, home: Path, model: Model, program: Path) -> None:
        self.home = home
        self.work = home / "work"
        self.model = model
        self.program = program
        node = shutil.which("node") or "node"
        paths = [Path(sys.executable).parent, program.parent, Path(node).parent, "/usr/local/bin", "/usr/bin", "/bin"]
        self.environment = {
            "HOME": str(home),
            "PATH": os.pathsep.join(map(str, paths)),
            "LANG": "C.UTF-8",
            "USER": "ana",
            "TERM": "dumb",
        }
        self.work.mkdir(parents=True)
        self.run("git", "init", "--quiet")

    def run(self, *command: str) -> str:
        """Run a command in the folder of the project, and return what it writes; fails if the command does."""
        done = self.try_run(*command)
        told = f"{' '.join(command)}\nended with {done.returncode}\n{done.stdout[-3_000:]}\n{done.stderr[-3_000:]}"
        assert done.returncode == 0, told
        return done.stdout

    def try_run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command that may fail."""
        return subprocess.run(
            command,
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )

    def plugin(self, *words: str) -> str:
        return self.run("credenda", "plugin", *words)

    def status(self, host: str) -> dict[str, Any]:
        """Return what the status says of a host."""
        found: list[dict[str, Any]] = json.loads(self.plugin("status", "--json"))
        return next(one for one in found if one["host"] == host)

    def await_memory(self) -> None:
        """Wait until the words of the session are filed: the hook has started a process for it."""
        database = self.home / OWN / "memory.db"

        def is_kept() -> object:
            if not database.exists():
                return False
            with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=PATIENCE_SECONDS)) as connection:
                made = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'memories'").fetchone()
                return made and connection.execute("SELECT 1 FROM memories WHERE value = ?", (VALUE,)).fetchone()

        await_that(is_kept, f"a memory of {SAID!r} in {database}; the log of the hooks says {self.read_log()}")

    def read_log(self) -> list[str]:
        """Return the lines that hooks wrote of their calls."""
        return [line for log in (self.home / OWN).glob("*.hooks/*/log") for line in log.read_text().splitlines()]

    def look(self) -> Snapshot:
        """Return every file of the home, but for those of the memory."""
        return {
            str(path.relative_to(self.home)): path.read_bytes() if path.is_file() else None
            for path in self.home.rglob("*")
            if not any(part.is_relative_to(self.home / OWN) for part in (path, *path.parents))
            and path not in {self.home / ".local", self.home / ".local" / "share"}
        }


@contextmanager
def hire(folder: Path, host: str) -> Generator[Person]:
    """Give a person a home in a folder, the program of a host and a model."""
    program = find_program(host)
    with serve_model() as model:
        model.script = [
            Step(SAID, text="Noted."),
            Step(ASKED, calls=[(SEARCH, {"query": "invoice service"})], text=f"It is {VALUE}."),
        ]
        yield Person(folder / "home", model, program)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """What was seen in two sessions: requests of each, the homes before and after, and what the status said."""

    first: list[Request]
    second: list[Request]
    calls: list[dict[str, Any]]
    before: Snapshot
    installed: Snapshot
    removed: Snapshot
    again: Snapshot
    fresh: dict[str, Any]
    used: dict[str, Any]
    written: list[str]

    @property
    def recalled(self) -> list[str]:
        """The blocks of memory in the requests of the second session, before it called a tool."""
        opening = self.second[0].conversation.turns
        return [turn.text for turn in opening if turn.who != "assistant" and "Recalled data" in turn.text]


def run_ring(person: Person, host: str, command: Sequence[str], *, trust: Sequence[str] = ()) -> Ring:
    """Install, say something in one session, ask for it in another, and remove; `command` begins a session.

    `trust` is a command to be run after the installation.
    """
    model = person.model
    before = person.look()
    person.plugin("install", host)
    installed, fresh = person.look(), person.status(host)
    if trust:
        person.run(*trust)
    person.run(*command, SAID)
    person.await_memory()
    person.run(*command, ASKED)
    used = person.status(host)
    calls = [json.loads(line) for line in person.read_log()]
    person.plugin("remove", host)
    removed = person.look()
    person.plugin("install", host)
    person.plugin("remove", host)
    return Ring(
        first=model.list_requests(SAID),
        second=model.list_requests(ASKED),
        calls=calls,
        before=before,
        installed=installed,
        removed=removed,
        again=person.look(),
        fresh=fresh,
        used=used,
        written=[path for path in installed if path not in before],
    )


def list_calls(ring: Ring, host: str) -> list[str]:
    """Return the events in which hooks of a host did something."""
    assert {call["host"] for call in ring.calls} == {host}, ring.calls
    assert not [call for call in ring.calls if "error" in call], ring.calls
    return [call["event"] for call in ring.calls]
