"""The glossary names things that exist, once each."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
ROW = re.compile(
    r"^\| (?P<word>[^|]+) \| (?P<meaning>[^|]+) \| (?P<code>[^|]+) \| (?P<avoided>[^|]+) \|$", re.MULTILINE
)


def rows() -> list[dict[str, str]]:
    found = [match.groupdict() for match in ROW.finditer(GLOSSARY.read_text(encoding="utf-8"))]
    return [row for row in found if row["word"] != "word"]


def defined(source: str) -> Iterator[str]:
    """Give every name that a module defines, and every keyword and short string that it uses as a name."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.Constant(value=str(name)) if name.isidentifier():
                yield name
            case _:
                continue


def undefined(wanted: set[str]) -> set[str]:
    """Find the names that no module of the package defines; stops as soon as all are found."""
    missing = set(wanted)
    for path in sorted((ROOT / "src" / "credenda").rglob("*.py"), key=lambda path: (path.parent.name != "model", path)):
        source = path.read_text(encoding="utf-8")
        if missing and any(name in source for name in missing):
            missing.difference_update(defined(source))
    return missing


def test_every_name_in_the_code_column_exists() -> None:
    wanted = {part for row in rows() for code in re.findall(r"`([^`]+)`", row["code"]) for part in code.split(".")}
    assert undefined(wanted) == set(), "rename them in docs/glossary.md too"


def test_a_name_that_no_module_defines_is_found() -> None:
    assert undefined({"Slot", "NoSuchThing"}) == {"NoSuchThing"}


def test_every_row_has_a_name_in_code_or_says_that_there_is_none() -> None:
    assert [row["word"] for row in rows() if "`" not in row["code"] and row["code"] != "–"] == []


def test_a_word_stands_for_one_idea() -> None:
    words = [row["word"] for row in rows()]
    assert len(words) == len(set(words)) >= 30


def test_no_meaning_is_longer_than_two_sentences() -> None:
    assert [row["word"] for row in rows() if len(re.findall(r"[.!?](?:\s|$)", row["meaning"])) > 2] == []


def test_a_name_is_found_where_it_is_defined_and_not_where_it_is_mentioned() -> None:
    source = '"""Mentions a ghost."""\nclass Slot:\n    scope: str\n\ndef find(key):\n    found = other.thing\n'
    assert set(defined(source)) == {"Slot", "scope", "find", "key", "found"}
