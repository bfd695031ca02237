"""Pages of the docs, and other files, that are written by scripts are what the scripts write."""

from __future__ import annotations

import docs_mcp
import docs_operations
import docs_python
import docs_settings
from credenda import Credenda
from credenda.client_data import Data
from credenda.client_manage import Manage
from credenda.config import describe_settings
from credenda.interfaces.mcp.tool_specs import build_tools
from credenda.operations import OPERATIONS


def test_the_settings_page_is_fresh() -> None:
    written = docs_settings.TARGET.read_text(encoding="utf-8")
    assert written == docs_settings.render(), "run scripts/docs_settings.py"


def test_every_setting_is_on_the_page_with_its_default() -> None:
    page = docs_settings.render()
    for name, default, meaning in describe_settings():
        assert f"* `{name}` ({docs_settings.shown(default)}): {meaning}\n" in page


def test_the_page_of_the_tools_is_fresh() -> None:
    assert docs_mcp.PAGE.read_text(encoding="utf-8") == docs_mcp.page(), "run scripts/docs_mcp.py"


def test_every_tool_and_input_is_on_the_page_of_the_tools() -> None:
    page = docs_mcp.page()
    for name, offer in build_tools(toolset="full").items():
        assert f"### {name}\n" in page or f"* `{name}`: " in page
        small = build_tools().get(name)
        shown = small if small is not None and small.is_listed else offer
        assert all(f"`{one}`" in page for one in shown.input_schema()["properties"])


def test_the_page_of_the_python_api_is_fresh() -> None:
    assert docs_python.PAGE.read_text(encoding="utf-8") == docs_python.page(), "run scripts/docs_python.py"


def test_every_public_method_is_on_the_page_of_the_python_api() -> None:
    page = docs_python.page()
    names = [f"Credenda.{name}" for name in vars(Credenda) if not name.startswith("_")]
    names += [f"manage.{name}" for name in vars(Manage) if not name.startswith("_")]
    names += [f"data.{name}" for name in vars(Data) if not name.startswith("_")]
    titles = {line.partition(" ")[2] for line in page.splitlines() if line.startswith("##")}
    assert set(names) - titles == {"Credenda.user", "Credenda.zone", "Credenda.location", "Credenda.read_only"}


def test_every_result_that_a_method_returns_is_on_the_page_of_the_python_api() -> None:
    page = docs_python.page()
    for cls in (Credenda, Manage, Data):
        for name in docs_python.list_names(cls) & set(docs_python.collect_values()):
            assert f"### {name}\n" in page


def test_the_page_of_the_python_api_is_the_same_in_each_run() -> None:
    assert docs_python.page() == docs_python.page()
    assert " at 0x" not in docs_python.page()


def test_examples_and_notes_of_a_docstring_become_markdown() -> None:
    def documented() -> None:
        """Return one (R-001); see docs/how-to/time.md.

        >>> open(getfixture("tmp_path") / "x")
        'x'

        The end.
        """

    text = docs_python.read_docstring(documented)
    assert text.startswith("Return one; see [docs/how-to/time.md](../how-to/time.md).")
    assert "```pycon\n>>> open(\"x\")\n'x'\n```\n\nThe end." in text


def test_the_page_of_the_operations_is_fresh() -> None:
    assert docs_operations.PAGE.read_text(encoding="utf-8") == docs_operations.page(), "run scripts/docs_operations.py"


def test_every_operation_and_closed_door_is_on_the_page_of_the_operations() -> None:
    page = docs_operations.page()
    for name, operation in OPERATIONS.items():
        assert f"| {name} | `{operation.scope}` |" in page
        assert all(reason in page for reason in operation.closed.values())
