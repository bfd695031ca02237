from __future__ import annotations

import pytest

from credenda.providers import languages
from credenda.providers.languages import find_language


@pytest.mark.parametrize(
    "text",
    [
        "no la croix for me, thanks",
        "vegan, 2 kids, Graz",
        "flat in Ærøskøbing now",
        "my name is María de los Ángeles and I live in La Paz",
        "ok",
        "👍",
        "",
    ],
)
def test_a_text_that_may_be_english_is_read(text: str) -> None:
    assert find_language(text) == "en"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ich wohne in Graz und bin gegen Nüsse allergisch.", "de"),
        ("Nele isst seit Neuestem kein Fleisch mehr.", "de"),
        ("Je suis allergique aux noix et j'habite à Metz.", "fr"),
        ("Vivo en Gijón con mis padres.", "es"),
        ("Eu moro em Aveiro e sou professora.", "pt"),
        ("Ik woon in Gent en mijn zus ook, maar niet bij mij.", "nl"),
        ("Abito a Bari e non mangio carne.", "it"),
        ("Мои сёстры живут в Казани", ""),
        ("ฉันแพ้ถั่วลิสง", ""),
        ("我妹妹住在上海", ""),
    ],
)
def test_a_text_in_another_language_is_not_read_as_if_it_were_english(text: str, language: str) -> None:
    assert find_language(text) == language


@pytest.mark.parametrize("text", ["I live in Linz.", "vegan, two cats", "Moved to Graz for a job at Siemens."])
def test_words_of_no_other_language_leave_no_doubt_and_load_no_library(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(languages, "_load")
    assert find_language(text) == "en"


def test_a_short_answer_is_in_the_language_of_what_it_answers() -> None:
    assert find_language("ja, zwei", "Hast du eigentlich auch Haustiere?") == "de"
    assert find_language("yes, with my two cats", "Hast du eigentlich auch Haustiere?") == "en"
