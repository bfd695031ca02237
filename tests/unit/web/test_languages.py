"""The texts of the pages: every one of them exists in every language, with the same places for values."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from credenda.interfaces.web.languages import ENGLISH, LANGUAGES, choose_language, load_messages, translate
from credenda.interfaces.web.pages.memory_pages import BULK
from credenda.interfaces.web.pages.question_pages import CLIENTS
from credenda.interfaces.web.render import ASSETS
from credenda.interfaces.web.routes import PAGES
from credenda.interfaces.web.view import NOTES
from credenda.model.browse import DifferenceKind
from credenda.model.change import Actor, ChangeKind
from credenda.model.event import Source
from credenda.model.memory import Layer, MemoryType, Stance, Status

WEB = Path(str(files("credenda.interfaces.web")))
TEXT = r'"((?:[^"\\]|\\.)*)"'
OTHERS = [code for code in LANGUAGES if code != ENGLISH]


def list_texts() -> dict[str, str]:
    """Return every text that a template or a page shows, with where it stands."""
    found: dict[str, str] = {}
    for template in WEB.glob("templates/*.html"):
        source = template.read_text("utf-8")
        found |= dict.fromkeys(re.findall(rf"\bt\({TEXT}[,)]", source), template.name)
        for pair in re.findall(rf"\bcount\([^\"]*?{TEXT}, {TEXT}\)", source):
            found |= dict.fromkeys(pair, template.name)
    for module in WEB.rglob("*.py"):
        found |= dict.fromkeys(re.findall(rf"\.t\({TEXT}[,)]", module.read_text("utf-8")), module.name)
    found |= {one.title: "registry" for one in PAGES}
    found |= dict.fromkeys(NOTES.values(), "notes")
    found |= {one.label: "memories" for one in BULK.values()}
    found |= {one.label: "agent" for one in CLIENTS.values()}
    for words in (Status, MemoryType, Layer, Stance, Source, DifferenceKind):
        found |= {one.value: words.__name__ for one in words}
    found |= {f"change:{one.value}": "log" for one in ChangeKind} | {f"actor:{one.value}": "log" for one in Actor}
    return found


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_translated(language: str) -> None:
    known = load_messages(language)
    missing = {text: place for text, place in list_texts().items() if text not in known}
    assert missing == {}


def test_a_word_of_the_log_has_an_english_text_of_its_own() -> None:
    for one in ChangeKind:
        assert ":" not in translate(ENGLISH, f"change:{one.value}")
    for one in Actor:
        assert ":" not in translate(ENGLISH, f"actor:{one.value}")


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_same_values_and_one_meaning(language: str) -> None:
    seen: dict[str, str] = {}
    for page in (WEB / "messages" / language).glob("*.toml"):
        table: dict[str, Any] = tomllib.loads(page.read_text("utf-8"))
        for text, translated in table.items():
            assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", translated)), text
            assert seen.setdefault(text, translated) == translated, f"{text}: two translations"


@pytest.mark.parametrize(
    ("wanted", "header", "chosen"),
    [
        ("de", "en", "de"),
        ("xx", "de", "de"),
        ("", "", "en"),
        ("", "de;q=0, en", "en"),
        ("", "en;q=0.2, de;q=0.9", "de"),
        ("", "*", "en"),
        ("", "de;q=nonsense", "en"),
        ("", "," * 10_000, "en"),
    ],
)
def test_the_language_is_picked_or_that_of_the_browser(wanted: str, header: str, chosen: str) -> None:
    assert choose_language(wanted, header) == chosen


def test_a_text_without_a_translation_stays_english() -> None:
    assert translate("de", "Nobody has translated {this}", this="that") == "Nobody has translated that"


def test_every_asset_is_a_file_and_every_file_of_ours_an_asset() -> None:
    present = {one.name for one in (WEB / "static").iterdir() if not one.name.endswith(".txt")}
    assert present == set(ASSETS)
