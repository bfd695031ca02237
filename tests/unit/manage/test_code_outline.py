"""What source files and manifests declare."""

import pytest

from credenda.manage.code_outline import parse_manifest, parse_outline

PYTHON = """
import os.path
from collections.abc import Iterable as It
from . import near

LIMIT = 3

@dataclass
class Store(Base):
    size: int = 0
    def close(self, secret="hunter2", *, hard: bool = False) -> None:
        self.done = True

if True:
    async def fetch(url: str, /, *rest: int) -> bytes: ...
"""


PYPROJECT = """
[project]
name = "shop"
dependencies = ["numpy>=2; python_version>'3'"]
[project.scripts]
shop = "a:b"
[project.optional-dependencies]
dev = ["ruff"]
[dependency-groups]
t = ["pytest", {include-group = "x"}]
"""


def test_python_is_read_by_its_own_parser() -> None:
    found = parse_outline("a.py", PYTHON)
    assert [one.signature for one in found.declared] == [
        "class Store(Base)",
        "def close(self, secret=..., *, hard: bool=False) -> None",
        "async def fetch(url: str, /, *rest: int) -> bytes",
    ]
    assert found.imports == ("os.path", "collections.abc", ".")
    assert {"LIMIT", "It", "Store.size", "Store.close", "Store.done", "fetch"} <= found.names
    assert "hunter2" not in repr(found)


def test_what_cannot_be_parsed_says_so() -> None:
    assert parse_outline("a.py", "def (:").problem
    assert not parse_outline("a.py", "").problem


@pytest.mark.parametrize(
    ("path", "text", "names", "imports"),
    [
        ("a.ts", "import x from 'y'\nexport function go(a: string) {\nexport const f = (b) => 1", ["go", "f"], ["y"]),
        ("a.js", "class Shop extends Base {\nconst q = require('z')", ["Shop"], ["z"]),
        ("a.go", 'import "fmt"\nfunc (s *Server) Run(a int) error {\ntype Server struct {', ["Run", "Server"], ["fmt"]),
        ("a.rs", "use std::io;\npub async fn run(a: u8) -> bool {\npub struct Shop;", ["run", "Shop"], ["std::io"]),
        ("A.java", "import a.B;\npublic class Shop {\n    public void run(int a) {", ["Shop", "run"], ["a.B"]),
        ("a.h", "#include <stdio.h>\nint run(char *a);\nstruct shop {", ["run", "shop"], ["stdio.h"]),
        ("a.sh", "go() {\n", ["go"], []),
        ("a.sql", "CREATE TABLE IF NOT EXISTS shop (", ["shop"], []),
        ("a.md", "# no outline", [], []),
    ],
)  # fmt: skip
def test_other_languages_are_read_line_by_line(path: str, text: str, names: list[str], imports: list[str]) -> None:
    found = parse_outline(path, text)
    assert ([one.name for one in found.declared], list(found.imports)) == (names, imports)


@pytest.mark.parametrize(
    ("path", "text", "dependencies", "commands"),
    [
        (
            "pyproject.toml",
            PYPROJECT,
            ["numpy", "ruff", "pytest"],
            [("script", "shop")],
        ),
        ("package.json", '{"scripts":{"build":"x"},"dependencies":{"@a/b":"^1"}}', ["@a/b"], [("npm", "build")]),
        ("requirements-dev.txt", "# x\n-r a.txt\nFlask[async]==3.0  # y\n\n", ["Flask"], []),
        ("Cargo.toml", '[dependencies]\nserde={version="1"}\n[dev-dependencies]\nrand="0.8"', ["serde", "rand"], []),
        ("go.mod", "module x\nrequire (\n\tgithub.com/a/b v1.2.3\n)\n", ["github.com/a/b"], []),
        ("Makefile", ".PHONY: a\nCC := gcc\na test: a.o\n\tcc\n", [], [("make", "a"), ("make", "test")]),
    ],
)  # fmt: skip
def test_manifests(path: str, text: str, dependencies: list[str], commands: list[tuple[str, str]]) -> None:
    found = parse_manifest(path, text)
    assert [name for name, _ in found.dependencies] == dependencies
    assert list(found.commands) == commands


@pytest.mark.parametrize("name", ["pyproject.toml", "package.json", "Cargo.toml"])
@pytest.mark.parametrize("text", ["{", "[", "\x00", "[]", "[1]\n", '{"scripts": 3}'])
def test_a_broken_manifest_breaks_nothing(name: str, text: str) -> None:
    assert parse_manifest(name, text).dependencies == ()
