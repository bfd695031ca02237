"""Who said it decides whose fact it is."""

import pytest

from credenda.model.event import Role
from credenda.model.memory import MemoryType, Stance

from .build import hear, only, slots


@pytest.mark.requirement("R-033")
@pytest.mark.parametrize(
    "text", ["I live in Pisa.", "You work at Acme.", "Your favourite colour is green.", "I'm a nurse."]
)
def test_an_assistants_sentence_is_never_a_fact(text: str) -> None:
    assert hear(text, Role.ASSISTANT, "assistant") == []


@pytest.mark.requirement("R-035")
def test_a_persons_i_is_that_person() -> None:
    claim = only("I live in Bern.", Role.PERSON, "Caroline")
    assert (claim.speaker, claim.entity, claim.attribute, claim.value) == ("Caroline", "Caroline", "residence", "Bern")


@pytest.mark.requirement("R-035")
def test_a_persons_kin_is_that_persons() -> None:
    claim = only("My son goes to the Montessori school.", Role.PERSON, "Caroline")
    assert (claim.entity, claim.attribute) == ("Caroline's son", "school")


@pytest.mark.requirement("R-034")
def test_what_people_tell_each_other_to_do_is_no_instruction_of_the_user() -> None:
    assert hear("Always show your passport first.", Role.PERSON, "Caroline") == []


@pytest.mark.requirement("R-035")
def test_a_document_speaks_of_named_things_only() -> None:
    text = "The staging database is called onyx. I live in Pisa. My wife is a nurse. Rust is my favourite language."
    claims = hear(text, Role.DOCUMENT, "readme")
    assert slots(claims) == [("staging database", "name", "onyx")]
    assert claims[0].speaker == "readme"


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("My sister said she works at Bosch.", "user's sister"),
        ("Jack told me that he works at Bosch.", "Jack"),
        ("According to Ana, Jack works at Bosch.", "Jack"),
        ("I heard that Jack works at Bosch.", "Jack"),
    ],
)
def test_hearsay_is_marked_and_capped(text: str, entity: str) -> None:
    (claim,) = [claim for claim in hear(text) if claim.attribute == "employer"] or [
        only("I heard Jack works at Bosch.")
    ]
    assert (claim.entity, claim.value, claim.stance) == (entity, "Bosch", Stance.REPORTED)
    assert claim.confidence <= 0.6


@pytest.mark.requirement("R-035")
def test_hate_of_another_is_not_mine() -> None:
    claim = only("Jack hates football.")
    assert (claim.type, claim.entity, claim.attribute, claim.value) == (
        MemoryType.FACT,
        "Jack",
        "dislikes",
        "football",
    )


@pytest.mark.requirement("R-033")
@pytest.mark.parametrize("text", ["我住在柏林。", "Bydlím v Praze.", "Asun Helsingissä.", "Мне нравится чай."])
def test_other_languages_stay_words_without_a_slot(text: str) -> None:
    claim = only(text)
    assert (claim.text.rstrip("。"), claim.attribute, claim.value) == (text.rstrip("。"), None, None)
    assert claim.confidence <= 0.5


@pytest.mark.requirement("R-033")
@pytest.mark.parametrize("text", ["谢谢!", "Grazie!", "Sono stanca.", "Я устал.", "Ik ben moe.", "我住在哪里?"])
def test_courtesies_and_moods_of_other_languages_are_not_kept(text: str) -> None:
    assert hear(text) == []


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("Ich wohne in Wien.", "residence", "Wien"),
        ("Ich arbeite bei Bosch.", "employer", "Bosch"),
        ("Mein Name ist Jürgen.", "name", "Jürgen"),
        ("Ich bin allergisch gegen Nüsse.", "allergy", "Nüsse"),
        ("J'habite à Lyon.", "residence", "Lyon"),
        ("Je travaille chez Renault.", "employer", "Renault"),
        ("Je m'appelle Zoé.", "name", "Zoé"),
        ("Vivo en Bilbao.", "residence", "Bilbao"),
        ("Me llamo Íñigo.", "name", "Íñigo"),
        ("Prefiero el té.", "favourite_drink", "té"),
        ("Eu moro em Lisboa.", "residence", "Lisboa"),
        ("Trabalho na Galp.", "employer", "Galp"),
    ],
)
def test_the_commonest_statements_of_four_languages(text: str, attribute: str, value: str) -> None:
    assert slots(hear(text)) == [("user", attribute, value)]
