"""Who only asks must not load what reads messages: its tables and expressions cost as much as the search itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from credenda import Credenda

_WRITING = (
    "credenda.write.intake.validate",
    "credenda.write.apply",
    "credenda.write.facts.extractor",
    "credenda.write.llm",
)
_OTHERS = ("credenda.workers.handlers", "credenda.portability", "credenda.model.report", "credenda.services.edit")
_FILE = ("credenda.storage.sqlite.check", "credenda.storage.sqlite.check", "credenda.storage.sqlite.erase")
_CLIENT = """
import sys
from credenda import Credenda
with Credenda.open(sys.argv[1], user="ana", embedder="none", workers=False) as memory:
    assert {call}
"""
_COMMAND = """
import sys
from credenda.interfaces.cli.main import cli
assert cli.main(["--db", sys.argv[1], "--user", "ana", *{words}], standalone_mode=False) == 0
"""
_NAMES = "print(*sys.modules, sep='\\n', file=sys.stderr)"


@pytest.fixture
def told(path: Path) -> Path:
    with Credenda.open(path, user="ana", embedder="none", workers=False) as memory:
        memory.remember("I like tea.")
        memory.settle()
    return path


def loaded(told: Path, program: str, heavy: tuple[str, ...]) -> list[str]:
    """Run a program in a process of its own, and name what it loaded of these and their parts."""
    arguments = [sys.executable, "-c", program + _NAMES, str(told)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return [name for name in done.stderr.splitlines() if name.startswith(heavy)]


def test_a_search_loads_nothing_that_reads(told: Path) -> None:
    program = _CLIENT.format(call='memory.search("What do I like?").hits')
    assert loaded(told, program, (*_WRITING, *_OTHERS, *_FILE)) == []


def test_a_command_that_asks_loads_only_the_words_for_its_own_answer(told: Path) -> None:
    program = _COMMAND.format(words=["search", "What do I like?"])
    heavy = (
        *_WRITING,
        *_OTHERS,
        *_FILE,
        "credenda.interfaces.cli.render_lifecycle",
        "credenda.interfaces.client_setup",
    )
    assert loaded(told, program, heavy) == []


def test_what_compares_no_vectors_loads_no_numpy(told: Path) -> None:
    assert loaded(told, _CLIENT.format(call="memory.list().items"), ("numpy",)) == []


def test_help_loads_no_type_of_a_result(path: Path) -> None:
    program = _COMMAND.format(words=["--help"]).replace("assert cli", "cli").replace(" == 0", "")
    assert loaded(path, program, ("credenda.interfaces.json_schema", "credenda.bootstrap", *_OTHERS)) == []
