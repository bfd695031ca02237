"""Slots that keep changing are asked about instead of decided."""

from dataclasses import replace

import pytest

from credenda.limits import ALTERNATION_DAYS, CONTEST_DAYS, CONTEST_MEMBERS
from credenda.model.change import Contest, ContestState, Supersede
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Relation, Stance, Status

from .build import World, claim, kinds, likes, only, prefers


def swung(back: float = 60) -> World:
    """Morning, afternoon a month later, and morning again."""
    world = World()
    world.tell(prefers("morning meetings"))
    world.tell(prefers("afternoon meetings"), at=30)
    world.tell(prefers("morning meetings"), at=back)
    return world


def answered() -> World:
    world = swung()
    world.resolve(61, scopes={"consulting": "morning", "default": "afternoon"})
    return world


@pytest.mark.requirement("R-083", "R-086", "C-006")
def test_a_preference_that_swings_back_is_asked_about_and_both_values_stand() -> None:
    world = swung()
    (case,) = world.open()
    first, second, third = world.memories.values()
    assert first.status is Status.SUPERSEDED, "the earlier period is kept apart"
    assert [one.status for one in (second, third)] == [Status.ACTIVE, Status.ACTIVE]
    assert second.contested
    assert third.contested
    assert case.values == ("afternoon meetings", "morning meetings")
    assert case.memory_ids == (second.id, third.id)
    assert case.question == (
        "For your meeting time I have heard “afternoon meetings” and “morning meetings”. "
        "Which one holds, or when does each of them?"
    )


@pytest.mark.requirement("R-083")
@pytest.mark.parametrize(
    ("move", "text", "at", "asked"),
    [
        (UpdateKind.CORRECT, "Sorry, morning.", 80, False),
        (UpdateKind.CHANGE, "I switched to morning.", 80, True),
        (UpdateKind.CHANGE, "I switched to morning.", 800, False),
        (UpdateKind.CHANGE, "I switched from afternoon back to morning.", 80, False),
    ],
)
def test_a_told_change_to_a_value_that_ended_is_asked_about(
    move: UpdateKind, text: str, at: int, *, asked: bool
) -> None:
    world = World()
    world.tell(prefers("morning"))
    world.tell(prefers("afternoon"), at=40)
    changes = world.tell(prefers("morning", move=move, text=text), at=at)
    assert kinds(changes) == ["Add", "Contest" if asked else "Supersede"]


@pytest.mark.requirement("R-083")
@pytest.mark.parametrize(("after", "asked"), [(ALTERNATION_DAYS, True), (ALTERNATION_DAYS + 1, False)])
def test_a_value_that_returns_after_half_a_year_is_a_new_one(*, after: int, asked: bool) -> None:
    assert bool(swung(back=30 + after).open()) is asked


@pytest.mark.requirement("S-055")
def test_a_fact_that_returns_is_a_timeline() -> None:
    world = World()
    for number, firm in enumerate(["Payments", "Search", "Payments"]):
        world.tell(claim(firm, "team"), at=number * 40)
    assert world.open() == []
    assert [world.true_at(at) for at in (10, 50, 90)] == [["Payments"], ["Search"], ["Payments"]]
    assert len(world.memories) == 3, "two periods of the same value stay two memories"


@pytest.mark.requirement("R-012", "R-083")
@pytest.mark.parametrize("days", [31, 40, 200, 700])
@pytest.mark.parametrize("move", [UpdateKind.STATE, UpdateKind.CHANGE])
def test_an_alternation_is_asked_about_over_any_span(days: int, move: UpdateKind) -> None:
    world = World()
    world.tell(claim("Graz"))
    world.tell(claim("Linz"), at=days)
    changes = world.tell(claim("Graz"), at=2 * days)
    assert only(Supersede, changes).reason == "“Graz” held before and is back, in place of “Linz”"
    changes = world.tell(claim("Linz", move=move), at=3 * days)
    assert only(Contest, changes).reason in {"“Linz” and “Graz” alternate", "“Linz” is said to be back"}
    world.tell(claim("Graz"), at=4 * days)
    assert len(world.open()) == 1


@pytest.mark.requirement("R-012", "R-083")
@pytest.mark.parametrize(("days", "asked"), [(5, True), (30, True), (31, False), (100, False)])
@pytest.mark.parametrize("entity", ["user", "server"])
def test_a_plain_return_of_a_fact_is_asked_about_if_soon(days: int, entity: str, *, asked: bool) -> None:
    world = World()
    for number, value in enumerate(["Bosch", "Siemens", "Bosch"]):
        world.tell(claim(value, "owner", entity=entity), at=number * days)
    assert bool(world.open()) is (asked and entity == "user")


@pytest.mark.requirement("R-012", "R-083")
def test_a_round_trip_whose_words_name_the_former_value_is_a_change() -> None:
    world = World()
    for number, city in enumerate(["Graz", "Linz", "Graz"]):
        world.tell(claim(city), at=number * 40)
    world.tell(claim("Linz", move=UpdateKind.CHANGE, prior="Graz", text="I moved from Graz back to Linz."), at=120)
    assert world.open() == []


@pytest.mark.requirement("R-083")
@pytest.mark.parametrize(
    ("attribute", "asked"),
    [("standup_time", True), ("office days", True), ("working_hours", True), ("time_zone", False), ("team", False)],
)
def test_a_schedule_swings_as_a_preference_does(*, attribute: str, asked: bool) -> None:
    world = World()
    for number, value in enumerate(["A", "B", "A"]):
        world.tell(claim(value, attribute), at=number * 40)
    assert bool(world.open()) is asked


@pytest.mark.requirement("R-085")
def test_the_third_supersession_within_thirty_days_is_asked_about() -> None:
    world = World()
    for number, city in enumerate(["Graz", "Linz", "Wels"]):
        world.tell(claim(city, move=UpdateKind.CHANGE), at=number * 5)
    assert world.open() == []
    changes = world.tell(claim("Steyr", move=UpdateKind.CHANGE), at=15)
    assert kinds(changes) == ["Add", "Contest"]
    assert "change 3" in only(Contest, changes).reason
    assert world.values() == ["Wels", "Steyr"]


@pytest.mark.requirement("R-085")
def test_slow_changes_and_mere_refinements_are_not_asked_about() -> None:
    slow, refined = World(), World()
    for number, city in enumerate(["Graz", "Linz", "Wels", "Steyr"]):
        slow.tell(claim(city, move=UpdateKind.CHANGE), at=number * (CONTEST_DAYS + 1))
    for number, school in enumerate(["school", "school in Kiel", "the Waldorf school in Kiel", "Linz"]):
        refined.tell(prefers(school, "son_school"), at=number)
    assert (slow.open(), refined.open()) == ([], [])


@pytest.mark.requirement("R-085")
def test_a_set_never_swings() -> None:
    world = World()
    for number in range(4):
        world.tell(likes("fish"), at=number * 2)
        world.tell(likes("fish", move=UpdateKind.END), at=number * 2 + 1)
    assert world.open() == []


@pytest.mark.requirement("R-085")
def test_a_single_value_taken_up_and_ended_over_and_over_is_asked_about() -> None:
    world = World()
    for at, move in enumerate([UpdateKind.STATE, UpdateKind.END, UpdateKind.STATE, UpdateKind.END]):
        world.tell(claim("Acme", "employer", move=move), at=at)
    (case,) = world.open()
    assert case.values == ("Acme", "not Acme")


@pytest.mark.requirement("R-086")
def test_while_the_question_is_open_nothing_is_replaced() -> None:
    world = swung()
    assert kinds(world.tell(prefers("afternoon meetings"), at=61)) == ["Confirm"]
    assert kinds(world.tell(prefers("evening meetings", move=UpdateKind.CHANGE), at=62)) == ["Add", "Contest"]
    (case,) = world.open()
    assert case.values == ("afternoon meetings", "morning meetings", "evening meetings")
    assert all(world.memories[one].contested for one in case.memory_ids)
    assert world.values() == ["afternoon meetings", "morning meetings", "evening meetings"]


@pytest.mark.requirement("R-086", "D-006")
def test_a_weak_claim_does_not_join_an_open_question() -> None:
    world = swung()
    world.tell(prefers("evening meetings"), at=61, trust=0.5)
    assert world.of("evening meetings").status is Status.CHALLENGED
    assert len(world.open()[0].values) == 2


@pytest.mark.requirement("R-086")
def test_an_ending_in_an_open_question_joins_it() -> None:
    world = swung()
    world.tell(prefers("morning meetings", stance=Stance.NEGATED), at=61)
    assert world.open()[0].values[-1] == "not morning meetings"


@pytest.mark.requirement("R-086", "R-087")
def test_an_answer_governs_what_is_said_later() -> None:
    world = answered()
    repeated = world.tell(prefers("morning meetings"), at=62)
    default = world.tell(prefers("afternoon meetings"), at=63)
    assert (kinds(repeated), kinds(default)) == (["Confirm"], ["Confirm"])
    assert [one.confirmations for one in world.memories.values() if one.status is Status.ACTIVE] == [1, 1]


@pytest.mark.requirement("R-087")
def test_words_of_change_do_not_unsettle_an_answer_that_allowed_for_the_value() -> None:
    world = answered()
    assert kinds(world.tell(prefers("morning meetings", move=UpdateKind.CHANGE), at=62)) == ["Confirm"]


@pytest.mark.requirement("R-086")
def test_any_other_value_opens_the_question_again() -> None:
    world = answered()
    changes = world.tell(prefers("evening meetings", move=UpdateKind.CHANGE), at=62)
    assert kinds(changes) == ["Add", "Contest"]
    (case,) = world.open()
    assert case.values == ("afternoon meetings", "evening meetings")
    assert not world.of("morning meetings").contested, "what holds for consulting is not asked about"


@pytest.mark.requirement("R-086")
def test_without_a_default_the_scoped_values_are_asked_about() -> None:
    world = swung()
    world.resolve(61, scopes={"consulting": "morning", "interviews": "afternoon"})
    world.tell(prefers("evening meetings"), at=62)
    assert world.open()[0].values == ("afternoon meetings", "morning meetings", "evening meetings")


@pytest.mark.requirement("R-087")
def test_within_a_scope_of_the_answer_a_value_may_change() -> None:
    world = answered()
    world.tell(prefers("noon meetings", scope="consulting", move=UpdateKind.CHANGE), at=70)
    assert world.of("morning meetings").relation is Relation.CHANGED
    assert world.values() == ["afternoon meetings", "noon meetings"]


def test_an_answer_whose_values_are_gone_governs_nothing() -> None:
    world = swung()
    world.resolve(61, keep="morning")
    (held,) = [one for one in world.memories.values() if one.status is Status.ACTIVE]
    world.memories[held.id] = replace(held, value="noon", text="noon")
    changes = world.tell(prefers("evening", move=UpdateKind.CHANGE), at=70)
    assert kinds(changes) == ["Add", "Supersede"]
    assert [one.state for one in world.contests.values()] == [ContestState.RESOLVED]


def test_the_question_names_whose_slot_and_scope_it_is() -> None:
    world = World()
    for number, value in enumerate(["A", "B", "A"]):
        told: Claim = prefers(value, entity="Ana", scope="Fridays")
        world.tell(told, at=number * 40)
    assert world.open()[0].question.startswith("For ana’s meeting time (fridays) I have heard “B” and “A”.")


@pytest.mark.requirement("R-086")
def test_a_question_is_about_the_newest_values_only() -> None:
    world = World()
    for number in range(3 * CONTEST_MEMBERS):
        world.tell(claim(f"Town{number}", text=f"I live in Town{number}"), at=number)
    (case,) = world.open()
    newest = [f"Town{number}" for number in range(3 * CONTEST_MEMBERS)][-CONTEST_MEMBERS:]
    assert list(case.values) == newest
    assert world.values() == newest
    assert {one.relation for one in world.memories.values() if one.status is Status.SUPERSEDED} == {Relation.CHANGED}
