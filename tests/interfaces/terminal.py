"""A person at a terminal: the command line in this process, or in one of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, TypedDict, Unpack

from click.testing import CliRunner, Result

from credenda.interfaces.cli.main import cli
from tests.waiting import PATIENCE_SECONDS

NO_SETTINGS: dict[str, str | None] = {
    "CREDENDA_DB": None,
    "CREDENDA_USER": None,
    "CREDENDA_DEBUG": None,
    "CREDENDA_EMBEDDER": "none",
    "CREDENDA_CONFIG": None,
    "XDG_CONFIG_HOME": "/nonexistent",
}


class Streams(TypedDict, total=False):
    stdin: str | bytes
    user: str


class Terminal:
    """Runs commands on one database; fails when the exit code is not the expected one."""

    def __init__(self, folder: Path, *, user: str = "ana") -> None:
        self.db = folder / "memory.db"
        self.user = user

    def run(self, *args: str, code: int = 0, stdin: str | bytes | None = None, user: str | None = None) -> Result:
        given = ["--db", str(self.db), "--user", user or self.user, *args]
        result = CliRunner().invoke(cli, given, input=stdin, env=NO_SETTINGS)
        assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr)
        return result

    def text(self, *args: str, code: int = 0, **streams: Unpack[Streams]) -> str:
        return self.run(*args, code=code, **streams).stdout

    def json(self, *args: str, code: int = 0, **streams: Unpack[Streams]) -> Any:  # noqa: ANN401 - JSON is what it is
        result = self.run("--json", *args, code=code, **streams)
        return json.loads(result.stdout)

    def error(self, *args: str, code: int, **streams: Unpack[Streams]) -> str:
        """Run something that fails, and return its one line."""
        result = self.run(*args, code=code, **streams)
        assert result.stdout == ""
        (line,) = result.stderr.splitlines()
        assert line.startswith("error: ")
        assert "Traceback" not in line
        return line

    def remember(self, *texts: str, at: str | None = None) -> list[dict[str, Any]]:
        """Say things, and return what was believed from the last."""
        believed: list[dict[str, Any]] = []
        for text in texts:
            believed = self.json("remember", text, *(("--at", at) if at else ()))["believed"]
        return believed

    def held(self, *filters: str) -> list[dict[str, Any]]:
        return self.json("list", *filters)["items"]

    def values(self, *filters: str) -> list[str]:
        return [item["value"] for item in self.held(*filters)]

    def an_id(self, *filters: str) -> str:
        return self.held(*filters)[0]["id"]


def environment(**extra: str) -> dict[str, str]:
    """Return this process's environment without our settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CREDENDA_", "NO_COLOR"))}
    return {**kept, "CREDENDA_EMBEDDER": "none", "XDG_CONFIG_HOME": "/nonexistent", **extra}


def process(*args: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m credenda` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "credenda", *args],
        input=stdin,
        capture_output=True,
        env=env or environment(),
        timeout=PATIENCE_SECONDS,
        check=False,
    )
