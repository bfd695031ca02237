"""Pages of the docs, and other files, that are written by scripts are what the scripts write."""

from __future__ import annotations

import sys

import pytest

import compile_sql
import docs_mcp
import docs_operations
import docs_settings
from credenda.config import describe_settings
from credenda.interfaces.mcp.tool_specs import build_tools
from credenda.operations.table import OPERATIONS
from credenda.storage.sqlite import statements


def test_the_settings_page_is_fresh() -> None:
    written = docs_settings.TARGET.read_text(encoding="utf-8")
    assert written == docs_settings.render(), "run scripts/docs_settings.py"


def test_every_setting_is_on_the_page_with_its_default() -> None:
    page = docs_settings.render()
    for name, default, meaning in describe_settings():
        assert f"| `{name}` | `CREDENDA_{name.upper()}` | {docs_settings.shown(default)} | {meaning} |" in page


def test_the_page_of_the_tools_is_fresh() -> None:
    assert docs_mcp.PAGE.read_text(encoding="utf-8") == docs_mcp.page(), "run scripts/docs_mcp.py"


def test_every_tool_and_input_is_on_the_page_of_the_tools() -> None:
    page = docs_mcp.page()
    for name, offer in build_tools(toolset="full").items():
        assert f"### {name}\n" in page
        small = build_tools().get(name)
        assert all(f"| `{one}`" in page for one in (small or offer).inputs)


def test_the_page_of_the_operations_is_fresh() -> None:
    assert docs_operations.PAGE.read_text(encoding="utf-8") == docs_operations.page(), "run scripts/docs_operations.py"


def test_every_operation_and_closed_door_is_on_the_page_of_the_operations() -> None:
    page = docs_operations.page()
    for name, operation in OPERATIONS.items():
        assert f"| {name} | `{operation.scope}` |" in page
        assert all(reason in page for reason in operation.closed.values())


def test_the_statements_that_are_kept_read_are_those_of_the_sql() -> None:
    assert compile_sql.TARGET.read_text(encoding="utf-8") == statements.render_statements_file(), (
        "run scripts/compile_sql.py"
    )


def test_statements_that_were_kept_need_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    known = statements.load_statements()
    monkeypatch.setitem(sys.modules, "aiosql", None)
    assert statements.load_statements.__wrapped__() == known


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("credenda.storage.sqlite.statements.COMPILED_FILE", "absent.json"),
        ("credenda.storage.sqlite.statements._hash_sources", repr),
    ],
)
def test_statements_that_were_not_kept_are_read_anew(monkeypatch: pytest.MonkeyPatch, name: str, value: object) -> None:
    known = statements.load_statements()
    monkeypatch.setattr(name, value)
    assert statements.load_statements.__wrapped__() == known
    monkeypatch.setitem(sys.modules, "aiosql", None)
    with pytest.raises(ImportError):
        statements.load_statements.__wrapped__()
