"""Searches from end to end over a real store."""

from pathlib import Path
from typing import Literal, cast

import pytest

from credenda.model.memory import Layer, MemoryType, Relation, Stance, Status
from credenda.model.query import HitKind, Profile

from .build import QueryParts, SlotName, World, day, hit_of, names, unit

MEMORIES: frozenset[HitKind] = frozenset({"memory"})
HOME: SlotName = {"entity": "user", "attribute": "residence"}


@pytest.mark.requirement("R-120", "D-002")
def test_nothing_is_returned_only_to_fill_the_list(world: World) -> None:
    tea = world.hold("I drink green tea")
    for text in ("My bike is red", "The launch is on Friday", "I adopted a cat"):
        world.hold(text)
    assert names(world.search("Which tea?")) == [tea]


@pytest.mark.requirement("R-120", "C-020")
@pytest.mark.parametrize("profile", ["default", "recall", "evidence"])
def test_a_question_that_nothing_matches_is_answered_with_nothing(
    world: World, profile: Literal["default", "recall", "evidence"]
) -> None:
    world.hold("I drink green tea")
    found = world.search("What is the capital of France?", profile=profile)
    assert (found.hits, found.abstained) == ((), True)


@pytest.mark.requirement("C-020")
@pytest.mark.parametrize("question", ["", "   ", "is it?", "?!"])
def test_a_question_without_content_abstains(world: World, question: str) -> None:
    world.hold("I drink green tea")
    assert world.search(question).abstained


def test_an_empty_memory_abstains(world: World) -> None:
    assert world.search("Where do I live?").abstained


def test_a_weak_match_is_named_as_a_miss_only_on_request(world: World) -> None:
    name = world.say("Your bike is red", speaker="assistant")
    question = "Does the quarterly review meeting of our finance department concern budgets, forecasts or a bike?"
    assert "misses" not in world.search(question, refuse_below=0.05).trace
    told = world.search(question, explain=True, refuse_below=0.05)
    assert told.abstained
    misses = cast("tuple[tuple[str, float], ...]", told.trace["misses"])
    assert [miss[0] for miss in misses] == [name]


@pytest.mark.requirement("R-128")
@pytest.mark.requirement("C-020")
def test_misses_are_hits_of_an_abstaining_search_where_they_are_included(world: World) -> None:
    name = world.say("Your bike is red", speaker="assistant")
    question = "Does the quarterly review meeting of our finance department concern budgets, forecasts or a bike?"
    refused = world.search(question, refuse_below=0.05)
    assert (refused.hits, [hit.id for hit in refused.nearest]) == ((), [name])
    found = world.search(question, include=frozenset({"misses"}), refuse_below=0.05)
    assert found.abstained
    assert names(found) == [name]
    assert found.hits[0].score < 0.2


@pytest.mark.requirement("C-020")
def test_advice_about_a_slot_that_holds_nothing_is_not_refused_for_that(world: World) -> None:
    world.say("My resume should be minimalist, with clear headings")
    assert not world.search("How should I design my resume?").abstained


@pytest.mark.requirement("C-020")
def test_a_name_that_a_memory_tells_finds_it_whatever_else_is_said(world: World) -> None:
    held = world.hold("Deploys with Helm charts", entity="kubernetes", attribute="known as", value="k8s, kube")
    for at in range(20):
        world.say(f"The rollout of release {at} waits for the review of the dashboards")
    found = world.search("While the rollout of the release waits for reviews, what about kube and the dashboards?")
    assert names(found)[0] == held
    assert found.hits[0].score > 0.5


def test_a_replaced_memory_is_not_found_and_its_words_come_flagged_after_the_current_value(world: World) -> None:
    graz = world.say("I live in Graz")
    old = world.hold("I live in Graz", event=graz, value="Graz", **HOME)
    new = world.hold("I live in Linz", at=1, value="Linz", **HOME)
    world.supersede(old, new)
    found = world.search("Do I live in Graz?")
    assert names(found) == [new, graz]
    assert hit_of(found, graz).flags == {"superseded"}
    assert hit_of(found, graz).score < 0.7 * hit_of(found, new).score
    assert hit_of(found, new).flags == frozenset()
    asked = world.search("Do I live in Graz?", include=frozenset({"superseded"}))
    assert names(asked) == [new, old]
    assert hit_of(asked, old).flags == {"superseded"}


def test_the_current_value_is_shown_even_where_only_the_old_words_match(world: World) -> None:
    graz = world.say("My flat near the castle hill is lovely")
    old = world.hold("My flat near the castle hill is lovely", event=graz, **HOME)
    new = world.hold("I moved to Linz", at=1, **HOME)
    world.supersede(old, new)
    assert names(world.search("the castle hill")) == [new, graz]


def test_a_memory_stands_for_its_event_and_carries_it_as_evidence(world: World) -> None:
    source = world.say("Hello! I live in Linz.")
    home = world.hold("I live in Linz", event=source)
    (hit,) = world.search("Where do I live?").hits
    assert hit.id == home
    assert [event.id for event in hit.evidence] == [source]


def test_a_slot_is_found_without_a_common_word(world: World) -> None:
    home = world.hold("Linz has been good to me", value="Linz", **HOME)
    for at in range(5):
        world.hold(f"I read book number {at}")
    found = world.search("Where do I live?")
    assert names(found) == [home]
    assert found.hits[0].score > 0.5


@pytest.mark.requirement("R-062", "R-013", "D-004")
def test_an_unsure_memory_is_out_and_last_where_asked_for(world: World) -> None:
    said = world.say("I'm actually a doctor, so walk me through it")
    unsure = world.hold(
        "I'm actually a doctor, so walk me through it",
        event=said,
        confidence=0.3,
        stance=Stance.ROLE_PLAY,
        attribute="job_title",
        entity="user",
    )
    (event,) = world.search("Am I a doctor?").hits
    assert (event.id, event.memory, event.flags) == (said, None, {"low_confidence"})
    asked = frozenset({"low_confidence"})
    assert names(world.search("Am I a doctor?", include=asked)) == [unsure]
    sure = world.hold("My doctor is Mrs Huber", at=1)
    found = world.search("Am I a doctor?", include=asked)
    assert names(found) == [sure, unsure]
    assert hit_of(found, unsure).flags == {"low_confidence"}


def test_what_was_forgotten_comes_back_by_no_way(world: World) -> None:
    said = world.say("I like tea. My secret garden is in Graz.")
    tea = world.hold("I like tea", event=said)
    garden = world.hold("My secret garden is in Graz", event=said)
    world.forget(garden)
    (hit,) = world.search("secret garden tea").hits
    assert hit.id == tea
    assert "garden" not in hit.evidence[0].text
    world.forget(tea)
    assert world.search("secret garden tea").abstained


def test_flags_tell_of_contests_and_challenges(world: World) -> None:
    early = world.hold("I prefer morning meetings", value="morning", entity="user", attribute="meetings")
    late = world.hold("I prefer afternoon meetings", at=1, value="afternoon", entity="user", attribute="meetings")
    world.contest([early, late], ["morning", "afternoon"], "When?")
    found = world.search("When do I prefer meetings?")
    assert {hit.id for hit in found.hits} == {early, late}
    assert all(hit.flags == {"contested"} for hit in found.hits)
    world.alter(early, contested=False, status=Status.CHALLENGED)
    assert hit_of(world.search("morning meetings"), early).flags == {"challenged"}


@pytest.mark.requirement("E-006", "E-007", "E-008", "E-009", "E-010")
def test_modes_recall_facts_rules_or_everything(world: World) -> None:
    fact = world.hold("The deploy server runs Linux")
    rule = world.hold("Always run the checks before a deploy", type=MemoryType.PROCEDURE)
    story = world.hold("Session of April: the deploy took all day", type=MemoryType.NARRATIVE)
    raw = world.say("We talked about the deploy")
    assert set(names(world.search("deploy", mode="facts_only"))) == {fact}
    assert set(names(world.search("deploy", mode="facts_plus_rules"))) == {fact, rule}
    assert set(names(world.search("deploy"))) == {fact, rule, story, raw}


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({"kinds": frozenset({"event"})}, {"raw"}),
        ({"kinds": frozenset({"memory"})}, {"work", "home"}),
        ({"types": frozenset({MemoryType.DECISION})}, {"work"}),
        ({"layers": frozenset({Layer.EPISODIC})}, {"home"}),
        ({"topic": "work"}, {"work"}),
        ({"tags": frozenset({"a"})}, {"work"}),
        ({"metadata": {"k": 1}}, {"home"}),
        ({"session": "s1"}, {"raw"}),
        ({"exclude_session": "s1"}, {"work", "home"}),
        ({"min_confidence": 0.85, "kinds": frozenset({"memory"})}, {"home"}),
    ],
)
def test_conditions_choose_among_the_hits(world: World, query: QueryParts, wanted: set[str]) -> None:
    made = {
        "raw": world.say("a note on tea", session="s1"),
        "work": world.hold("tea for the team", type=MemoryType.DECISION, topic="work", tags=("a", "b")),
        "home": world.hold("tea at home", layer=Layer.EPISODIC, metadata={"k": 1}, confidence=0.9),
    }
    found = set(names(world.search("tea", **query)))
    sources = {name for name in found if name not in made.values()}
    assert found - sources == {made[name] for name in wanted}
    assert "session" not in query or not sources


@pytest.mark.requirement("S-066")
def test_a_topic_is_a_condition_only_where_it_is_asked(world: World) -> None:
    both = {world.hold("deploy to AWS on Fridays", topic="work"), world.hold("AWS bill is due", topic="home")}
    assert set(names(world.search("AWS"))) == both


@pytest.mark.requirement("D-003")
def test_an_old_memory_is_found_behind_hundreds_of_newer_ones(world: World) -> None:
    rare = world.hold("My locker code hangs behind the violet painting", at=-400)

    for at in range(150):
        world.say(f"Note {at}: the painting class met again", at=at / 100)
    assert names(world.search("violet painting", limit=1)) == [rare]


def test_a_rare_condition_is_met_before_candidates_are_cut(world: World) -> None:
    wanted = world.hold("tea from the garden shed, a long and winding tale", topic="garden")
    for at in range(260):
        world.say(f"tea tea tea {at}", topic="kitchen")
    assert names(world.search("tea", topic="garden", limit=5))[0] == wanted


@pytest.mark.requirement("D-003", "E-007")
def test_every_condition_is_met_before_candidates_are_cut(world: World) -> None:
    """One memory that meets them all, at the end of hundreds that fit the words better and meet none."""
    wanted = world.hold(
        "tea from the garden shed, a long and winding tale of leaves",
        type=MemoryType.PROCEDURE,
        layer=Layer.EPISODIC,
        topic="garden",
        tags=("leaf",),
        metadata={"shelf": 3},
        confidence=0.95,
    )
    for at in range(260):
        world.hold(f"tea tea tea {at}", confidence=0.6, at=1)
    rare: list[QueryParts] = [
        {"types": frozenset({MemoryType.PROCEDURE})},
        {"layers": frozenset({Layer.EPISODIC})},
        {"topic": "garden"},
        {"tags": frozenset({"leaf"})},
        {"metadata": {"shelf": 3}},
        {"min_confidence": 0.9},
        {"as_of_us": day(0.5)},
        {"known_at_us": day(0.5)},
    ]
    profiles: tuple[Profile, ...] = ("default", "recall", "evidence")
    for condition in rare:
        for profile in profiles:
            query: QueryParts = {**condition, "kinds": MEMORIES, "profile": profile, "limit": 5}
            found = world.search("tea", **query)
            assert names(found)[:1] == [wanted], (condition, profile)


def test_session_neighbours_lend_their_words(world: World) -> None:
    world.say("Where did you buy the violin?", session="s", speaker="Ben")
    answer = world.say("At Huber's in Salzburg", session="s", speaker="Ann")
    world.say("Nice weather today", session="t", speaker="Ben")
    assert answer in names(world.search("Where was the violin bought?"))


def test_a_named_speaker_is_preferred_unless_the_words_are_anothers(world: World) -> None:
    hers = world.say("I went hiking on Sunday", speaker="Ann", session="s")
    his = world.say("I went hiking on Sunday", speaker="Ben", session="t")
    assert names(world.search("What did Ann do? hiking"))[0] == hers
    assert names(world.search("What did Ben do? hiking"))[0] == his
    world.say("I love my cello", speaker="Ann", session="u")
    drums = world.say("My marimba lesson was a disaster in front of everyone", speaker="Ben", session="v")
    assert names(world.search("How was the marimba lesson disaster of Ann?"))[0] == drums


def test_a_named_time_finds_what_was_said_then(world: World) -> None:
    world.say("Went to the dentist", at=-30)
    then = world.say("Painted the fence", at=9)
    assert names(world.search("What happened yesterday?", now=10))[:1] == [then]


@pytest.mark.requirement("R-080")
def test_as_of_and_known_at_travel_on_two_axes(world: World) -> None:
    old = world.hold("I live in Graz", value="Graz", valid_from_us=day(0), **HOME)
    new = world.hold("I live in Linz", at=5, value="Linz", valid_from_us=day(5), **HOME)
    world.supersede(old, new, at=5)
    assert names(world.search("Where do I live?", as_of_us=day(2), kinds=MEMORIES)) == [old]
    assert names(world.search("Where do I live?", as_of_us=day(6), kinds=MEMORIES)) == [new]
    then = world.search("Where do I live?", known_at_us=day(2), kinds=MEMORIES)
    assert names(then) == [old]
    assert then.hits[0].memory is not None
    assert then.hits[0].memory.status is Status.ACTIVE


def test_a_correction_is_known_then_but_was_never_true(world: World) -> None:
    wrong = world.hold("My zone is EST", value="EST", valid_from_us=day(0), entity="user", attribute="timezone")
    right = world.hold("My zone is PST", at=3, value="PST", valid_from_us=day(0), entity="user", attribute="timezone")
    world.supersede(wrong, right, at=3, relation=Relation.CORRECTED)
    assert names(world.search("Which zone?", as_of_us=day(1), kinds=MEMORIES)) == [right]
    assert names(world.search("Which zone?", known_at_us=day(1), kinds=MEMORIES)) == [wrong]


def test_deleted_words_are_in_no_time(world: World) -> None:
    gone = world.hold("My secret garden is in Graz")
    world.delete(gone, at=3)
    assert world.search("secret garden", known_at_us=day(1), kinds=MEMORIES).abstained
    assert world.search("secret garden", as_of_us=day(1), kinds=MEMORIES).abstained


def test_vectors_find_what_shares_no_word(world: World) -> None:
    near, far = world.say("Grüner Tee am Morgen"), world.say("The launch is on Friday")
    world.embed({near: unit(1, 1), far: unit(0, 0, 1, 1)})
    found = world.search("beverages", vector=unit(1, 0.9))
    assert names(found) == [near]
    assert found.trace["engines"] == ("words", "vectors")
    assert world.search("beverages", vector=unit(-1, 1, -1, 1, -1)).abstained


def test_an_event_without_a_vector_yet_is_found_by_its_words(world: World) -> None:
    world.embed({world.say("old news"): unit(1, 1)})
    fresh = world.say("I adopted a kitten")
    assert fresh in names(world.search("kitten", vector=unit(0, 1)))


@pytest.mark.requirement("D-024")
def test_the_same_question_gets_the_same_answer(world: World) -> None:
    for at in range(30):
        world.say(f"tea number {at % 3}", session="s")
    first, second = world.search("tea number"), world.search("tea number")
    assert [(hit.id, hit.score) for hit in first.hits] == [(hit.id, hit.score) for hit in second.hits]


def test_a_question_of_marks_and_operators_is_just_words(world: World) -> None:
    name = world.say('C++ AND "rust" NEAR tea*')
    for question in ('tea* AND "rust"?', "NEAR(tea, 2)", "rust' OR 1=1 --"):
        assert names(world.search(question)) == [name]
        assert names(world.search(question, cold=True)) == [name]


def test_every_term_is_named_where_explanation_is_asked_for(world: World) -> None:
    world.hold("I live in Linz", **HOME)
    (plain,) = world.search("Where do I live?").hits
    assert plain.terms == {}
    told = world.search("Where do I live?", explain=True)
    (hit,) = told.hits
    assert {"words", "slot", "importance", "retention", "recency", "coverage", "key"} <= hit.terms.keys()
    assert told.trace["ask"] == "value"


def test_a_tenant_without_an_index_is_searched_on_disk(world: World) -> None:
    home = world.hold("I live in Linz", value="Linz", **HOME)
    gone = world.hold("I live on a boat", at=1)
    world.forget(gone)
    world.say("My bike is red")
    assert names(world.search("Where do I live?", cold=True)) == [home]
    assert world.search("quantum", cold=True).abstained


def test_a_long_event_shows_the_passage_that_was_found(world: World) -> None:
    world.say(
        "Filler about the weather. " * 200 + "The password of the shed is marigold. " + "More filler words. " * 200
    )
    (hit,) = world.search("shed password marigold").hits
    assert "marigold" in hit.quote
    assert hit.event is not None
    assert len(hit.quote) < len(hit.event.text)


def test_one_tenant_never_sees_another(world: World) -> None:
    world.hold("I live in Linz", **HOME)
    other = World(Path(world.store.path), user="Ana")
    assert other.search("Where do I live?").abstained
    other.store.close()


@pytest.mark.requirement("R-112", "R-122")
@pytest.mark.parametrize("limit", [1, 5, 20, 50])
def test_the_limit_holds(world: World, limit: int) -> None:
    for at in range(60):
        world.say(f"tea {at}")
    assert len(world.search("tea", limit=limit).hits) == limit
