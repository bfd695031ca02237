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
from credenda.manage.consolidation_judge import (
    ParsedAnswer,
    Remove,
    judge_by_rules,
    link_remaining,
    parse_answer,
    plan_changes,
)
from credenda.model.change import Supersede
from credenda.model.memory import Memory, MemoryType, Relation, Stance

SAME = (
    (
        "I can't concentrate when the radio is on.",
        "The radio distracts me when it's on.",
        "I can't concentrate when the radio is on.",
    ),
    ("I seldom watch television.", "I hardly ever watch television.", "I seldom watch television."),
    ("I don't sleep well on planes.", "I sleep poorly on planes.", "I sleep poorly on planes."),
    ("Loud cafes make it hard for me to read.", "I can't read in loud cafes.", "I can't read in loud cafes."),
    ("Spicy food gives me heartburn.", "I get heartburn from spicy food.", "Spicy food gives me heartburn."),
    ("Long drives tire me out.", "I find long drives tiring.", "I find long drives tiring."),
    ("I usually skip dessert.", "I rarely have dessert.", "I rarely have dessert."),
    ("A tidy desk calms me.", "I am calmer at a tidy desk.", "A tidy desk calms me."),
    ("I commute by tram.", "I take the tram to work.", "I commute by tram."),
    (
        "Skipping coffee gives me headaches.",
        "I get headaches when I skip coffee.",
        "Skipping coffee gives me headaches.",
    ),
    ("I avoid phone calls.", "I try not to make phone calls.", "I avoid phone calls."),
    ("Please keep answers brief.", "I would like brief answers.", "I would like brief answers."),
    (
        "I get my best ideas in the shower.",
        "The best ideas come to me in the shower.",
        "I get my best ideas in the shower.",
    ),
    ("Crowded trains stress me out.", "I find packed trains stressful.", "I find crowded trains stressful."),
    ("I do my groceries on foot.", "I walk to do the grocery shopping.", "I walk to do my groceries."),
    (
        "I can't work with music on.",
        "Music distracts me when I work.",
        "I can't work with music on because it distracts me.",
    ),
    ("I drink tea rather than coffee.", "I prefer tea over coffee.", "I prefer tea over coffee."),
    ("My dog needs two walks a day.", "I have to walk the dog twice a day.", "My dog needs two walks a day."),
    (
        "Bullet points are easier for me to read than prose.",
        "I find bullet points easier to read than prose.",
        "I find bullet points easier to read than prose.",
    ),
    ("I sleep badly when it's hot.", "Heat makes me sleep badly.", "I sleep badly in the heat."),
    ("I rarely eat breakfast.", "I usually skip breakfast.", "I usually skip breakfast."),
    ("The kids go to school by bike.", "Our children cycle to school.", "The kids cycle to school."),
    ("I always book aisle seats.", "When I fly I book an aisle seat.", "I always book aisle seats when I fly."),
    ("I would like feedback in writing.", "Please give me feedback in written form.", "I would like written feedback."),
    (
        "I can't think in noisy rooms.",
        "Noisy rooms make it difficult for me to think.",
        "I can't think in noisy rooms.",
    ),
    ("I don't eat dairy.", "I avoid dairy.", "I avoid dairy."),
    ("Please reply in German.", "I want replies in German.", "I want replies in German."),
    ("My commute takes an hour.", "I need one hour to get to work.", "My commute takes an hour."),
    ("Open offices drain me.", "I find open offices draining.", "I find open offices draining."),
    (
        "I mostly miss the morning stand-up.",
        "I seldom attend the morning stand-up.",
        "I seldom attend the morning stand-up.",
    ),
    ("The cat wakes me at dawn.", "I'm woken by the cat at dawn.", "The cat wakes me at dawn."),
    (
        "My neighbour looks after my plants.",
        "My plants are looked after by my neighbour.",
        "My neighbour looks after my plants.",
    ),
    ("I play chess with my uncle.", "My uncle and I play chess.", "I play chess with my uncle."),
    ("Long emails overwhelm me.", "I get overwhelmed by long emails.", "Long emails overwhelm me."),
    ("I prefer ebooks to paper books.", "I like ebooks more than paper books.", "I prefer ebooks to paper books."),
    ("I do yoga to relax.", "Yoga is how I relax.", "I do yoga to relax."),
)
APART = (
    ("I have two bikes in the cellar.", "There are three bikes in my cellar.", "I have two bikes in the cellar."),
    ("The lease runs for 24 months.", "Our lease has 36 months to run.", "The lease runs for 24 months."),
    ("I check my mail on weekends.", "I won't check my mail on weekends.", "I check my mail on weekends."),
    ("I trust the new vendor.", "I distrust the new vendor these days.", "I trust the new vendor."),
    ("Oskar fixes our bikes.", "Our bikes are fixed by Emil.", "Oskar fixes our bikes."),
    ("I skate with Lena in winter.", "In winter I go skating with Nora.", "I skate with Lena in winter."),
    ("Choir practice is at 7 pm.", "We practise with the choir at 8 pm.", "Choir practice is at 7 pm."),
    ("The bins go out on Thursday.", "On Friday the bins go out.", "The bins go out on Thursday."),
    ("I want to play the cello.", "I play the cello quite a lot.", "I play the cello."),
    ("I'd love to work abroad.", "I work abroad these days.", "I work abroad."),
    ("I hope to become a nurse.", "I work as a nurse.", "I work as a nurse."),
    ("I plan to move to Bergen.", "I moved to Bergen.", "I moved to Bergen."),
    ("I teach Hannah chess.", "Hannah is teaching me chess.", "I teach Hannah chess."),
    ("My brother cooks for me on Sundays.", "On Sundays I cook for my brother.", "My brother cooks for me on Sundays."),
    ("Petra often borrows tools from us.", "We borrow tools from Petra.", "Petra borrows tools from us."),
    (
        "The sales team reports to the finance team.",
        "Finance reports to the sales team.",
        "The sales team reports to finance.",
    ),
    ("I look after Anna's dog.", "Anna looks after my dog.", "I look after Anna's dog."),
    ("Dana was hired by me.", "I was hired by Dana.", "I was hired by Dana."),
    ("I drink a little wine.", "I drink a lot of wine.", "I drink a lot of wine."),
    ("Most of my books are in storage.", "Few of my books are in storage.", "Most of my books are in storage."),
    ("I used to collect stamps.", "I collect stamps as a hobby.", "I collect stamps."),
    ("I had a motorbike back then.", "I have a motorbike.", "I have a motorbike."),
    ("I prefer rye to spelt.", "Spelt is what I prefer to rye.", "I prefer rye to spelt."),
    ("I like hiking more than swimming.", "I like swimming more than hiking.", "I like hiking more than swimming."),
    ("Stress gives me migraines.", "Migraines give me stress.", "Stress gives me migraines."),
    ("I eat badly because I'm tired.", "I'm tired because I eat badly.", "I eat badly because I'm tired."),
    ("I rarely lock the shed.", "I usually lock the shed.", "I rarely lock the shed."),
    ("I usually skip lunch.", "I usually eat lunch.", "I usually skip lunch."),
    ("Music distracts me at work.", "Music helps me at work.", "Music distracts me at work."),
    ("I can't work with the window open.", "I work best with the window open.", "I can't work with the window open."),
    ("I get up at 6.", "I get up at 7.", "I get up at 6."),
    ("I like jazz.", "I don't like jazz.", "I like jazz."),
    ("My sister lives in Bonn.", "My brother lives in Bonn.", "My sister lives in Bonn."),
    ("Ravi manages the team.", "Priya manages the team.", "Ravi manages the team."),
    ("I take the bus to work.", "I never take the bus to work.", "I take the bus to work."),
    ("The rent is 900 euros.", "The rent is 950 euros.", "The rent is 900 euros."),
    ("The demo is on Tuesday.", "The demo is on Wednesday.", "The demo is on Tuesday."),
    ("I was born in March.", "I was born in May.", "I was born in March."),
    ("We ship to Canada.", "We ship to Mexico.", "We ship to Canada."),
    ("I weigh 70 kg.", "I weigh 70 pounds.", "I weigh 70 kg."),
    ("I can swim.", "I can't swim.", "I can swim."),
    ("I used to smoke.", "I smoke.", "I smoke."),
    ("I want to learn Spanish.", "I speak Spanish.", "I speak Spanish."),
    ("The server runs Ubuntu.", "The server runs Debian.", "The server runs Ubuntu."),
    ("I'm allergic to nuts.", "I'm not allergic to nuts.", "I'm allergic to nuts."),
    ("I take my pills before meals.", "I take my pills after meals.", "I take my pills before meals."),
    ("I work four days a week.", "I work five days a week.", "I work four days a week."),
    ("The flat has two bedrooms.", "The flat has three bedrooms.", "The flat has two bedrooms."),
    ("I drive to work in winter.", "I drive to work in summer.", "I drive to work in winter."),
    ("I hate early meetings.", "I love early meetings.", "I love early meetings."),
    ("My son plays the violin.", "My daughter plays the violin.", "My son plays the violin."),
    ("The office opens at 8 am.", "The office opens at 8 pm.", "The office opens at 8 am."),
    ("I prefer tea over coffee.", "I prefer coffee over tea.", "I prefer tea over coffee."),
    ("I eat meat.", "I eat no meat.", "I eat meat."),
    ("I run in the park.", "I go running in the park.", "I run 5 km in the park."),
    ("I paid Maria 40 euros.", "Maria got 40 euros from me.", "I paid Maria."),
    ("I met Tom in Rome.", "In Rome I met Tom.", "I met Tom."),
    ("I like my coffee with milk.", "Milk in my coffee is what I like.", "I don't like my coffee with milk."),
    ("We meet at noon.", "Noon is when we meet.", "We meet."),
    ("I play tennis with Anna.", "Anna and I play tennis.", "I play tennis with Anna on Sundays."),
    ("I lend money to Paul.", "Paul lends me money.", "I lend money to Paul."),
    ("I always lock the door.", "I sometimes lock the door.", "I always lock the door."),
    ("The backup runs daily.", "The backup runs hourly.", "The backup runs daily."),
    ("The left knee hurts.", "The right knee hurts.", "The left knee hurts."),
    ("I support the new plan.", "I oppose the new plan.", "I support the new plan."),
    ("My mother is a doctor.", "My mother was a doctor.", "My mother is a doctor."),
    ("My aunt sends me postcards.", "I send postcards to my aunt.", "My aunt sends me postcards."),
    ("Klaus is trained by me.", "Klaus trains me.", "Klaus trains me."),
    ("I forgive Eva.", "Eva forgives me.", "Eva forgives me."),
    ("The dog fears the cat.", "The cat fears the dog.", "The dog fears the cat."),
    ("I'd like to own a boat.", "I own a boat.", "I own a boat."),
    ("I wish to retire early.", "I retired early.", "I retired early."),
    ("I'm planning to study law.", "I study law.", "I study law."),
    ("I dream of living in Japan.", "I live in Japan.", "I live in Japan."),
    ("I can't focus with people around.", "I focus well with people around.", "I focus well with people around."),
    ("Noise doesn't distract me at all.", "Noise distracts me at work.", "Noise distracts me."),
    ("I sleep well on trains.", "I don't sleep well on trains.", "I sleep well on trains."),
    ("I sleep badly on trains.", "I sleep well on trains.", "I sleep well on trains."),
    ("I rarely drink wine.", "I never drink wine.", "I never drink wine."),
    ("I skip breakfast.", "I usually skip breakfast.", "I skip breakfast."),
    ("I sometimes bake.", "I rarely bake at home.", "I sometimes bake."),
    ("I like cats better than dogs.", "Dogs are what I like better than cats.", "I like cats better than dogs."),
    ("I drink coffee when I'm tired.", "I'm tired when I drink coffee.", "I drink coffee when I'm tired."),
    ("If it rains I cycle.", "If I cycle it rains.", "If it rains I cycle."),
    (
        "I get headaches from screens on 2 days a week.",
        "Screens give me headaches 3 days a week.",
        "Screens give me headaches 2 days a week.",
    ),
    ("I worked with Jonas.", "I work with Jonas.", "I work with Jonas."),
    ("I find it easy to read maps.", "I find it hard to read maps.", "I find it easy to read maps."),
    ("I avoid the motorway.", "I take the motorway.", "I take the motorway."),
)
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


@pytest.mark.requirement("R-111", "S-041")
@pytest.mark.parametrize(("first", "second", "written"), SAME)
def test_everyday_pairs_of_one_meaning_pass(first: str, second: str, written: str) -> None:
    assert not propose(first, second, written).refused


@pytest.mark.requirement("D-016", "S-043")
@pytest.mark.parametrize(("first", "second", "written"), APART)
def test_a_wish_an_exchange_of_roles_or_another_sense_is_refused(first: str, second: str, written: str) -> None:
    ruling = propose(first, second, written)
    assert (ruling.verdicts, [one.ids for one in ruling.refused]) == ((), [("m1-abcde1", "m2-abcde1")])


def propose(first: str, second: str, written: str) -> ParsedAnswer:
    """Return the checked answer of a model that merges two sentences into a text."""
    operation = {"op": "replace", "target": "e1", "with": ["e2"], "kind": "same", "text": written}
    return parse_answer(json.dumps({"operations": [operation]}), [member(first), member(second, 2)])
