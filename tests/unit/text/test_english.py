from __future__ import annotations

import pytest

from credenda.text.sentences import is_english


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
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ich wohne in Graz und bin gegen Nüsse allergisch.",
        "Je suis allergique aux noix et j'habite à Metz.",
        "Vivo en Gijón con mis padres.",
        "Eu moro em Aveiro e sou professora.",
        "Ik woon in Gent en mijn zus ook, maar niet bij mij.",
        "Abito a Bari e non mangio carne.",
        "Мои сёстры живут в Казани",
        "ฉันแพ้ถั่วลิสง",
        "我妹妹住在上海",
    ],
)
def test_a_text_in_another_language_is_not_read_as_if_it_were_english(text: str) -> None:
    assert not is_english(text)
