"""The how-to pages as a reader types them: each line runs, or the tables below name what it needs.

A line that needs something is still parsed, so that no page names a command or an option that is not there.
`rest.md` and `adapters.md` have tests of their own.
"""

from __future__ import annotations

import gzip
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Final

import pytest

import docs_tutorial
from credenda.interfaces.cli.main import cli
from tests.flows.belief_stores import write_engram, write_recall, write_suzent

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "how-to"
PAGES: Final = sorted(one.name for one in FOLDER.glob("*.md"))
BLOCK: Final = re.compile(r"^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
SERVER, SHELL, EDITOR = "a server", "a terminal", "another program, a host or its files"
NEEDS: Final = {
    "credenda serve": SERVER,
    "credenda doctor --server": SERVER,
    "credenda password": SHELL,
    "credenda login-link": SERVER,
    "credenda files sync ~/vault --watch": SHELL,
    "credenda files sync ~/.claude": EDITOR,
    "credenda import ~/.codex/sessions": EDITOR,
    "credenda import ~/.copilot/": EDITOR,
    "credenda import ~/.gemini/": EDITOR,
    "credenda import ~/.hermes/": EDITOR,
    "credenda import ~/.openclaw/": EDITOR,
    'credenda import "WhatsApp Chat': EDITOR,
    "credenda import agent.af": EDITOR,
    "credenda import openmemory.db": EDITOR,
    "credenda import chatgpt-export.zip": EDITOR,
    "credenda import store.json": EDITOR,
    "credenda --db postgresql:": "Postgres",
    "credenda --db 'postgresql:": "Postgres",
    "credenda extract --dry-run": "a key of a language model",
    "credenda rebuild --reextract --model": "a key of a language model",
    "credenda token revoke ID": "an id of the reader's",
    "credenda replay s1": "an id of the reader's",
    "credenda audit verify --anchors": "a file of anchors",
}
NEEDS_PYTHON: Final = {
    "adapters.md": "run by tests/adapters/test_how_to.py",
    "a2a.md": "a server and a2a-sdk",
    "coding-agents.md": "a key of Anthropic",
    "coming-from.md": "mem0 and Graphiti",
    "postgres.md": "Postgres",
}
"""Pages whose Python needs something."""
NEEDS_IN_BLOCK: Final = {"json.dump(memory.get_all(": "mem0"}

BROUGHT: Final = (
    *("pip install", "curl ", "npm ", "cd clients/typescript && npm ", "claude ", "docker ", "psql ", "pg_dump "),
    *("pg_restore ", "python -m benchmarks ", "CREDENDA_TEST_", "scripts/test ", "export CREDENDA_", "URL=", "OTEL_"),
)
"""How lines begin that call a program of the reader, a server, or a test of this repository."""


def _find_commands(page: str) -> list[str]:
    """Return the lines of a page that call the program, without prompt and comment."""
    found: list[str] = []
    for block in BLOCK.finditer((FOLDER / page).read_text("utf-8")):
        if block["kind"] not in {"sh", "console"}:
            continue
        for line in block["body"].replace("\\\n", " ").splitlines():
            given = line.removeprefix("$ ")
            if given.startswith("credenda ") and (block["kind"] == "sh" or line.startswith("$ ")):
                found.append(given)
    return found


def _get_need(command: str) -> str:
    return next((need for start, need in NEEDS.items() if command.startswith(start)), "")


COMMANDS: Final = [(page, command) for page in PAGES for command in _find_commands(page)]


def _write_files(home: Path) -> None:
    """Write the files that the pages name as the reader's own."""
    (home / "shop").mkdir()
    (home / "shop" / "till.py").write_text("def close_till():\n    return 0\n", "utf-8")
    (home / "api").mkdir()
    for folder in (".claude/projects/-home-ana-shop/memory", ".codex/memories"):
        (home / folder).mkdir(parents=True)
        (home / folder / "MEMORY.md").write_text("# Notes\n\n- The till closes at six.\n", "utf-8")
    for name in ("vault", "Documents/vault"):
        (home / name).mkdir(parents=True)
    Path("profile.json").write_text(json.dumps({"job": {"title": "nurse"}}), "utf-8")
    Path("memories.txt").write_text("[2025-03-01] - Lives in Wels.\n", "utf-8")
    Path("list.txt").write_text("- Plays the oboe\n", "utf-8")
    Path("export.json").write_text(json.dumps({"results": [{"id": "1", "memory": "Plays the oboe"}]}), "utf-8")
    line = json.dumps({"role": "user", "content": "I work at Microsoft.", "session": "s1"})
    Path("talk.jsonl").write_text(line + "\n", "utf-8")
    Path("talk.jsonl.gz").write_bytes(gzip.compress(f"{line}\n".encode()))
    write_recall(Path("recall.db"))
    write_engram(Path("engram.db"))
    write_suzent(home / ".suzent/memory")
    Path("beliefs.test").write_text("expect: employer(user) == Microsoft\n", "utf-8")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a reader who has typed nothing yet."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.toml").touch()
    for name, value in {
        "HOME": str(tmp_path),
        "CREDENDA_DB": str(tmp_path / "memory.db"),
        "CREDENDA_USER": "ana",
        "CREDENDA_CONFIG": str(tmp_path / "config.toml"),
        "CREDENDA_EMBEDDER": "none",
    }.items():
        monkeypatch.setenv(name, value)
    _write_files(tmp_path)
    docs_tutorial.run_command("credenda remember 'I work at Microsoft.' --session s1")
    return tmp_path


@pytest.mark.parametrize("page", [one for one in PAGES if _find_commands(one)])
@pytest.mark.sqlite_file  # the commands name files
def test_each_command_of_a_page_runs_or_needs_something(page: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page == "embedders.md":
        monkeypatch.setenv("CREDENDA_EMBEDDER", "auto")
    failed: list[str] = []
    for command in _find_commands(page):
        if _get_need(command):
            continue
        words = [str(home / one[2:]) if one.startswith("~/") else one for one in shlex.split(command, comments=True)]
        try:
            docs_tutorial.run_command(shlex.join(words))
        except Exception as error:  # noqa: BLE001 - all are told together
            failed.append(f"{command}: {error}")
    assert failed == []


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_each_command_and_option_of_a_page_is_there(page: str, command: str) -> None:
    words = shlex.split(command, comments=True)[1:]
    assert not cli.main([*words, "--help"], standalone_mode=False), f"{page}: {command}"


@pytest.mark.parametrize("page", [one for one in PAGES if "```python\n" in (FOLDER / one).read_text("utf-8")])
@pytest.mark.sqlite_file
def test_the_python_of_a_page_runs_or_needs_something(page: str, home: Path) -> None:
    if page in NEEDS_PYTHON:
        compile("async def page():\n" + _indent(page), page, "exec")
        return
    (home / "memory.db").unlink()
    names: dict[str, object] = {"__name__": "page"}
    for body in _find_python(page):
        if not any(body.startswith(start) for start in NEEDS_IN_BLOCK):
            exec(compile(body, page, "exec"), names)  # noqa: S102 - the page's own code


def _find_python(page: str) -> list[str]:
    blocks = BLOCK.finditer((FOLDER / page).read_text("utf-8"))
    return [one["body"] for one in blocks if one["kind"] == "python"]


def _indent(page: str) -> str:
    return "".join(f"    {line}\n" for body in _find_python(page) for line in body.splitlines()) + "    return\n"


def test_what_needs_something_is_on_a_page() -> None:
    commands = [command for _, command in COMMANDS]
    assert [one for one in NEEDS if not any(command.startswith(one) for command in commands)] == []
    assert [one for one in NEEDS_PYTHON if not _find_python(one)] == []


def test_each_other_line_calls_a_program_that_the_reader_brings() -> None:
    lines = [
        (page, line)
        for page in PAGES
        for block in BLOCK.finditer((FOLDER / page).read_text("utf-8"))
        if block["kind"] == "sh"
        for line in block["body"].replace("\\\n", " ").splitlines()
        if line.strip() and not line.startswith(("credenda ", "#"))
    ]
    assert [one for one in lines if not one[1].startswith(BROUGHT)] == []


@pytest.mark.parametrize("page", PAGES)
def test_each_file_on_a_page_can_be_read(page: str) -> None:
    for block in BLOCK.finditer((FOLDER / page).read_text("utf-8")):
        if block["kind"] == "json":
            for whole in [block["body"]] if block["body"].count("\n{") == 0 else block["body"].splitlines():
                json.loads(whole)
        if block["kind"] == "toml":
            tomllib.loads(block["body"])
