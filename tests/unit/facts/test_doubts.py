"""Facts that the words around them speak against make no claim."""

from __future__ import annotations

import pytest

from credenda.model.attributes import is_valid_value
from credenda.model.claim import Fact, FactStatus, UpdateKind, Words
from credenda.text.sentences import split_sentences
from credenda.write.facts.claims import make_claims
from credenda.write.facts.doubts import drop_doubtful

from .test_claims import make_turn, place, show


def find(text: str, value: str, attribute: str, status: FactStatus) -> Fact:
    """Return a fact that quotes the sentence of its value."""
    at = place(text, value)
    quote = next(Words(text[start:stop], start, stop) for start, stop in split_sentences(text) if at.start < stop)
    return Fact(value=at, quote=quote, attribute=attribute, status=status)


def keep(text: str, *facts: tuple[str, str], status: FactStatus = FactStatus.NOW) -> list[str]:
    """Return the values that stay of a message."""
    found = [find(text, value, attribute, status) for value, attribute in facts]
    return [one.value.text for one in drop_doubtful(text, found)]


@pytest.mark.parametrize(
    ("text", "name", "attribute", "over"),
    [
        ("Kate moved to Lyon", "Kate", "sibling", False),
        ("Kate retired in May", "Kate", "partner", False),
        ("Sam left for Oslo", "Sam", "friend", False),
        ("My boss is off sick", "boss", "colleague", False),
        ("Kate quit her job", "Kate", "partner", False),
        ("Anna got a new job in Bath", "Anna", "friend", False),
        ("Kate passed away", "Kate", "sibling", True),
        ("I broke up with Anna", "Anna", "partner", True),
        ("Anna walked out on me", "Anna", "partner", True),
        ("Anna isn't my friend any more", "Anna", "friend", True),
        ("We gave Rex away", "Rex", "pet", True),
        ("Sam moved to Oslo", "Sam", "lives_with", True),
        ("Sam left the company", "Sam", "colleague", True),
        ("Ruth and I got divorced", "Ruth", "partner", True),
    ],
)
def test_only_words_of_an_end_end_a_relation(text: str, name: str, attribute: str, over: bool) -> None:  # noqa: FBT001 - a column of a table
    assert bool(keep(text, (name, attribute), status=FactStatus.ENDED)) is over
    assert keep(text, (name, attribute)) == [name]


def test_a_thing_is_no_relation() -> None:
    assert keep("I cancelled the landline", ("landline", "contact"), status=FactStatus.ENDED) == ["landline"]


@pytest.mark.parametrize(
    ("text", "values", "held"),
    [
        ("I'm allergic to nuts, but almonds are fine", ["nuts", "almonds"], ["nuts"]),
        ("it's actually only prawns, crab is fine", ["prawns", "crab"], ["prawns"]),
        ("I'm allergic to cats, dogs are no problem", ["cats", "dogs"], ["cats"]),
        ("Cow milk is perfectly safe, I'm allergic to soy", ["Cow milk", "soy"], ["soy"]),
        ("I can't have penicillin but amoxicillin is well tolerated", ["penicillin", "amoxicillin"], ["penicillin"]),
        ("I'm fine with cats but allergic to dogs", ["cats", "dogs"], ["dogs"]),
        ("I can eat almonds but not walnuts", ["almonds", "walnuts"], ["walnuts"]),
        ("allergic to shrimps, while crab and lobster are okay", ["shrimps", "crab", "lobster"], ["shrimps"]),
        ("allergic to peanuts but cashews are fine, walnuts too", ["peanuts", "cashews", "walnuts"], ["peanuts"]),
        ("Eggs are fine, I'm allergic to nuts too", ["Eggs", "nuts"], ["nuts"]),
        ("My allergy to cats is no problem these days", ["cats"], ["cats"]),
        ("Almonds are not fine, I'm allergic", ["Almonds"], ["Almonds"]),
        ("I'm allergic to nuts, is that okay?", ["nuts"], ["nuts"]),
        ("ok so I'm allergic to latex", ["latex"], ["latex"]),
        ("It's fine, I'm just allergic to dust", ["dust"], ["dust"]),
        ("I can't eat gluten, rice is fine", ["gluten", "rice"], ["gluten"]),
        ("I can only drink oat milk", ["oat milk"], ["oat milk"]),
    ],
)
def test_what_its_clause_calls_fine_is_no_allergy(text: str, values: list[str], held: list[str]) -> None:
    assert keep(text, *((value, "allergy") for value in values)) == held


def test_an_illness_that_is_fine_at_the_moment_is_held() -> None:
    assert keep("My asthma is fine at the moment", ("asthma", "condition")) == ["asthma"]


@pytest.mark.parametrize(
    ("text", "illness", "other", "held"),
    [
        ("Pickle died on Thursday. kidney failure.", "kidney failure", ("Pickle", "pet"), False),
        ("dad's in hospital. heart attack.", "heart attack", ("dad", "parent"), False),
        ("dad's in hospital. heart attack. high blood pressure too", "high blood pressure", ("dad", "parent"), False),
        ("Poor Tom had a scan. Kidney stones.", "Kidney stones", ("Tom", "friend"), False),
        ("My sister is visiting. Vegetarian.", "Vegetarian", ("sister", "sibling"), False),
        ("My son Leo is poorly. Asthma again.", "Asthma", ("Leo", "child"), False),
        ("I live with Tom. Type 1 diabetes.", "Type 1 diabetes", ("Tom", "lives_with"), True),
        ("My cat is called Pickle. Vegan.", "Vegan", ("Pickle", "pet"), True),
        ("My mum drove me to hospital. Appendicitis.", "Appendicitis", ("mum", "parent"), True),
        ("My sister is a nurse. I have asthma.", "asthma", ("sister", "sibling"), True),
        ("Just got my results. Coeliac disease.", "Coeliac disease", ("results", "experience"), True),
        ("About me: two kids. Allergic to cats.", "cats", ("kids", "child"), True),
    ],
)
def test_a_fragment_after_a_sentence_about_another_is_not_of_the_speaker(
    text: str,
    illness: str,
    other: tuple[str, str],
    held: bool,  # noqa: FBT001 - a column of a table
) -> None:
    assert (illness in keep(text, other, (illness, "condition"))) is held


@pytest.mark.parametrize(
    ("text", "attribute", "names", "held"),
    [
        ("Priya and I have a dog called Bolt", "pet", ["Priya", "Bolt"], ["Bolt"]),
        ("Tom and my sister got a cat, Miso", "pet", ["Tom", "Miso"], ["Miso"]),
        ("Priya has two cats, Max and Jerry", "pet", ["Priya", "Max", "Jerry"], ["Max", "Jerry"]),
        ("Anna and I have a daughter, Mia", "child", ["Anna", "Mia"], ["Mia"]),
        ("Jonas just bought a boat called Wave", "owns", ["Jonas", "Wave"], ["Wave"]),
        ("Priya owns a horse named Star", "pet", ["Priya", "Star"], ["Star"]),
        ("We have two dogs, Priya and Bolt", "pet", ["Priya", "Bolt"], ["Priya", "Bolt"]),
        ("Rex and Bolt are my dogs", "pet", ["Rex", "Bolt"], ["Rex", "Bolt"]),
        ("My dog Rex has fleas", "pet", ["Rex"], ["Rex"]),
        ("My cats are Max and Jerry", "pet", ["Max", "Jerry"], ["Max", "Jerry"]),
        ("Rex got lost. I also have Bolt", "pet", ["Rex", "Bolt"], ["Rex", "Bolt"]),
        ("Mia and Leo have a tutor", "child", ["Mia", "Leo"], ["Mia", "Leo"]),
    ],
)
def test_who_has_a_pet_is_no_pet(text: str, attribute: str, names: list[str], held: list[str]) -> None:
    assert keep(text, *((name, attribute) for name in names)) == held


@pytest.mark.parametrize(
    ("text", "value", "held"),
    [
        ("another Sam I know lives in Hull", "Hull", False),
        ("Sam who I work with lives in Hull", "Hull", False),
        ("the girl we met works at Bupa", "Bupa", False),
        ("I'm a nurse who works at Bupa", "Bupa", True),
        ("User lives in Hull", "Hull", True),
        ("Lives in Hull, likes tea", "Hull", True),
    ],
)
def test_a_home_is_not_of_the_speaker_of_a_clause_within(text: str, value: str, held: bool) -> None:  # noqa: FBT001 - a column of a table
    assert bool(keep(text, (value, "residence"))) is held


def test_facts_in_other_languages_stay() -> None:
    fact = Fact(
        value=Words("Kate", 0, 4),
        quote=Words("Kate ist nach Lyon gezogen", 0, 26),
        attribute="sibling",
        status=FactStatus.ENDED,
        language="de",
    )
    assert drop_doubtful(fact.quote.text, [fact]) == [fact]


@pytest.mark.parametrize(
    ("text", "wrong", "right", "attribute"),
    [
        ("I never worked at Mott MacDonald, I meant Mott Group", "Mott MacDonald", "Mott Group", "employer"),
        ("I never lived in Graz, I meant Linz", "Graz", "Linz", "residence"),
        ("I'm not at Shell, sorry, I meant Shelter", "Shell", "Shelter", "employer"),
    ],
)
def test_a_denial_is_of_the_value_that_another_one_corrects(text: str, wrong: str, right: str, attribute: str) -> None:
    facts = [
        Fact(value=place(text, value), quote=Words(text, 0, len(text)), attribute=attribute, status=status)
        for value, status in ((wrong, FactStatus.DENIED), (right, FactStatus.NOW))
    ]
    (claim,) = make_claims(make_turn(text), facts)
    assert (claim.value, claim.prior, claim.move) == (right, wrong, UpdateKind.CORRECT)
    assert claim.stance == "asserted"


@pytest.mark.parametrize(
    ("text", "value", "attribute", "held"),
    [
        ("Last weekend I tried pottery", "pottery", "hobby", ("experience", "tried pottery")),
        ("we had a go at archery", "archery", "sport", ("experience", "had a go at archery")),
        ("I tried pottery and go every week now", "pottery", "hobby", ("hobby", "pottery")),
        ("I've been trying pottery lately", "pottery", "hobby", ("hobby", "pottery")),
        ("I took up pottery", "pottery", "hobby", ("hobby", "pottery")),
    ],
)
def test_what_was_tried_is_no_hobby(text: str, value: str, attribute: str, held: tuple[str, str]) -> None:
    fact = Fact(value=place(text, value), quote=Words(text, 0, len(text)), attribute=attribute)
    assert [(one.attribute, one.value) for one in make_claims(make_turn(text), [fact])] == [held]


@pytest.mark.parametrize(
    ("text", "subject", "entity"),
    [
        ("Sam from work lives in Hull", "Sam", "Sam from work"),
        ("Sam from the gym lives in Hull", "Sam", "Sam from the gym"),
        ("Sam next door lives in Hull", "Sam", "Sam next door"),
        ("Sam at work lives in Hull", "Sam", "Sam at work"),
        ("Sam my cousin lives in Hull", "Sam", "user's cousin Sam"),
        ("Sam, my boss, lives in Hull", "Sam", "user's boss Sam"),
        ("another Sam lives in Hull", "Sam", "other Sam"),
        ("Sam lives in Hull", "Sam", "Sam"),
        ("from Monday Sam lives in Hull", "Sam", "Sam"),
        ("Sam from today lives in Hull", "Sam", "Sam"),
        ("I told Sam at work she lives in Hull", "Sam", "Sam"),
        ("I lent Sam my book, he lives in Hull", "Sam", "Sam"),
    ],
)
def test_words_that_tell_a_name_from_others_are_part_of_it(text: str, subject: str, entity: str) -> None:
    fact = Fact(value=place(text, "Hull"), quote=Words(text, 0, len(text)), attribute="residence", subject=subject)
    assert show(make_claims(make_turn(text), [fact])) == [(entity, "residence", "Hull", None)]


@pytest.mark.parametrize(
    ("attribute", "value", "valid"),
    [
        ("medication", "1000", False),
        ("medication", "40 mg", False),
        ("medication", "two tablets a day", False),
        ("medication", "500mg twice a day", False),
        ("allergy", "3", False),
        ("condition", "75", False),
        ("diet", "half a dose", False),
        ("medication", "vitamin B12", True),
        ("medication", "metformin 500mg", True),
        ("medication", "40 mg of lisinopril", True),
        ("allergy", "E102", True),
        ("condition", "type 2 diabetes", True),
        ("marital_status", "single", True),
    ],
)
def test_a_bare_dose_is_no_medicine(attribute: str, value: str, valid: bool) -> None:  # noqa: FBT001 - a column of a table
    assert is_valid_value(attribute, value) is valid
    fact = Fact(value=Words(value, 0, len(value)), quote=Words(value, 0, len(value)), attribute=attribute)
    assert valid or make_claims(make_turn(value), [fact]) == []
