"""What is said in any language is found: before it was read and after, in memory and on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.index import cache
from credenda.services.search import open_index

SAID = [
    "我每天早上喝绿茶",
    "我妹妹住在上海",
    "毎朝お茶を飲みます",
    "東京でTeslaを買った",
    "여동생은 부산에서 일해요",
    "차를 팔았어요",
    "ฉันแพ้ถั่วลิสง",
    "Der Zahnarzttermin der Müllers ist am Dienstag",
    "Wir haben die Mietverträge unterschrieben",
    "Мы купили новые велосипеды",
    "Мои сёстры живут в Казани",
    "أخي يدرس في الجامعة",
    "הכלב שלי גר בירושלים",
    "Μένω στην Αθήνα με τις αδερφές μου",
    "मैंने दो किताबें खरीदीं",
    "Mes sœurs habitent à l'hôtel",
    "Compramos unas bicicletas eléctricas",
    "I adopted two cats last week",
]
ASKED = [
    ("茶", {"我每天早上喝绿茶", "毎朝お茶を飲みます"}),
    ("妹妹住在哪里", {"我妹妹住在上海"}),
    ("お茶を飲む", {"毎朝お茶を飲みます"}),
    ("Ｔｅｓｌａはどこで買った", {"東京でTeslaを買った"}),
    ("부산에 일하는 사람", {"여동생은 부산에서 일해요"}),
    ("차", {"차를 팔았어요"}),
    ("แพ้ถั่ว", {"ฉันแพ้ถั่วลิสง"}),
    ("Wann hat Müller seinen Zahnarzttermin?", {"Der Zahnarzttermin der Müllers ist am Dienstag"}),
    ("Mietvertrag", {"Wir haben die Mietverträge unterschrieben"}),
    ("новый велосипед", {"Мы купили новые велосипеды"}),
    ("Где живёт моя сестра?", {"Мои сёстры живут в Казани"}),
    ("جامعة", {"أخي يدرس في الجامعة"}),
    ("ירושלים", {"הכלב שלי גר בירושלים"}),
    ("αδερφή", {"Μένω στην Αθήνα με τις αδερφές μου"}),
    ("किताब", {"मैंने दो किताबें खरीदीं"}),
    ("Où habite ma sœur ?", {"Mes sœurs habitent à l'hôtel"}),
    ("bicicleta eléctrica", {"Compramos unas bicicletas eléctricas"}),
    ("Which cat did I adopt?", {"I adopted two cats last week"}),
]


@pytest.fixture
def mem(tmp_path: Path) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False, embedder="none") as opened:
        opened.remember([{"role": "user", "content": text} for text in SAID])
        yield opened


def missed(mem: Credenda) -> list[str]:
    """Ask everything; return the questions whose first answer is none of the right ones."""
    return [
        question for question, right in ASKED if not ((hits := mem.search(question).hits) and hits[0].quote in right)
    ]


@pytest.mark.requirement("D-034")
def test_words_are_found_before_and_after_they_were_read(mem: Credenda) -> None:
    assert missed(mem) == []
    mem.settle()
    assert missed(mem) == []


@pytest.mark.requirement("D-034")
def test_words_are_found_on_disk_where_no_index_fits_in_memory(mem: Credenda, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache.limits, "RESIDENT_DOCUMENTS", 1)
    with mem._parts.store.reader("ana") as reader:  # noqa: SLF001 - that there is no index is the point
        assert open_index(mem._parts, reader) is None  # noqa: SLF001 - as above
    assert missed(mem) == []


def test_a_prompt_of_german_talk_has_german_headings_and_notes(path: Path) -> None:
    with Credenda.open(path, user="jana", workers=False) as mem:
        for said, attribute, value in (
            ("Ich arbeite bei Hellbach.", "employer", "Hellbach"),
            ("Ich arbeite jetzt bei Orlamar.", "employer", "Orlamar"),
            ("Ich wohne in Wels.", "residence", "Wels"),
        ):
            claim = {"quote": said, "entity": "user", "attribute": attribute, "value": value}
            mem.remember(said, claims=[claim])
        mem.settle(60)
        block = mem.context("Wo arbeite ich?").text
        assert "\nGilt als wahr:\n" in block
        assert "Arbeitgeber: Orlamar (gesagt am " in block
        assert "; zuvor Hellbach)" in block
        mem.manage.consolidate(force=True)
        texts = [one.text for one in mem.list(attribute="employer").items]
        assert texts == ["Ich arbeite jetzt bei Orlamar (derzeit Orlamar; zuvor Hellbach)."]
        for said in ("I have a cat named Pip.", "I drive a Saab.", "I have a bike.", "My bike is in the shed."):
            mem.remember(said)
        mem.settle(60)
        assert "\nHeld true:\n" in mem.context("Which cat do I have, and which car and bike?").text
