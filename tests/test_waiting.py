"""No test gives up after seconds: a bound of a wait is `PATIENCE_SECONDS`, because a busy machine is no fault."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from tests import waiting
from tests.waiting import PATIENCE_SECONDS, await_that, limit_waiting

TESTS = Path(__file__).parent
WAITING = frozenset({"wait", "join", "result", "exception", "communicate", "fail_after", "move_on_after", "settimeout"})
"""Calls whose first argument is a bound of seconds, where it is a number."""
OTHERS = {"golden/scripts.py": "its `wait` lets days pass"}


def find_short_bounds(source: str) -> Iterator[int]:
    """Yield the lines with a number of seconds as the bound of a wait; one below a second is a pause or a limit."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [one.value for one in node.keywords if one.arg == "timeout"]
        given += node.args[:1] if name in WAITING else []
        for one in given:
            if (
                isinstance(one, ast.Constant)
                and isinstance(one.value, int | float)
                and 1 <= one.value < PATIENCE_SECONDS
            ):
                yield node.lineno


def test_no_wait_ends_after_seconds() -> None:
    found = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        if str(path.relative_to(TESTS)) not in OTHERS
        for line in find_short_bounds(path.read_text("utf-8"))
    ]
    assert not found, f"bound these by `tests.waiting`: {found}"


@pytest.mark.parametrize("line", ["done.wait(20)", "x.result(timeout=5)", "run(['a'], timeout=50)", "fail_after(30.0)"])
def test_a_bound_of_seconds_is_found(line: str) -> None:
    assert list(find_short_bounds(line)) == [1]


@pytest.mark.parametrize(
    "line", ["done.wait(0.05)", "x.result(timeout=BOUND)", "connect(timeout=0)", "fail_after(900)"]
)
def test_a_pause_and_a_bound_of_minutes_are_not(line: str) -> None:
    assert not list(find_short_bounds(line))


def test_what_was_awaited_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 0.05)
    with pytest.raises(AssertionError, match=r"waited 0.05 seconds for the moon"):
        await_that(lambda: False, "the moon")

    async def wait() -> None:
        with limit_waiting("the sun"):
            await anyio.sleep_forever()

    with pytest.raises(AssertionError, match="the sun"):
        anyio.run(wait)


def test_a_condition_that_comes_to_hold_ends_the_wait() -> None:
    seen = [0]

    def holds() -> bool:
        seen[0] += 1
        return seen[0] > 3

    await_that(holds, "the fourth look")
    assert seen[0] == 4
