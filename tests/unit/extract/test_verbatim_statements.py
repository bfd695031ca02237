"""What fits no pattern: plain statements are kept in their own words, wishes as plans, talk not at all."""

import pytest

from credenda.model.memory import MemoryType, Stance

from .build import hear, only

STATEMENTS = [
    ("My mortgage is fixed until 2031.", MemoryType.FACT),
    ("Mr Brown from accounting retires in June.", MemoryType.FACT),
    ("I ended up in advertising.", MemoryType.FACT),
    ("Payment terms are 45 days net.", MemoryType.FACT),
    ("After careful consideration, we have opted for the annual plan.", MemoryType.DECISION),
]

TALK = [
    "I'm in a meeting, back soon.",
    "I can't find my keys.",
    "My tea is getting cold.",
    "I'm about to have lunch.",
    "Working together would be great!",
    "Must be a unique experience.",
    "I'm writing a story about a man who lives in Peru.",
    "Check out my painting for the art show tomorrow!",
]


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(("text", "kind"), STATEMENTS)
def test_a_statement_that_lasts_is_kept_without_a_slot(text: str, kind: MemoryType) -> None:
    claim = only(text)
    assert (claim.type, claim.entity, claim.attribute, claim.value) == (kind, None, None, None)
    assert claim.confidence <= 0.5
    assert claim.text == text


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize("text", TALK)
def test_talk_and_the_moment_are_not_kept(text: str) -> None:
    assert hear(text) == []


@pytest.mark.requirement("R-045")
def test_what_is_told_before_a_question_is_kept() -> None:
    assert only("I'm on a MacBook Air M2, will that be enough?").stance is Stance.ASSERTED
    assert hear("Is there a bus from Linz to Graz, or should I take the train?") == []


def test_long_texts_are_no_statements() -> None:
    assert hear("My mortgage is fixed until 2031. " + "The wall was painted green by the sea. " * 20) == []


@pytest.mark.requirement("R-040", "D-005")
@pytest.mark.parametrize(
    "text", ["I'm tempted to buy a boat.", "We keep talking about getting a second dog.", "thinkin about getting a dog"]
)
def test_a_wish_is_kept_as_a_plan(text: str) -> None:
    claim = only(text)
    assert claim.stance in {Stance.CONSIDERED, Stance.PLANNED}
    assert claim.confidence <= 0.5


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(
    ("text", "entity", "attribute", "value"),
    [
        ("Mon mari travaille chez Airbus.", "user's husband", "employer", "Airbus"),
        ("Meine Schwester wohnt in Kiel.", "user's sister", "residence", "Kiel"),
        ("Mi hermano trabaja en Iberia.", "user's brother", "employer", "Iberia"),
        ("my gf is a vet", "user's girlfriend", "job_title", "vet"),
        ("Ms Oduya has taken over as our account manager.", "user", "account_manager", "Ms Oduya"),
    ],
)
def test_what_others_are_is_theirs(text: str, entity: str, attribute: str, value: str) -> None:
    claim = only(text)
    assert (claim.entity, claim.attribute, claim.value) == (entity, attribute, value)


@pytest.mark.requirement("R-045")
def test_someone_unknown_with_a_job_is_not_the_user() -> None:
    assert all(claim.entity != "user" for claim in hear("My better half is a nurse."))


@pytest.mark.requirement("R-045")
def test_whom_a_question_was_about_is_meant_by_the_next_pronoun() -> None:
    (claim,) = hear("Can you suggest a gift for my wife? She's into pottery.")
    assert (claim.entity, claim.value) == ("user's wife", "pottery")


@pytest.mark.parametrize(
    "text",
    [
        "Last October the violin cost me 256 euros, and I promised to bring photos when we meet in October.",
        "Last summer I cried every time we had to leave.",
        "Work is hard when I am tired.",
        "Train rides make me sick every time.",
        "Next year we meet in Graz when you are back.",
    ],
)
def test_a_statement_that_begins_like_an_order_is_none(text: str) -> None:
    assert all(claim.attribute != "instruction" for claim in hear(text))
