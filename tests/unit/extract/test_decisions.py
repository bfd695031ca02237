"""Decisions, standing instructions and procedures."""

import pytest

from credenda.model.memory import Cardinality, MemoryType

from .build import hear, only

DECISIONS = [
    ("I chose Postgres for the billing service.", "database", "Postgres", "billing service"),
    ("We decided to use Kafka for the event bus.", "message_broker", "Kafka", "event bus"),
    ("I picked Svelte for the dashboard.", "framework", "Svelte", "dashboard"),
    ("We'll go with Terraform.", "infrastructure", "Terraform", None),
    ("Let's go with MariaDB.", "database", "MariaDB", None),
    ("We ended up choosing Hetzner.", "cloud", "Hetzner", None),
    ("We standardised on Ruff.", "linter", "Ruff", None),
]


@pytest.mark.requirement("R-036")
@pytest.mark.parametrize(("text", "attribute", "value", "scope"), DECISIONS)
def test_a_decision_for_a_known_thing_has_its_slot(text: str, attribute: str, value: str, scope: str | None) -> None:
    claim = only(text)
    assert (claim.type, claim.entity) == (MemoryType.DECISION, "user")
    assert (claim.attribute, claim.value, claim.scope) == (attribute, value, scope)
    assert claim.importance >= 0.75


WITHOUT_SLOT = [
    "We agreed that releases happen on Tuesdays.",
    "I've decided to learn Dutch.",
    "I decided against the extended warranty.",
    "It was decided that the office closes at six.",
    "We agreed on a budget of 20,000 euros.",
    "The team voted for a four-day week.",
    "We will not support IE11.",
    "I made up my mind: we're selling the flat.",
    "I've made a decision: we'll rent instead of buying.",
    "I decided I'm going vegan.",
    "The board approved the merger.",
    "Let's go with option B.",
]


@pytest.mark.requirement("R-036", "R-045")
@pytest.mark.parametrize("text", WITHOUT_SLOT)
def test_any_other_decision_is_kept_by_its_words(text: str) -> None:
    claim = only(text)
    assert (claim.type, claim.attribute, claim.text) == (MemoryType.DECISION, None, text)
    assert claim.importance >= 0.75


@pytest.mark.requirement("R-036", "R-045")
@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("We're sticking with the old supplier.", "supplier", "the old supplier"),
        ("We're going with the second supplier.", "supplier", "the second supplier"),
        ("I've settled on the blue wallpaper.", "wallpaper", "the blue wallpaper"),
    ],
)
def test_a_choice_of_one_among_its_kind_says_which_of_the_kind(text: str, kind: str, value: str) -> None:
    claim = only(text)
    assert (claim.type, claim.entity, claim.attribute, claim.value) == (MemoryType.DECISION, "user", kind, value)


@pytest.mark.requirement("R-036")
def test_a_decision_may_name_what_it_beat() -> None:
    claim = only("We decided to go with Postgres over MySQL.")
    assert (claim.value, claim.prior) == ("Postgres", "MySQL")


INSTRUCTIONS = [
    ("Please reply in Spanish.", "reply in Spanish"),
    ("Always show code first.", "show code first"),
    ("From now on, answer in German.", "answer in German"),
    ("Never suggest paid tools.", "Never suggest paid tools"),
    ("Don't use emojis.", "do not use emojis"),
    ("Keep your answers short.", "Keep your answers short"),
    ("Use British spelling, please.", "Use British spelling"),
    ("Show temperatures in Celsius.", "Show temperatures in Celsius"),
    ("Please write commit messages in the imperative mood.", "write commit messages in the imperative mood"),
    ("Be concise.", "Be concise"),
    ("When I ask for code, always add type hints.", "When I ask for code, always add type hints"),
    ("I want you to always cite your sources.", "I want you to always cite your sources"),
    ("Give me the short version first, always.", "Give me the short version first, always"),
    ("Don't call me before noon.", "do not call me before noon"),
    ("I'd like all dates in ISO format.", "I would like all dates in ISO format"),
]


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize(("text", "value"), INSTRUCTIONS)
def test_a_standing_instruction_is_a_preference(text: str, value: str) -> None:
    claim = only(text)
    assert (claim.type, claim.entity, claim.attribute) == (MemoryType.PREFERENCE, "user", "instruction")
    assert (claim.value or "").casefold() == value.casefold()
    assert claim.cardinality is (Cardinality.SINGLE if claim.scope in {"language", "length"} else Cardinality.SET)
    assert claim.importance >= 0.8


@pytest.mark.requirement("R-034")
def test_a_name_to_be_called_by_is_a_preference() -> None:
    claim = only("Please call me Kat.")
    assert (claim.type, claim.attribute, claim.value) == (MemoryType.PREFERENCE, "preferred_name", "Kat")


PROCEDURES = [
    "Always rebase before you open a pull request.",
    "Never deploy on a Friday afternoon.",
    "To reset the router, hold the button for ten seconds.",
    "Before each release, bump the version and tag the commit.",
    "When the queue is stuck, restart the consumer first.",
    "If the tests fail on CI, rerun them once before asking.",
    "First drain the node, then upgrade it, then uncordon it.",
    "Every pull request needs two approvals.",
    "After merging, delete the branch.",
    "We always squash commits before merging.",
    "We never deploy on Fridays.",
    "Make sure to back up the database before every migration.",
    "The way to renew the certificate is to run certbot renew and reload nginx.",
    "Don't ever commit directly to main.",
    "Rotate the keys every 90 days.",
    "Releases must be signed off by QA.",
    "Water the plants on Mondays and Thursdays.",
]


@pytest.mark.requirement("R-033")
@pytest.mark.parametrize("text", PROCEDURES)
def test_how_something_is_done_is_a_procedure(text: str) -> None:
    claim = only(text)
    assert (claim.type, claim.text) == (MemoryType.PROCEDURE, text)
    assert (claim.confidence >= 0.7, claim.importance >= 0.6) == (True, True)


@pytest.mark.requirement("R-045")
def test_a_procedure_with_a_goal_has_the_goal_as_its_slot() -> None:
    claim = only("To reset the router, hold the button for ten seconds.")
    assert (claim.attribute, claim.value) == ("reset_the_router", "hold the button for ten seconds")


@pytest.mark.requirement("R-033")
@pytest.mark.parametrize(
    "text",
    [
        "Use a bigger font here.",
        "Always use this variable name in the function above.",
        "Answer the question above in one word.",
        "To be honest, run it again.",
        "Summarise this text in German.",
    ],
)
def test_a_task_at_hand_is_no_standing_instruction(text: str) -> None:
    assert hear(text) == []
