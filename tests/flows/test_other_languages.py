"""Messages in other languages: read by a model that a package of its own brings, and kept as messages without it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.providers.tagger import TaggingReader

PACKAGE = Path(__file__).parents[2] / "packages" / "credenda-multilingual" / "src"


@pytest.fixture
def multilingual(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the model of other languages, as `pip install ./packages/credenda-multilingual` does."""
    monkeypatch.setattr(sys, "path", [str(PACKAGE), *sys.path])
    yield
    sys.modules.pop("credenda_multilingual", None)


def hold(folder: Path, *messages: str) -> set[tuple[str | None, str | None]]:
    with Credenda.open(folder / "memory.db", user="ana", workers=False) as memory:
        for message in messages:
            memory.remember(message)
        memory.settle()
        return {(one.attribute, one.value) for one in memory.list(status="active", limit=20).items}


@pytest.mark.usefixtures("multilingual")
@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("Ich wohne seit Mai in Linz und arbeite als Krankenpfleger.", ("residence", "Linz")),
        ("Ich wohne seit Mai in Linz und arbeite als Krankenpfleger.", ("job_title", "Krankenpfleger")),
        ("Ich spiele jeden Dienstag Handball.", ("sport", "Handball")),
        ("Ma femme s'appelle Sabine et son anniversaire est le 14 septembre.", ("partner", "Sabine")),
        ("Eu moro em Lisboa e tenho dois gatos.", ("pet", "gatos")),
        ("Mi hermana se llama Lola y vive en Cádiz.", ("residence", "Cádiz")),
    ],
)
def test_a_message_in_another_language_gives_beliefs(tmp_path: Path, said: str, held: tuple[str, str]) -> None:
    assert held in hold(tmp_path, said)


@pytest.mark.usefixtures("multilingual")
@pytest.mark.parametrize(
    "said",
    [
        "Danke, das hilft mir sehr!",
        "bin seit gestern nicht mehr vegan",
        "Stell dir vor, ich wäre Pilot.",
        "J'aimerais bien aller au Japon un jour.",
        "Er sagt, er wohnt in Köln.",
        "Schreib mir eine Mail an die Bank.",
    ],
)
def test_what_a_message_in_another_language_does_not_state_is_not_held(tmp_path: Path, said: str) -> None:
    assert hold(tmp_path, said) == set()


@pytest.mark.usefixtures("multilingual")
def test_what_changed_in_another_language_is_carried_out(tmp_path: Path) -> None:
    held = hold(tmp_path, "Ich arbeite bei Bosch.", "Ich habe gekündigt und bin jetzt bei Siemens.")
    assert {value for attribute, value in held if attribute == "employer"} == {"Siemens"}


@pytest.mark.usefixtures("multilingual")
def test_english_is_read_by_its_own_model(tmp_path: Path) -> None:
    assert ("residence", "Graz") in hold(tmp_path, "I live in Graz.")
    assert TaggingReader().reader_id == "reader-en-6 reader-multi-1"


def test_without_the_package_a_message_in_another_language_is_found_by_its_words(tmp_path: Path) -> None:
    assert hold(tmp_path, "Nele isst seit Neuestem kein Fleisch mehr.") == set()
    with Credenda.open(tmp_path / "memory.db", user="ana") as memory:
        assert memory.search("Was isst Nele?").hits[0].quote == "Nele isst seit Neuestem kein Fleisch mehr."
        assert not TaggingReader().reads("Nele isst seit Neuestem kein Fleisch mehr.")
