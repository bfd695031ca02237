"""Which orders to the assistant are standing instructions, and which are tasks, habits or talk between persons."""

from __future__ import annotations

import pytest

from credenda.model.claim import Claim, Turn
from credenda.model.event import Event, Role, Source
from credenda.model.memory import Cardinality, MemoryType
from credenda.write.extract.rules import RulesExtractor


def list_orders(text: str, *, source: Source = Source.HUMAN, before: tuple[Event, ...] = ()) -> list[Claim]:
    event = Event(text=text, role=Role.USER, speaker="user", occurred_us=0, id="e2", recorded_us=0, source=source)
    claims = RulesExtractor().extract(Turn(event=event, before=before))
    return [one for one in claims if one.attribute == "instruction"]


@pytest.mark.requirement("R-036")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Never force push. I mean it.", "Never force push"),
        ("never commit directly to main", "never commit directly to main"),
        ("Always run the linter before you say you're done", "run the linter before you say you are done"),
        ("never touch the migrations folder without asking", "never touch the migrations folder without asking"),
        ("Never restart the broker during the day.", "Never restart the broker during the day"),
        ("pls dont use long answers", "do not use long answers"),
        ("dont commit directly to main", "do not commit directly to main"),
        (
            "don't touch the migrations folder without asking",
            "do not touch the migrations folder without asking",
        ),
        ("use tabs not spaces", "use tabs not spaces"),
        ("use pnpm, never npm", "use pnpm, never npm"),
        ("please use uv instead of pip", "use uv instead of pip"),
        (
            "Keep diffs small please and never touch the migrations folder without asking",
            "Keep diffs small please and never touch the migrations folder without asking",
        ),
        ("run the tests and never skip slow ones", "never skip slow ones"),
    ],
)
def test_an_order_that_lasts_is_a_standing_instruction(text: str, value: str) -> None:
    (order,) = list_orders(text)
    assert (order.entity, order.value) == ("user", value)


@pytest.mark.requirement("R-036")
@pytest.mark.parametrize(
    "text",
    [
        "never mind",
        "use the second file here",
        "use the second file, not the first",
        "don't push yet",
        "don't delete the file",
        "don't change anything",
        "Don't worry about it",
        "don't push yourself too hard",
        "don't ask why",
        "run the tests and then push",
        # a household, a kitchen
        "Never put the copper pot in the dishwasher; dry it by hand.",
        "Always wash the rice three times.",
        "Always lock the door before you set the alarm.",
        # statements that leave out "I"
        "always forget my keys",
        "never ate sushi before",
        "Never been to Paris",
        "never run a marathon before",
        "never eat breakfast",
        "I never push on Fridays",
        "We never restart the primary without telling ops.",
    ],
)
def test_a_task_a_household_and_a_habit_give_no_standing_instruction(text: str) -> None:
    assert list_orders(text) == []


@pytest.mark.requirement("R-036")
def test_an_order_of_work_stays_a_procedure() -> None:
    (order,) = list_orders("Never merge on red, rerun the flaky job once and then ask Petra.")
    assert (order.type, order.cardinality) == (MemoryType.PROCEDURE, Cardinality.SET)


@pytest.mark.requirement("R-036")
@pytest.mark.parametrize("text", ["Never force push.", "use pnpm, never npm", "never touch the sofa without asking"])
def test_an_order_between_persons_instructs_nobody(text: str) -> None:
    other = Event(text="Hi!", role=Role.PERSON, speaker="Ben", occurred_us=0, id="e1", recorded_us=0)
    assert list_orders(text, before=(other,)) == []


@pytest.mark.requirement("R-036")
def test_a_procedure_in_other_words_than_the_users_governs_nothing() -> None:
    assert list_orders("Never force push.", source=Source.INGEST) == []
