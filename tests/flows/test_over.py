"""What its own words have ended is listed as over: a past appointment, a state for a time, a deadline."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from credenda import Credenda
from credenda.interfaces.cli.main import cli
from credenda.model.memory import Memory
from credenda.testing import ManualClock

VIEWING = "We have a viewing of the lighthouse tomorrow at 4pm."
CLAIM = {"quote": VIEWING, "attribute": "plan", "value": "viewing of the lighthouse", "stance": "planned"}
Tell = Callable[[], str]


@pytest.fixture
def tell(mem: Credenda) -> Tell:
    def remember() -> str:
        (result,) = mem.remember(VIEWING, claims=[CLAIM]).claims
        assert result.memory_id is not None
        return result.memory_id

    return remember


def find(mem: Credenda, name: str) -> list[Memory]:
    """Return the memory from everywhere that shows it as it is now."""
    listed = [one for one in mem.list().items if one.id == name]
    browsed = [one for one in mem.inspect.browse().items if one.id == name]
    return [*listed, *browsed, mem.get(name), mem.why(name).memory]


def test_a_plan_is_over_after_its_time_and_not_before(mem: Credenda, clock: ManualClock, tell: Tell) -> None:
    name = tell()
    coming = find(mem, name)
    assert len(coming) == 4
    assert {(one.over, one.statement) for one in coming} == {(False, f"user: {VIEWING} (planned for 2026-03-02 16:00)")}
    clock.advance(timedelta(days=3))
    gone = find(mem, name)
    assert len(gone) == 4
    assert {(one.over, one.statement) for one in gone} == {
        (True, f"user: {VIEWING} (planned for 2026-03-02 16:00, over)")
    }
    assert {one.status for one in gone} == {"active"}


def test_the_history_says_that_it_ended_by_its_own_words(mem: Credenda, clock: ManualClock, tell: Tell) -> None:
    name = tell()
    assert [one.reason for one in mem.history(id=name)] == ["planned"]
    clock.advance(timedelta(days=3))
    assert [one.reason for one in mem.history(id=name)] == ["it ended by its own words"]
    assert [one.reason for one in mem.history(id=name, as_of="2026-03-02T16:10:00Z")] == ["planned"]


def test_what_was_replaced_is_not_over_besides(mem: Credenda, clock: ManualClock) -> None:
    for place, day in (("Porvoo", "2026-03-01"), ("Naantali", "2026-03-05")):
        text = f"I live in {place} now."
        claim = {"quote": text, "attribute": "residence", "value": place}
        mem.remember(text, occurred_at=f"{day}T09:00:00Z", claims=[claim])
    clock.advance(timedelta(days=30))
    assert [one.over for status in ("active", "superseded") for one in mem.list(status=status).items] == [False, False]


def test_the_command_line_lists_it_as_over(path: Path, mem: Credenda, tell: Tell) -> None:
    name = tell()  # on 1 March 2026, long before this runs
    mem.close()
    ran = CliRunner().invoke(cli, ["--db", str(path), "--user", "ana", "list"])
    (line,) = [one for one in ran.stdout.splitlines() if one.startswith(name)]
    assert "over" in line
    assert '"over": true' in CliRunner().invoke(cli, ["--db", str(path), "--user", "ana", "--json", "list"]).stdout


def test_a_context_says_that_a_past_plan_is_over(mem: Credenda, clock: ManualClock, tell: Tell) -> None:
    name = tell()
    clock.advance(timedelta(days=3))
    (hit,) = [one for one in mem.search("When is the viewing of the lighthouse?").hits if one.id == name]
    assert hit.text.endswith("planned for 2026-03-02 16:00, over)")
    block = mem.context("When is the viewing of the lighthouse?").text
    assert "(planned for 2026-03-02 16:00; over)" in block.partition("No longer true:")[2]


PLANS = {
    "I start at Arup on March 14.": ("employer", "Arup"),
    "We are moving to Porto on March 14.": ("residence", "Porto"),
    "I'm getting married on March 14.": ("marital_status", "married"),
    "From March 14 I will be head of design.": ("job_title", "head of design"),
}


@pytest.mark.parametrize("text", PLANS)
def test_what_was_to_begin_on_a_past_day_stays_a_plan_that_nobody_confirmed(
    mem: Credenda, clock: ManualClock, text: str
) -> None:
    attribute, value = PLANS[text]
    mem.remember(text)
    mem.settle()
    (plan,) = [one for one in mem.list().items if one.attribute == attribute]
    assert plan.statement.endswith("planned for 2026-03-14")
    clock.advance(timedelta(days=60))
    for one in find(mem, plan.id):
        assert (one.over, one.due, one.value, one.status) == (False, True, value, "active")
        assert one.statement.endswith("planned for 2026-03-14, not yet confirmed")
    block = mem.context(f"{attribute.replace('_', ' ')}: {value}").text
    assert "No longer true:" not in block
    assert "(planned for 2026-03-14; not yet confirmed)" in block.partition("Planned or considered:")[2]


def test_every_door_says_of_a_plan_that_it_was_to_begin_then(path: Path, mem: Credenda) -> None:
    mem.remember("We are moving to Porto on March 14.")  # 2026, long before this runs
    mem.settle()
    (plan,) = mem.list(attribute="residence").items
    mem.close()
    shown = CliRunner().invoke(cli, ["--db", str(path), "--user", "ana", "get", plan.id]).stdout
    assert "planned for 2026-03-14" in shown
    listed = CliRunner().invoke(cli, ["--db", str(path), "--user", "ana", "list"]).stdout
    assert "Porto [not yet confirmed · planned]" in listed


def test_a_plan_without_a_day_says_when_it_was_told(mem: Credenda) -> None:
    text = "I want to learn to sail."
    mem.remember(text, claims=[{"quote": text, "attribute": "goal", "value": "learn to sail", "stance": "planned"}])
    (plan,) = mem.list().items
    assert plan.statement.endswith("(planned, as of 2026-03-01)")
    assert "(planned; told 1 Mar" in mem.context("sail").text


def test_the_word_that_confirms_a_plan_takes_its_place(mem: Credenda, clock: ManualClock) -> None:
    mem.remember("We are moving to Porto on March 14.")
    mem.settle()
    clock.advance(timedelta(days=20))
    mem.remember("We live in Porto now.")
    mem.settle()
    held = [(one.value, one.stance.value, one.due) for one in mem.list(attribute="residence").items]
    assert held == [("Porto", "asserted", False)]


def test_an_age_turns_true_on_its_day_and_takes_the_place_of_the_one_before(mem: Credenda, clock: ManualClock) -> None:
    mem.remember("I'm 33.")
    mem.remember("I turn 34 on March 14.")
    mem.settle()
    assert [one.value for one in mem.list(attribute="age", as_of="2026-03-10").items] == ["33"]
    clock.advance(timedelta(days=60))
    assert [one.value for one in mem.list(attribute="age", as_of=clock.now()).items] == ["34"]
    (age,) = [one for one in mem.list(attribute="age").items if one.value == "34"]
    assert (age.over, age.stance, age.statement) == (False, "asserted", "user: age: 34, from 2026-03-14")
    assert "age: 34" in mem.context("How old am I?").text.partition("Held true:")[2]


def test_a_date_that_is_the_value_says_not_since_when_it_holds(mem: Credenda) -> None:
    mem.remember("The premiere has moved to 10 October.")
    mem.settle()
    found = [one for one in mem.list().items if one.value == "2026-10-10"]
    assert [(one.valid_from or one.created_at).date().isoformat() for one in found] == ["2026-03-01"]
