"""Facts that a reader binds to the wrong words make no false claims."""

from __future__ import annotations

from dataclasses import replace

import pytest

from credenda.clock import DAY_US, to_datetime
from credenda.model.claim import Claim, Fact, FactChange, FactStatus, UpdateKind, Words
from credenda.model.event import Role
from credenda.model.memory import Stance
from credenda.write.facts.claims import make_claims

from .test_claims import make_turn, place, read_one, show


def find(text: str, value: str, attribute: str, **fields: object) -> Fact:
    fact = Fact(value=place(text, value), quote=Words(text, 0, len(text)), attribute=attribute)
    return replace(fact, **fields)  # pyright: ignore[reportArgumentType] - fields of a fact


def read(text: str, *facts: tuple[str, str]) -> list[Claim]:
    return make_claims(make_turn(text), [find(text, value, attribute) for value, attribute in facts])


@pytest.mark.parametrize(
    ("text", "value", "held"),
    [
        ("I love hiking, Lochard is breathtaking, and I'd love to see Petra", "Lochard", False),
        ("I adore lapsang, though tea bags are awful", "tea bags", False),
        ("I love hiking, pottery and jazz", "pottery", True),
        ("Jazz is great and I listen to it every day", "Jazz", True),
        ("I love rowing, the best time is dawn", "dawn", True),
    ],
)
def test_a_clause_about_another_thing_tells_no_liking(text: str, value: str, held: bool) -> None:  # noqa: FBT001 - a column of a table
    assert bool(read(text, (value, "likes"))) is held


def test_each_relative_has_the_noun_before_the_name() -> None:
    text = "I live with my husband Tim and our two kids, Ella and Max"
    claims = read(text, ("Tim", "partner"), ("two kids", "child"), ("Ella", "child"), ("Max", "child"))
    assert sorted(show(claims)) == [
        ("user", "child", "Ella", None),
        ("user", "child", "Max", None),
        ("user", "husband", "Tim", None),
    ]
    assert show(read("my mother-in-law Ruth", ("Ruth", "parent"))) == [("user", "mother-in-law", "Ruth", None)]
    assert show(read("Ruth, my wife, sings", ("Ruth", "partner"))) == [("user", "wife", "Ruth", None)]


def test_a_count_or_kind_of_relatives_is_no_name_of_one() -> None:
    assert read("Well, six-year-olds are easily impressed", ("six-year-olds", "child")) == []
    assert show(read("my wife is oyin", ("oyin", "partner"))) == [("user", "wife", "oyin", None)]
    assert [one.attribute for one in read("I grew up with three sisters", ("three sisters", "sibling"))] == []


def test_a_pet_that_is_named_by_its_kind_is_one_pet() -> None:
    text = "a dog named Otto, and he is twelve: Otto"
    facts = [find(text, "Otto", "pet"), replace(find(text, "Otto", "pet"), quote=Words("Otto", 36, 40))]
    facts[1] = replace(facts[1], value=Words("Otto", 36, 40))
    assert show(make_claims(make_turn(text), facts)) == [("user", "dog", "Otto", None)]


def test_who_is_away_until_a_day_is_not_gone() -> None:
    assert read_one("Tim is away until Friday", "Tim", "partner", status=FactStatus.ENDED, when="until Friday") == []
    assert len(read_one("Tim and I split up", "Tim", "partner", status=FactStatus.ENDED)) == 1
    unsure = {"status": FactStatus.ENDED, "attribute_certainty": 0.4}
    assert read_one("Tim is not here", "Tim", "partner", **unsure) == []


def test_a_job_that_is_left_has_ended_before_the_next_one_begins() -> None:
    text = "I left Lumen, I start at Halden on Monday"
    left = find(
        text, "Lumen", "condition", status=FactStatus.ENDED, change=FactChange.CHANGED, attribute_certainty=0.69
    )
    begun = {"status": FactStatus.PLANNED, "change": FactChange.CHANGED, "when": "on Monday", "old": "Lumen"}
    end, plan = make_claims(make_turn(text), [left, find(text, "Halden", "employer", **begun)])
    assert (end.attribute, end.value, end.move) == ("employer", "Lumen", UpdateKind.END)
    assert (plan.value, plan.stance) == ("Halden", Stance.PLANNED)
    assert (plan.valid_until_us or 0) - (plan.valid_from_us or 0) == DAY_US  # the day on which it is to begin
    assert plan.valid_from_us is not None
    assert to_datetime(plan.valid_from_us).date().isoformat() == "2026-05-25"


def test_the_day_of_another_clause_does_not_begin_what_is_so_now() -> None:
    (claim,) = read_one("My boss Priya wants me from 1 June", "Priya", "colleague", key="boss")
    assert (claim.attribute, claim.value, claim.valid_from_us) == ("boss", "Priya", None)


def test_a_question_between_persons_tells_nothing_of_who_asks() -> None:
    text = "still vegetarian?"
    asked = make_turn(text, role=Role.PERSON, speaker="Jo")
    assert make_claims(asked, [find(text, "vegetarian", "diet")]) == []
    text = "I'm still vegetarian, ok?"
    asked = make_turn(text, role=Role.PERSON, speaker="Jo")
    assert show(make_claims(asked, [find(text, "vegetarian", "diet")])) == [("Jo", "diet", "vegetarian", None)]


def test_a_day_is_a_birthday_only_where_a_birth_is_told() -> None:
    before = (make_turn("when do you start?", role=Role.ASSISTANT).event,)
    fact = find("1 June", "1 June", "birthday")
    assert make_claims(make_turn("1 June", before=before), [fact]) == []
    before = (make_turn("when is your birthday?", role=Role.ASSISTANT).event,)
    assert len(make_claims(make_turn("1 June", before=before), [fact])) == 1


def test_a_scope_that_the_value_says_is_no_condition() -> None:
    (claim,) = read_one("no coffee after noon", "coffee after noon", "routine", scope="after noon")
    assert claim.scope is None or "noon" not in (claim.value or "")
    (claim,) = read_one("drink coffee after noon for me", "coffee after noon for me", "routine", scope="after")
    assert claim.scope is None


def test_a_job_that_was_left_has_ended_also_where_no_fact_tells_it() -> None:
    text = "I left Lumen, I start at Halden on Monday"
    begun = {"status": FactStatus.PLANNED, "change": FactChange.CHANGED, "when": "on Monday", "old": "Lumen"}
    end, plan = make_claims(make_turn(text), [find(text, "Halden", "employer", **begun)])
    assert (end.attribute, end.value, end.move) == ("employer", "Lumen", UpdateKind.END)
    assert plan.value == "Halden"
    text = "I'm leaving Lumen, I start at Halden on Monday"
    (plan,) = make_claims(make_turn(text), [find(text, "Halden", "employer", **begun)])
    assert plan.value == "Halden"


def test_an_order_for_always_is_whole_and_needs_less() -> None:
    text = "Please always use grams in recipes"
    parts = [find(text, one, "instruction", certainty=0.55) for one in ("always", "use grams in recipes")]
    (claim,) = make_claims(make_turn(text), parts)
    assert claim.value == "always use grams in recipes"
    text = "use grams in recipes"
    assert make_claims(make_turn(text), [find(text, text, "instruction", certainty=0.55)]) == []
