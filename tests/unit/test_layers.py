"""Rules on imports that import-linter cannot express: each adapter to the outside world lets in only its own kind,
and the doubles for tests stay out of the product.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
PACKAGE = SRC / "credenda"

# How each kind of outside world shows in a source: as a module, or as a name taken from one.
TIME = frozenset({"time", "now", "utcnow", "today"})
RANDOMNESS = frozenset({"random", "secrets", "uuid", "urandom"})
ENVIRONMENT = frozenset({"environ", "getenv"})


def imported(source: str | ast.AST) -> Iterator[str]:
    for node in ast.walk(ast.parse(source) if isinstance(source, str) else source):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)
            case _:
                continue


def outside_words(source: str) -> set[str]:
    words = {part for name in imported(source) for part in name.split(".")}
    return words | {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize(
    ("module", "others"),
    [("clock", RANDOMNESS | ENVIRONMENT), ("ids", ENVIRONMENT | TIME), ("config", RANDOMNESS | TIME)],
)
def test_each_door_to_the_outside_lets_in_only_its_own_kind(module: str, others: frozenset[str]) -> None:
    path = PACKAGE / f"{module}.py"
    source = path.read_text(encoding="utf-8") if path.is_file() else ""
    assert not others & outside_words(source)


def test_an_outside_word_is_seen_as_module_name_and_attribute() -> None:
    source = "import uuid\nfrom os import getenv\nstart = datetime.now()\n"
    assert outside_words(source) == {"uuid", "os", "getenv", "now"}


def test_the_doubles_for_tests_are_used_by_nothing_else_of_the_package() -> None:
    users = [
        path.relative_to(SRC).as_posix()
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] != "testing.py"
        and any(f"{name}.".startswith("credenda.testing.") for name in imported(path.read_text(encoding="utf-8")))
    ]
    assert users == ["credenda/interfaces/cli/demo_run.py"]  # which tells months in a moment


def test_imports_are_read_in_every_form() -> None:
    source = "import os.path\nfrom credenda import testing\nfrom . import near\nif x:\n    import time as t\n"
    assert set(imported(source)) == {"os.path", "credenda", "credenda.testing", "time"}


def find_inner_imports(source: str) -> list[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, functions)]
    names = {name for node in nodes for name in imported(node)}
    return sorted(name for name in names if f"{name}.".startswith("credenda."))


def test_no_function_imports_a_module_of_this_package() -> None:
    found = {
        path.relative_to(SRC).as_posix(): names
        for path in sorted(PACKAGE.rglob("*.py"))
        if (names := find_inner_imports(path.read_text(encoding="utf-8")))
    }
    assert found == {}, "load it with credenda.lazy"


def test_an_import_inside_a_function_is_found() -> None:
    source = "import credenda\ndef load():\n    import numpy\n    from credenda.client import Credenda\n"
    assert find_inner_imports(source) == ["credenda.client", "credenda.client.Credenda"]


def test_a_deferred_module_is_imported_when_it_is_used() -> None:
    script = (
        "import sys; from credenda.lazy import import_on_use; there = import_on_use('credenda.text.dates');"
        "assert 'credenda.text.dates' not in sys.modules; there.find_dates;"
        "assert 'credenda.text.dates' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
