"""Likes, choices, habits, and what is said the same way in other words."""

import pytest

from credenda.model.memory import MemoryType, Stance

from .build import hear, only, slot, slots

STATED = [
    ("I prefer aisle seats.", "seats", "aisle seats"),
    ("I prefer tabs over spaces.", "indentation", "tabs"),
    ("I use light mode.", "theme", "light mode"),
    ("I prefer Elixir.", "favourite_language", "Elixir"),
    ("I prefer working from home.", "prefers", "working from home"),
    ("I'd rather get bad news by email.", "prefers", "get bad news by email"),
    ("My favourite season is autumn.", "favourite_season", "autumn"),
    ("My favorite colour is teal.", "favourite_colour", "teal"),
    ("Dark roast is my favourite coffee.", "favourite_coffee", "Dark roast"),
    ("My go-to editor is Helix.", "favourite_editor", "Helix"),
    ("I love hiking.", "likes", "hiking"),
    ("I'm a huge fan of jazz.", "likes", "jazz"),
    ("I hate long meetings.", "dislikes", "long meetings"),
    ("I can't stand cilantro.", "dislikes", "cilantro"),
    ("I drink oat milk every morning.", "drinks", "oat milk"),
    ("I take my coffee black.", "coffee", "black"),
    ("I avoid dairy.", "avoids", "dairy"),
    ("I use Emacs.", "editor", "Emacs"),
    ("I always take the stairs.", "habit", "take the stairs"),
    ("I tend to work late at night.", "habit", "work late at night"),
    ("I usually read before bed.", "habit", "read before bed"),
    ("I'd prefer to get reviews by email.", "prefers", "get reviews by email"),
    ("I'd much rather text than talk.", "prefers", "text than talk"),
    ("I'm a tea drinker.", "trait", "tea drinker"),
    ("I want short answers.", "answers", "short answers"),
    ("I find tabs easier to read than spaces.", "opinion", "find tabs easier to read than spaces"),
]


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize(("text", "attribute", "value"), STATED)
def test_a_stated_preference_is_stored(text: str, attribute: str, value: str) -> None:
    claim = only(text)
    assert (claim.type, claim.entity, claim.attribute, claim.value) == (
        MemoryType.PREFERENCE,
        "user",
        attribute,
        value,
    )
    assert claim.confidence >= 0.8


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(
    "same",
    [
        ("I like Rust best.", "Rust is the language I like best.", "My favourite language is Rust."),
        ("The language I like best is Rust.", "Rust is my favourite language.", "I like Rust the most."),
        ("I prefer evening meetings.", "I prefer meetings in the evening."),
        ("I use high contrast.", "I prefer high contrast.", "I always use high contrast."),
        ("My cat is called Tom.", "I have a cat named Tom.", "My cat's name is Tom."),
        ("We release on Fridays.", "Releases happen on Fridays."),
        ("I live in Split.", "I'm based in Split.", "My city is Split.", "As I said, I live in Split."),
    ],
)
def test_the_same_in_other_words_is_the_same_slot_and_value(same: tuple[str, ...]) -> None:
    assert len({slot(text) for text in same}) == 1


@pytest.mark.requirement("R-054")
@pytest.mark.parametrize(
    "text", ["I always use light mode.", "I prefer aisle seats.", "My favourite season is autumn.", "I never eat pork."]
)
def test_an_explicit_preference_is_in_the_top_band(text: str) -> None:
    assert 0.8 <= only(text).importance <= 1.0


@pytest.mark.requirement("R-055")
@pytest.mark.parametrize("text", ["I work at Initech.", "I like jazz.", "I live in Porto.", "Our CI runs on Jenkins."])
def test_a_fact_told_in_one_session_is_in_the_middle_band(text: str) -> None:
    assert 0.5 <= only(text).importance < 0.8


@pytest.mark.requirement("R-056")
@pytest.mark.parametrize("text", ["I visited Lyon last week.", "I used to live in Rome."])
def test_what_is_mentioned_in_passing_is_in_the_low_band(text: str) -> None:
    assert 0.2 <= only(text).importance < 0.5


@pytest.mark.requirement("R-032")
def test_an_allergy_is_nearly_sure() -> None:
    assert only("I have a walnut allergy.").confidence == 0.9


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I don't drink alcohol.", "drinks", "alcohol"),
        ("I never eat meat.", "eats", "meat"),
        ("I don't like spicy food.", "likes", "spicy food"),
        ("I'm not a morning person.", "trait", "morning person"),
        ("I don't have a car.", "owns", "car"),
    ],
)
def test_a_negated_statement_is_kept_as_negated(text: str, attribute: str, value: str) -> None:
    claim = only(text)
    assert (claim.stance, claim.attribute, claim.value) == (Stance.NEGATED, attribute, value)


@pytest.mark.requirement("R-032")
@pytest.mark.parametrize("text", ["I think I'm allergic to wool.", "Maybe I'm lactose intolerant."])
def test_a_hedge_lowers_confidence(text: str) -> None:
    assert only(text).confidence <= 0.5


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("I prefer brief notes in chat.", "chat"),
        ("I use Svelte for the front end.", "front end"),
        ("For Python, I prefer black.", "python"),
        ("At work I use Vim.", "work"),
        ("I use Vim at work.", "work"),
        ("I work from home on Fridays.", "fridays"),
        ("On Fridays I work from home.", "fridays"),
        ("I use Notion for consulting.", "consulting"),
        ("I use Teams at the new job.", "new job"),
        ("We use Postgres in production.", "production"),
        ("I prefer tea in the evening.", "evening"),
    ],
)
def test_what_narrows_a_value_is_its_scope(text: str, scope: str) -> None:
    assert only(text).scope == scope


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize(
    "text", ["I live in Zagreb.", "I work for Acme.", "I've used Vim for ten years.", "I like coffee for now."]
)
def test_a_place_an_employer_or_a_while_is_no_scope(text: str) -> None:
    assert [claim.scope for claim in hear(text)] in ([None], [])


@pytest.mark.requirement("R-034")
def test_a_taste_for_several_things_is_several_claims() -> None:
    assert slots(hear("I love jazz, chess and long walks.")) == [
        ("user", "likes", "jazz"),
        ("user", "likes", "chess"),
        ("user", "likes", "long walks"),
    ]
