"""What the command says of an import: a problem that many items have is said once."""

from __future__ import annotations

from credenda.interfaces.cli.output import Screen
from credenda.interfaces.cli.render import render
from credenda.model.report import ImportReport


def show(*problems: str) -> str:
    report = ImportReport(path="talk.zip", format="chatgpt", turns=9, problems=problems, passed_over=len(problems))
    return " ".join(render(Screen(width=80), "import", report).split())


def test_a_problem_that_many_items_have_is_said_once_with_the_first_of_them() -> None:
    many = [f"conversations.json, message {number}: password masked" for number in range(14)]
    shown = show(*many, "conversations.json, conversation 3: it is not an object")
    assert shown.count("masked") == 1
    assert "password masked in 14 items, the first conversations.json, message 0; --json names them" in shown
    assert "conversations.json, conversation 3: it is not an object" in shown


def test_a_few_alike_are_named_one_by_one() -> None:
    shown = show("line 3: password masked", "line 9: password masked", "zero bytes")
    assert shown.endswith("note: line 3: password masked note: line 9: password masked note: zero bytes")
