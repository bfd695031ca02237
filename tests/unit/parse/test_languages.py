"""The parser reads English alone; what the rules find in another language stands as it is."""

from __future__ import annotations

import pytest

from credenda.model.claim import Turn
from credenda.model.event import Event, Role
from credenda.write.extract.noteworthy import is_hardly_english
from credenda.write.extract.rules import RulesExtractor
from credenda.write.parse.extractor import ParsingExtractor

from .test_clauses import PARSER, read, slots

FOREIGN = [
    "Ich habe eine Nussallergie.",
    "Ich wohne in Wien und habe zwei Kinder.",
    "Trabajo en Siemens y vivo en Lima.",
    "Je suis allergique au gluten.",
    "Ik heb een notenallergie.",
]


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize("text", FOREIGN)
def test_the_parser_reads_no_other_language(text: str) -> None:
    assert is_hardly_english(text)
    assert read(text) == []


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize("text", FOREIGN)
def test_claims_of_the_rules_in_another_language_stand(text: str) -> None:
    turn = Turn(event=Event(text=text, role=Role.USER, speaker="user", occurred_us=0, id="e1", recorded_us=0))
    rules = RulesExtractor()
    assert ParsingExtractor(PARSER, rules).extract(turn) == rules.extract(turn)


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize("text", ["Ivo lives in Lugano", "Moved to Klosters.", "I live in Wien near the Naschmarkt."])
def test_foreign_names_make_no_other_language(text: str) -> None:
    assert not is_hardly_english(text)


@pytest.mark.requirement("R-035")
def test_a_sentence_in_another_language_hides_none_beside_it() -> None:
    assert ("user", "residence", "Graz") in slots(read("Ich habe eine Nussallergie. I live in Graz."))


@pytest.mark.requirement("R-037")
@pytest.mark.parametrize(("text", "ends"), [("I sell falafel.", False), ("I sold my car.", True)])
def test_only_what_is_done_ends_a_possession(text: str, *, ends: bool) -> None:
    assert any(one.attribute == "owns" for one in read(text)) is ends
