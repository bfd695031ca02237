"""What a sentence does to what was believed before."""

import pytest

from credenda.model.claim import UpdateKind
from credenda.model.memory import Memory, MemoryType, Stance

from .build import NOON, hear, only, slots

CORRECTIONS = [
    ("No, I use jest not mocha.", "test_framework", "jest", "mocha"),
    ("Actually I'm based in Bergen, not Oslo.", "residence", "Bergen", "Oslo"),
    ("Actually, I work for Bosch, not Siemens.", "employer", "Bosch", "Siemens"),
    ("No, my name is Anna, not Hannah.", "name", "Anna", "Hannah"),
    ("Sorry, my name is Jon with a J.", "name", "Jon", None),
    ("That's wrong, I live in Bonn.", "residence", "Bonn", None),
    ("Correction: I'm 41.", "age", "41", None),
    ("I'm not a doctor but a nurse.", "job_title", "nurse", "doctor"),
    ("I'm not vegan, I'm vegetarian.", "diet", "vegetarian", "vegan"),
    ("I don't live in Rome, I live in Milan.", "residence", "Milan", "Rome"),
    ("No, I don't use Windows, I use Linux.", "operating_system", "Linux", "Windows"),
    ("Actually, I'm a teacher.", "job_title", "teacher", None),
    ("My birthday is in July, not June.", "birthday", "July", "June"),
]


@pytest.mark.requirement("R-037")
@pytest.mark.parametrize(("text", "attribute", "value", "prior"), CORRECTIONS)
def test_a_correction_names_the_value_and_what_was_wrong(
    text: str, attribute: str, value: str, prior: str | None
) -> None:
    claim = only(text)
    assert (claim.move, claim.attribute, claim.value, claim.prior) == (UpdateKind.CORRECT, attribute, value, prior)
    assert (claim.stance, claim.confidence >= 0.8) == (Stance.ASSERTED, True)


@pytest.mark.requirement("R-054")
def test_a_correction_is_in_the_top_band() -> None:
    assert only("Actually I'm based in Bergen, not Oslo.").importance >= 0.8


def held(attribute: str, value: str) -> Memory:
    return Memory(
        id="m1-abc123",
        version=1,
        text=f"I use {value}.",
        type=MemoryType.PREFERENCE,
        entity="user",
        attribute=attribute,
        value=value,
        created_us=NOON,
        recorded_us=NOON,
    )


@pytest.mark.requirement("R-037")
@pytest.mark.parametrize("text", ["It's pnpm, not npm.", "Sorry, I meant pnpm, not npm.", "It's not npm but pnpm."])
def test_a_correction_without_a_slot_takes_that_of_the_corrected_value(text: str) -> None:
    (claim,) = hear(text, known=(held("package_manager", "npm"),))
    assert (claim.attribute, claim.value, claim.prior, claim.move) == (
        "package_manager",
        "pnpm",
        "npm",
        UpdateKind.CORRECT,
    )


@pytest.mark.requirement("R-037")
def test_a_correction_of_something_unknown_keeps_both_values() -> None:
    claim = only("It's pnpm, not npm.")
    assert (claim.attribute, claim.value, claim.prior) == (None, "pnpm", "npm")


CHANGES = [
    ("I left Initech, I'm at Hooli now.", "employer", "Hooli", "Initech"),
    ("I changed jobs, I'm at Zalando now.", "employer", "Zalando", None),
    ("I've moved to Bari.", "residence", "Bari", None),
    ("I moved from Graz to Linz.", "residence", "Linz", "Graz"),
    ("I now prefer Kotlin over Java.", "favourite_language", "Kotlin", "Java"),
    ("I switched from Vim to Helix.", "editor", "Helix", "Vim"),
    ("We've moved from Jira to Linear.", "issue_tracker", "Linear", "Jira"),
    ("We replaced MySQL with Postgres.", "database", "Postgres", "MySQL"),
    ("The audit was moved to Friday.", "date", "Friday", None),
    ("We moved the standup to 10.", "date", "10", None),
    ("I'm based in Split now.", "residence", "Split", None),
    ("I recently started working at Globex.", "employer", "Globex", None),
    ("I stopped drinking coffee, I drink tea.", "drinks", "tea", "coffee"),
    ("I was promoted to team lead.", "job_title", "team lead", None),
    ("I go by Max now.", "preferred_name", "Max", None),
]


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(("text", "attribute", "value", "prior"), CHANGES)
def test_a_change_names_the_new_value(text: str, attribute: str, value: str, prior: str | None) -> None:
    claim = next(claim for claim in hear(text) if claim.attribute == attribute)
    assert (claim.move, claim.value, claim.prior) == (UpdateKind.CHANGE, value, prior)


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I don't eat pork any more.", "eats", "pork"),
        ("I no longer work at Acme.", "employer", "Acme"),
        ("I don't live in Leeds anymore.", "residence", "Leeds"),
        ("I quit smoking.", "smokes", "yes"),
        ("I gave up coffee.", "drinks", "coffee"),
        ("I've stopped using Slack.", "chat_app", "Slack"),
        ("I'm not on the payments team any longer.", "member_of", "the payments team"),
        ("I sold my car.", "owns", "car"),
    ],
)
def test_an_end_names_exactly_what_is_over(text: str, attribute: str, value: str) -> None:
    claim = only(text)
    assert (claim.move, claim.stance, claim.attribute, claim.value) == (
        UpdateKind.END,
        Stance.ASSERTED,
        attribute,
        value,
    )


@pytest.mark.requirement("R-037")
@pytest.mark.parametrize(
    "text", ["Never mind.", "Ignore that.", "Scratch that!", "No wait, forget what I said.", "I take that back."]
)
def test_a_retraction_has_no_slot(text: str) -> None:
    claim = only(text)
    assert (claim.move, claim.entity, claim.attribute, claim.value) == (UpdateKind.RETRACT, None, None, None)


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("I used to live in Rome.", "former_residence"),
        ("I worked at Acme.", "former_employer"),
        ("I used to use Vim.", "former_editor"),
        ("I was a teacher.", "former_job_title"),
    ],
)
def test_what_was_never_takes_the_slot_of_what_is(text: str, attribute: str) -> None:
    assert only(text).attribute == attribute


@pytest.mark.requirement("R-035")
def test_an_end_beside_a_new_fact_of_another_slot_stays_an_end() -> None:
    claims = hear("I no longer work at Acme, I live in Graz.")
    assert [(claim.move, claim.value) for claim in claims] == [(UpdateKind.END, "Acme"), (UpdateKind.STATE, "Graz")]


@pytest.mark.requirement("R-034")
def test_a_denial_beside_another_value_of_a_set_is_not_a_replacement() -> None:
    assert slots(hear("I don't eat fish, I eat chicken.")) == [
        ("user", "eats", "fish"),
        ("user", "eats", "chicken"),
    ]


@pytest.mark.requirement("R-037")
@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("Actually I prefer afternoon meetings now.", UpdateKind.CHANGE),
        ("Actually, I live in Oslo these days.", UpdateKind.CHANGE),
        ("Actually, I live in Oslo.", UpdateKind.CORRECT),
        ("No, I live in Oslo now, not Bergen.", UpdateKind.CORRECT),
    ],
)
def test_what_is_different_now_was_not_wrong_before(text: str, move: UpdateKind) -> None:
    assert only(text).move is move


@pytest.mark.parametrize("company", ["Acme", "Google", "Microsoft", "Bosch", "Amazon"])
def test_leaving_a_company_ends_the_job_there_and_gives_nothing_else(company: str) -> None:
    left = only(f"I left {company}.")
    assert (left.attribute, left.value, left.move) == ("employer", company, UpdateKind.END)
    moved = only(f"I left {company}, I'm at Globex now.")
    assert (moved.attribute, moved.value, moved.prior) == ("employer", "Globex", company)
