"""Which claims may have their slot: valid values, and things whose owner a sentence names."""

import pytest

from credenda.model.attributes import get_attribute, has_same_kind, is_valid_value, load_attributes
from credenda.model.claim import UpdateKind
from credenda.model.memory import Cardinality
from credenda.write.reconcile.candidate import admit_claim, is_unowned

from .build import claim


@pytest.mark.requirement("R-075")
@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("allergy", "Please let us know"),
        ("allergy", "nuts, which is why I asked"),
        ("residence", "get away from the city"),
        ("residence", "Graz, born"),
        ("residence", "the city"),
        ("employer", "home"),
        ("employer", "my job"),
        ("employer", "Shell. We moved"),
        ("name", "Emilia, nice to meet you Kevin"),
        ("name", "doing well Emily"),
        ("age", "fine"),
        ("age", "240"),
        ("diet", "something I should try"),
        ("medication", "it"),
        ("child", "going to school"),
        ("partner", "really busy"),
        ("residence", "Graz \u041f\u043e\u0436\u0430\u043b\u0443\u0439\u0441\u0442\u0430"),
    ],
)
def test_in_a_slot_that_can_hurt_an_invalid_value_leaves_nothing(attribute: str, value: str) -> None:
    assert get_attribute(attribute).hurts
    assert admit_claim(claim(value, attribute)) is None


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("job_title", "teacher assistant on campus not only provides valuable experience"),
        ("school", "fine"),
        ("date", "nice to let loose every once in a"),
        ("date", "000393-253"),
        ("budget", "too tight"),
        ("parking_spot", "B12?"),
        ("origin", "Los Angeles, born"),
    ],
)
def test_elsewhere_the_sentence_stays_without_a_slot(attribute: str, value: str) -> None:
    said = claim(value, attribute)
    kept = admit_claim(said)
    assert kept is not None
    assert (kept.text, kept.span) == (said.text, said.span)
    assert (kept.entity, kept.attribute, kept.value, kept.confidence) == (None, None, None, 0.5)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("allergy", "penicillin"),
        ("allergy", "grass pollen"),
        ("residence", "Stratford-upon-Avon"),
        ("residence", "the Bronx"),
        ("residence", "Graz, Austria"),
        ("employer", "Kepler Partners"),
        ("name", "Maria de la Cruz"),
        ("name", "momo"),
        ("age", "34 years"),
        ("age", "thirty-four"),
        ("diet", "vegetarian"),
        ("birthday", "--05-03"),
        ("date", "Freitag"),
        ("date", "viernes"),
        ("job_title", "the social media manager of a marketing firm in New York"),
        ("email", "jo@newmail.org"),
        ("spouse", "Anna"),
    ],
)
def test_a_valid_value_keeps_its_slot(attribute: str, value: str) -> None:
    said = claim(value, attribute)
    assert is_valid_value(attribute, value)
    assert admit_claim(said) == said


@pytest.mark.parametrize("move", [UpdateKind.END, UpdateKind.RETRACT])
def test_what_ends_a_value_is_not_a_value(move: UpdateKind) -> None:
    said = claim("Please let us know", "allergy", move=move)
    assert admit_claim(said) == said


@pytest.mark.parametrize(
    ("entity", "attribute", "text", "unowned"),
    [
        ("meeting", "date", "The meeting is on Monday.", True),
        ("reference number", "date", "Sven sold a desk; the reference number was 12.", True),
        ("user", "reference_number", "The reference number is 12.", True),
        ("user", "deadline", "The due date is 1 July.", True),
        ("Treffen", "date", "Das Treffen ist am Dienstag.", True),
        ("f\u00eate", "date", "La f\u00eate est samedi.", True),
        ("meeting", "date", "Our meeting is on Monday.", False),
        ("meeting", "date", "The meeting with Ana is at 3.", False),
        ("grant", "deadline", "They extended the grant deadline to 15 May.", False),
        ("Atlas project", "database", "The Atlas project uses Postgres.", False),
        ("Sven", "desk", "Sven's desk is by the window.", False),
        ("user's sister", "employer", "My sister works at Shell.", False),
        ("user", "employer", "I work at the company Siemens.", False),
        ("user", "deadline", "My deadline is 1 July.", False),
    ],
)
def test_a_definite_noun_without_an_owner_identifies_nothing(
    entity: str, attribute: str, text: str, *, unowned: bool
) -> None:
    assert is_unowned(entity, attribute, "user", text) is unowned


def test_values_of_an_unowned_thing_stand_side_by_side() -> None:
    said = admit_claim(claim("Monday", "date", entity="meeting", text="The meeting is on Monday."))
    assert said is not None
    assert (said.cardinality, said.value) == (Cardinality.SET, "Monday")


def test_words_and_amounts_do_not_replace_each_other() -> None:
    assert has_same_kind("900 euros", "850")
    assert has_same_kind("Bitwarden", "1Password")
    assert not has_same_kind("900 euros", "too high")


def test_every_row_of_the_schema_has_a_validator() -> None:
    for name in load_attributes():
        assert isinstance(is_valid_value(name, "3 May"), bool)
