"""General frames, spoken sentences, and what keeps the talk of the moment out of them."""

import pytest

from credenda.model.claim import UpdateKind
from credenda.model.memory import MemoryType, Stance

from .build import hear, only, slots

STATED = [
    ("I look after my aunt on Sundays.", "does"),
    ("I coach a rowing crew on Saturdays.", "does"),
    ("I only have one lung.", "has"),
    ("I can't swim.", "can"),
    ("I failed my bar exam in spring.", "event"),
    ("Our signing keys rotate every 30 days.", "rotates"),
    ("We have depots in Riga and Tartu.", "has"),
    ("I'm the youngest of five.", "family_status"),
    ("I'm on a waiting list for a kidney.", "situation"),
]


@pytest.mark.requirement("R-035", "R-043")
@pytest.mark.parametrize(("text", "attribute"), STATED)
def test_what_fits_no_special_pattern_is_kept_in_a_general_one(text: str, attribute: str) -> None:
    (claim,) = hear(text)
    assert (claim.attribute, claim.stance in {Stance.ASSERTED, Stance.NEGATED}) == (attribute, True)


@pytest.mark.requirement("R-038", "R-039", "R-043", "R-053")
@pytest.mark.parametrize(
    "text",
    [
        "I just woke up.",
        "I can't find my keys.",
        "I've attached the file.",
        "My code doesn't compile.",
        "I ran the script and got an error.",
        "My back hurts today.",
        "I have no idea.",
        "We need to fix this bug.",
        "The views must be amazing!",
        "Must be a unique experience.",
        "Taking breaks is important.",
        'The lyrics go "I live in a yellow submarine".',
        "I have a quick question.",
    ],
)
def test_the_talk_and_the_moment_fit_no_general_frame(text: str) -> None:
    assert hear(text) == []


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("so um I work as a uh pharmacist", ("user", "job_title", "pharmacist")),
        ("My husband he works like electrician.", ("user's husband", "job_title", "electrician")),
        ("my daughter she's she's eight", ("user's daughter", "age", "eight")),
        ("i moved to austin", ("user", "residence", "austin")),
        ("I reinstalled my laptop, it runs Arch.", ("laptop", "operating_system", "Arch")),
        ("Since I'm allergic to bees, should I carry an EpiPen?", ("user", "allergy", "bees")),
        ("As a vegetarian, what can I eat in Peru?", ("user", "diet", "vegetarian")),
        ("Dad turned seventy last week.", ("user's father", "age", "seventy")),
        ("My friend Jo works at Nokia.", ("user's friend Jo", "employer", "Nokia")),
        ("Our accountant Lou moved to Bern.", ("user's accountant", "residence", "Bern")),
    ],
)
def test_spoken_and_hasty_sentences_are_understood(text: str, slot: tuple[str, str, str]) -> None:
    assert slot in slots(hear(text))


@pytest.mark.requirement("R-040", "R-042")
@pytest.mark.parametrize(
    "text",
    [
        "Had I studied law, I'd be rich.",
        "If I would be president, I would give free bread to all.",
        "I could have been a pianist.",
        "In an alternate universe I'm an astronaut.",
        "Imagine we deployed to fifty regions.",
        "I'm practically a doctor after all these episodes.",
        "You be the judge and I'm the lawyer.",
    ],
)
def test_suppositions_of_every_form_stay_faint(text: str) -> None:
    claim = only(text)
    assert (claim.confidence <= 0.3, claim.attribute) == (True, None)


@pytest.mark.requirement("R-036", "R-040")
@pytest.mark.parametrize("text", ["Maybe I'll switch to decaf.", "perhaps we will get a second dog"])
def test_a_decision_with_maybe_is_none(text: str) -> None:
    claim = only(text)
    assert (claim.type, claim.stance, claim.confidence <= 0.5) == (MemoryType.FACT, Stance.CONSIDERED, True)


@pytest.mark.requirement("R-037")
@pytest.mark.parametrize(
    ("text", "value"), [("I sold the Golf.", "Golf"), ("Lea and I broke up.", "Lea"), ("I gave up tennis.", "tennis")]
)
def test_an_ending_may_name_the_value_alone(text: str, value: str) -> None:
    claim = only(text)
    assert (claim.move, claim.attribute, claim.value) == (UpdateKind.END, None, value)


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("Answer in German from now on.", "language"),
        ("Give me detailed answers.", "length"),
        ("For long reports, use formal language.", "long reports"),
    ],
)
def test_an_instruction_says_what_it_is_about(text: str, scope: str) -> None:
    claim = only(text)
    assert (claim.attribute, claim.scope) == ("instruction", scope)


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Ich bin Lehrerin.", MemoryType.FACT, "Lehrerin"),
        ("Meine Frau heißt Anna.", MemoryType.FACT, "Anna"),
        ("J'adore le jazz.", MemoryType.PREFERENCE, "jazz"),
        ("Tengo dos hermanas.", MemoryType.FACT, "dos hermanas"),
        ("Não como carne.", MemoryType.PREFERENCE, "carne"),
    ],
)
def test_the_common_patterns_of_four_other_languages(text: str, kind: MemoryType, value: str) -> None:
    claim = only(text)
    assert (claim.type, claim.value) == (kind, value)
