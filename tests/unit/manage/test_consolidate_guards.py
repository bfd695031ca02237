"""What keeps memories apart, and what an answer must hold: the guards of both judges."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.manage.consolidation_guards import (
    Member,
    extract_traits,
    find_difference,
    find_unsupported,
    is_distinct,
    resolve_relative_dates,
)
from credenda.manage.consolidation_judge import Remove, judge_by_rules, link_remaining, parse_answer, plan_changes
from credenda.model.change import Supersede
from credenda.model.memory import Memory, MemoryType, Relation, Stance

DAY_US = 86_400_000_000
SAID_US = 1_772_355_600_000_000
"""1 March 2026."""


def member(text: str, number: int = 1, **fields: object) -> Member:
    memory = Memory(
        id=f"m{number}-abcde1",
        version=1,
        created_us=SAID_US + number,
        recorded_us=SAID_US + number,
        text=text,
        type=MemoryType.FACT,
        **fields,  # type: ignore[arg-type]
    )
    return Member(memory=memory)


@pytest.mark.requirement("D-016", "C-001")
@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("The exam is on October 15th.", "The exam is on October 16th.", "number"),
        ("The exam is on Monday.", "The exam is on Tuesday.", "date"),
        ("The exam is in May.", "The exam is in June.", "date"),
        ("I own two cats.", "I own three cats.", "number"),
        ("The ride is 5 km.", "The ride is 5 miles.", "unit"),
        ("It costs $5.", "It costs \u20ac5.", "unit"),
        ("I train daily.", "I train weekly.", "unit"),
        ("I met Tom there.", "I met Tim there.", "name"),
        ("I eat meat.", "I do not eat meat.", "negation"),
        ("I eat meat.", "I never eat meat.", "negation"),
        ("I like rain.", "I hate rain.", "negation"),
        ("Ich mag Tee.", "Ich mag keinen Tee.", "negation"),
        ("Call me before lunch.", "Call me after lunch.", "turn"),
        ("I work at the bank.", "I used to work at the bank.", "turn"),
        ("I swim.", "I sometimes swim.", "turn"),
    ],
)
def test_one_sign_keeps_two_facts_apart(one: str, other: str, apart: str) -> None:
    assert find_difference(member(one), member(other, 2)) == apart
    assert find_difference(member(other, 2), member(one)) == apart
    assert is_distinct(member(one), member(other, 2))


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("value", {"value": "Linz"}, {"value": "Graz"}),
        ("speaker", {}, {"speaker": "Anna"}),
        ("entity", {}, {"entity": "sister"}),
        ("scope", {}, {"scope": "work"}),
        ("topic", {"topic": "work"}, {"topic": "health"}),
        ("stance", {}, {"stance": Stance.NEGATED}),
        ("stance", {"stance": Stance.REPORTED}, {"stance": Stance.REPORTED}),
        ("type", {}, {"type": MemoryType.DECISION}),
        ("time", {}, {"valid_until_us": SAID_US + DAY_US}),
        ("time", {}, {"expires_us": SAID_US + DAY_US}),
        ("metadata", {"metadata": {"ticket": 1}}, {"metadata": {"ticket": 2}}),
    ],
)
def test_what_stands_around_the_words_keeps_them_apart(
    name: str, one: dict[str, object], other: dict[str, object]
) -> None:
    slot: dict[str, object] = {"entity": "user", "attribute": "residence", "value": "Linz"}
    first, second = _told(slot | one), _told(slot | other, 2)
    assert find_difference(first, second) == name
    assert is_distinct(first, second)


def _told(fields: dict[str, object], number: int = 1) -> Member:
    made = member("I live there.", number)
    return Member(memory=Memory(**{name: getattr(made.memory, name) for name in Memory.__dataclass_fields__} | fields))  # type: ignore[arg-type]


def test_the_same_words_on_another_day_are_another_fact() -> None:
    later = member("I met my sister yesterday.", 2, valid_from_us=SAID_US + 7 * DAY_US)
    assert find_difference(member("I met my sister yesterday."), later) == "date"
    assert find_difference(member("I met my sister."), member("i met my SISTER", 2)) is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_being_apart_is_mutual_and_nothing_is_apart_from_itself(one: str, other: str) -> None:
    first, second = member(one), member(other, 2)
    assert is_distinct(first, second) == is_distinct(second, first)
    assert not is_distinct(first, first)


words = st.sampled_from(
    ["Linz", "tea", "12", "13", "not", "on", "Monday", "Friday", "km", "miles", "Anna", "I", "like"]
)


@pytest.mark.requirement("S-043", "D-016")
@given(st.lists(st.lists(words, min_size=1, max_size=5).map(" ".join), max_size=8))
def test_rules_lose_no_words(told: list[str]) -> None:
    """Whatever is told: each text that was held is still held, but for capitals and signs."""
    members = [member(text, number + 1) for number, text in enumerate(told)]
    verdicts = judge_by_rules(members)
    gone = {verdict.target for verdict in verdicts if isinstance(verdict, Remove)}
    left = {extract_traits(one.memory.text, SAID_US) for one in members if one.id not in gone}
    assert {extract_traits(one.memory.text, SAID_US)._replace(names=frozenset()) for one in members} == {
        one._replace(names=frozenset()) for one in left
    }
    assert len({one.casefold() for one in told}) == len(members) - len(gone)
    link = link_remaining(members, verdicts)
    assert (link is None) == (len(members) - len(gone) < 2)


def test_a_duplicate_goes_with_an_empty_time_and_a_successor() -> None:
    members = [member("I like tea.", 1), member("i like TEA", 2)]
    (verdict,) = judge_by_rules(members)
    (*_, gone) = plan_changes(verdict, {one.id: one for one in members}, SAID_US + DAY_US)
    assert isinstance(gone, Supersede)
    assert (gone.memory_id, gone.successor, gone.relation) == ("m2-abcde1", "m1-abcde1", Relation.DUPLICATE)
    assert gone.valid_until_us == members[1].since_us


@pytest.mark.requirement("S-041")
@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("I met Tom yesterday.", "I met Tom on 2026-02-28."),
        ("The trip is next month.", "The trip is in 2026-04."),
        ("Since last week I run.", "Since 2026-02-16 I run."),
        ("I moved in two weeks ago.", "I moved in two weeks ago."),
        ("We meet on Fridays.", "We meet on Fridays."),
        ("Born in 1984.", "Born in 1984."),
    ],
)
def test_relative_days_are_written_out(text: str, written: str) -> None:
    assert resolve_relative_dates(text, SAID_US) == written
    assert resolve_relative_dates(written, SAID_US + 90 * DAY_US) == written or "ago" in written


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Anna and Boris share 2 bikes.", None),
        ("Anna shares 2 bikes.", "name"),
        ("Anna and Boris share bikes.", "number"),
        ("Anna and Boris share 3 bikes.", "number"),
        ("Anna and Boris do not share 2 bikes.", "negation"),
        ("Anna and Boris share 2 bikes, red ones with gears, lights and a bell, bought used.", "turning"),
        ("Anna and Boris own 2 red racing machines kept inside somewhere.", "words"),
    ],
)
def test_a_new_text_says_all_and_nothing_else(text: str, wrong: str | None) -> None:
    sources = [member("Anna and Boris share 2 bikes."), member("Boris and Anna share 2 bikes.", 2)]
    assert find_unsupported(text, SAID_US, sources) == wrong


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "[]",
        "{}",
        '{"operations": 1}',
        '{"operations": [1]}',
        '{"operations": [{"op": "remove"}]}',
        '{"operations": [{"op": "burn", "target": "e1", "with": ["e2"], "kind": null, "text": null}]}',
        '{"operations": [{"op": "remove", "target": "e1", "with": "e2", "kind": null, "text": null}]}',
        "[" * 100_000,
    ],
)
def test_an_answer_of_another_shape_is_none(answer: str) -> None:
    with pytest.raises(ValueError, match=r"answer|operation|list|Expecting|nested|recursion"):
        parse_answer(answer, [member("I like tea."), member("I like tea a lot.", 2)])


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "op": st.sampled_from(["add", "replace", "remove"]),
                "target": st.sampled_from(["e1", "e2", "e3", "e9"]),
                "with": st.lists(st.sampled_from(["e1", "e2", "e3", "e9"]), max_size=3),
                "kind": st.sampled_from(["same", "change", "correction"]),
                "text": st.sampled_from([None, "", "I like tea.", "I like 3 teas.", "x" * 3000, "a\x00b"]),
            }
        ),
        max_size=4,
    )
)
def test_whatever_a_model_says_each_entry_is_touched_once(operations: list[dict[str, object]]) -> None:
    members = [member("I like tea.", 1), member("I like hot tea.", 2), member("I like 3 teas.", 3)]
    ruling = parse_answer(json.dumps({"operations": operations}), members)
    named = [one for verdict in ruling.verdicts for one in _named(verdict)]
    assert len(set(named)) == len(named)
    assert "m3-abcde1" not in named


def _named(verdict: object) -> list[str]:
    target = [str(getattr(verdict, "target", ""))]
    return (
        target
        + list(getattr(verdict, "sources", ()))
        + [str(getattr(verdict, "same_as", ""))] * isinstance(verdict, Remove)
    )


@pytest.mark.parametrize(
    ("first", "second", "written"),
    [
        (
            "I use tabs instead of spaces.",
            "Tabs, not spaces, in my code please.",
            "I use tabs, not spaces, in my code.",
        ),
        ("I never eat after nine.", "I don't eat after nine anymore.", "I never eat after nine."),
        (
            "I take the bus to work on Mondays.",
            "On Mondays I take the bus to work.",
            "I take the bus to work on Mondays.",
        ),
        (
            "Max feeds the cat when we're away.",
            "Max feeds the cat when we travel.",
            "Max feeds the cat when we travel.",
        ),
        ("Her present is a camera.", "Got a camera for her as present.", "Her present is a camera."),
        ("Our router is in the hallway.", "The router stands in the hallway.", "Our router is in the hallway."),
        ("Maybe Rob is in Vienna.", "I think Rob is in Vienna.", "Rob is probably in Vienna."),
        ("Ann and Bo share a car.", "Bo and Ann share a car.", "Ann and Bo share a car."),
    ],
)
def test_plain_pairs_may_be_merged(first: str, second: str, written: str) -> None:
    one, other = member(first), member(second, 2)
    assert find_difference(one, other) is None
    assert find_unsupported(written, SAID_US, [one, other]) is None


@pytest.mark.parametrize(
    ("first", "second", "written"),
    [
        ("Tom lent Ben his bike.", "Ben got Tom's bike on loan.", "Ben lent Tom his bike."),
        ("I prefer tea to coffee.", "Tea over coffee for me.", "I prefer coffee to tea."),
        ("My brother works at Ikea.", "My brother has a job at Ikea.", "I work at Ikea."),
        ("The red pills are for noon.", "Take the red pills at noon.", "The blue pills are for noon."),
        ("I go left at the church.", "At the church I go left.", "I go right at the church."),
        ("Nina is taller than Paul.", "Paul is shorter than Nina.", "Paul is taller than Nina."),
        ("I'm taller than my brother.", "My brother is shorter than me.", "My brother is taller than me."),
        ("Karl owes me 50 euros.", "I lent Karl 50 euros.", "I owe Karl 50 euros."),
        ("I have a cat named Momo.", "Momo is my cat.", "I have a dog named Momo."),
        ("Eva left the team in May.", "In May Eva left the team.", "Eva joined the team in May."),
        ("Most of us work from home.", "Most of the team is at home.", "All of us work from home."),
        ("I think Rob is in Vienna.", "Rob is probably in Vienna.", "Rob is in Vienna."),
    ],
)
def test_a_text_that_turns_the_words_of_its_sources_is_refused(first: str, second: str, written: str) -> None:
    assert find_unsupported(written, SAID_US, [member(first), member(second, 2)]) is not None
