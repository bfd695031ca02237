"""Every page in German over the demo: each fixed phrase is in the catalogue, and words of memories stay as they are."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from importlib import resources
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import pytest

from credenda import Credenda
from credenda.interfaces.web import languages
from credenda.interfaces.web.registry import PAGES
from credenda.model.attributes import load_attributes
from credenda.model.statement import name_attribute, write_statement
from credenda.model.wordings import load_wordings
from credenda.testing import ManualClock

from .pages import Person, memory_of, run_in_background, serving_pages
from .served import Site

_OPEN, _CLOSE = "⟦", "⟧"
_PLACE: Final = re.compile(r"\{[a-z]+[0-9]?\}")
_MARKED: Final = re.compile(f"{_OPEN}[^{_OPEN}{_CLOSE}]*(?:{_CLOSE}|…)")
_PARTS: Final = re.compile(r"\x00|[:·–…]|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ID: Final = re.compile(r"\b[a-z]?[0-9]+-[0-9a-f]{6}\b")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_SPOKEN: Final = frozenset({"aria-label", "placeholder", "title", "alt", "data-done"})
_QUOTED: Final = frozenset({"bdi.words", "pre", "code", "style", "script", "textarea"})
"""Elements that hold words of a person, of a program, or for a program."""
_VOID: Final = frozenset({"input", "meta", "link", "br", "img", "hr"})
_NAMES: Final = frozenset(
    {"Credenda", "JSON", "UTC", "English", "Deutsch", "MB", "ms", "MCP", "REST", "A2A", "SEQ", "HASH"}
    | {"Claude", "Code", "claude", "ai", "ChatGPT", "Cursor", "VS", "Codex"}
)
"""Names that are the same in every language."""
_QUERIES: Final = (
    "/",
    "/agent?prompt=Where+do+I+live%3F",
    "/agent?show=yes&budget=120",
    "/inbox",
    "/memories?status=all",
    "/memories?q=Portland&status=all",
    "/memories?since=2025-01-01",
    "/memories?q=nothingofthekind",
    "/search?q=where+do+I+live&profile=default&profile=recall",
    "/sessions",
    "/session?session=demo%2Fs13",
    "/session?session=demo%2Fs13&revoke=ask",
    "/entities",
    "/entities?name=user",
    "/code",
    "/retention?half_life_days=90",
    "/consolidation",
    "/consolidation?job=CONSOLIDATE",
    "/job/DREAM",
    "/jobs",
    "/jobs?state=dead",
    "/data",
    "/connect",
    "/audit?check=yes",
)


class _Reader(HTMLParser):
    """Collects what a reader sees or hears, apart from words of persons and programs."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._stack: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.texts += [value for name, value in given.items() if name in _SPOKEN]
        if tag in _VOID:
            return
        names = {tag, *(f"{tag}.{one}" for one in given.get("class", "").split())}
        is_quoted = bool(names & _QUOTED) or "mono" in given.get("class", "").split() or given.get("lang") == "en"
        self._stack.append((tag, is_quoted and "told" not in given.get("class", "")))

    def handle_endtag(self, tag: str) -> None:
        while self._stack and self._stack.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(quoted for _, quoted in self._stack) and data.strip():
            self.texts.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with the demo, consolidated and dreamed once; nothing in these tests changes it."""
    folder: Path = tmp_path_factory.mktemp("german")
    with serving_pages(folder, ManualClock("2026-03-01T09:00:00Z"), tokens=False) as site:
        with (
            as_file(files("credenda") / "data" / "demo_conversation.jsonl") as conversation,
            memory_of(site, site.parts.user_id) as memory,
        ):
            memory.data.import_(conversation, format="conversation")
            memory.settle(60)
            memory.manage.consolidate(force=True)
            memory.manage.dream()
        for operation in ("consolidate", "dream"):
            run_in_background(site, operation, site.parts.user_id)
        yield site


@pytest.fixture
def marks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Mark every text of the catalogue where it is shown."""

    def mark(known: Mapping[str, str]) -> Mapping[str, str]:
        return {
            english: _OPEN + _PLACE.sub(lambda one: f"{_CLOSE}{one[0]}{_OPEN}", text) + _CLOSE
            for english, text in known.items()
        }

    messages, phrases = mark(languages.load_messages("de")), mark(languages.load_phrases("de"))

    def load_messages(_: str) -> Mapping[str, str]:
        return messages

    def load_phrases(_: str) -> Mapping[str, str]:
        return phrases

    monkeypatch.setattr(languages, "load_messages", load_messages)
    monkeypatch.setattr(languages, "load_phrases", load_phrases)
    languages.load_patterns.cache_clear()
    yield
    languages.load_patterns.cache_clear()


def find_quotes(memory: Credenda) -> set[str]:
    """Return every text that comes from what was said: it may stand in a phrase, and is in no catalogue."""
    quotes: set[str] = {memory.user}
    for status in (None, "superseded", "merged", "forgotten", "candidate"):
        cursor: str | None = None
        while True:
            page = memory.list(status=status, limit=50, cursor=cursor)
            for one in page.items:
                given = (one.text, one.statement, one.value, one.entity, one.attribute, one.scope, one.source_session)
                quotes |= {text for text in given if text}
                quotes |= {write_statement(one, memory.zone, language="de"), name_attribute(one.attribute or "", "de")}
            cursor = page.next_cursor
            if cursor is None:
                break
    return quotes


def find_untranslated(html: str, quotes: set[str]) -> list[str]:
    """Return the texts of a page that are neither of the catalogue nor a quote."""
    reader = _Reader()
    reader.feed(html)
    known = {_squeeze(_ID.sub("", one)) for one in quotes}
    found: list[str] = []
    for text in reader.texts:
        left = _ID.sub("", _MARKED.sub("\x00", text))
        if not _is_quote(_squeeze(left), known) and any(
            _has_words(piece) and not _is_quote(_squeeze(piece), known) for piece in _PARTS.split(left)
        ):
            found.append(text.strip()[:160])
    return found


def _has_words(piece: str) -> bool:
    return any(one not in _NAMES for one in _WORD.findall(piece))


def _is_quote(plain: str, known: set[str]) -> bool:
    """Return whether a piece is a quote, or a part of one that is no mere word."""
    return plain in known or (len(plain) > len("word") and any(plain in one for one in known))


def _squeeze(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().casefold()


@pytest.mark.parametrize("address", _QUERIES)
@pytest.mark.usefixtures("marks")
def test_every_fixed_phrase_of_a_page_is_german(site: Site, address: str) -> None:
    with memory_of(site, site.parts.user_id) as memory:
        quotes = find_quotes(memory)
        jobs = {(one.operation or "").upper(): one.id for one in memory.jobs.list(kind="call").items}
    for name, job_id in jobs.items():
        address = address.replace(name, job_id)
    page = Person(site, log_in=False).get(address, **{"Accept-Language": "de"})
    assert page.status_code == 200
    assert find_untranslated(page.text, quotes) == []


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/memories?status=all",
        "/memories?q=Portland",
        "/entities",
        "/entities?name=user",
        "/search?q=Where+do+I+live",
    ],
)
def test_a_german_page_names_attributes_and_owners_in_german(site: Site, address: str) -> None:
    page = Person(site, log_in=False).get(address, **{"Accept-Language": "de"})
    shown = re.sub(r"<blockquote.*?</blockquote>|“[^”]*”|„[^“]*“|<[^>]+>", " ", page.text)
    assert "Wohnort" in shown
    keys = re.compile(r"\b(?:employer|residence|spoken language|job title|as of|until|user's)\b")
    assert keys.findall(shown) == []


def test_a_german_page_writes_quotes_and_decimals_in_german(site: Site) -> None:
    page = Person(site, log_in=False).get("/search?q=Where+do+I+work%3F", **{"Accept-Language": "de"}).text
    shown = re.sub(r"<[^>]+>", "", page)
    assert "Arbeitgeber: Ferrowind, gesagt am 2025-03-28" in shown
    assert "„My sister Carla works at Lumenthorp.“" in shown
    assert re.findall(r"\b\d\.\d{3}\b", shown) == []
    preview = Person(site, log_in=False).get("/agent?show=yes", **{"Accept-Language": "de"}).text
    assert "es gehört zum Kern: immer" in re.sub(r"<[^>]+>", "", preview)


@pytest.mark.parametrize("language", [one for one in languages.LANGUAGES if one != languages.ENGLISH])
def test_every_attribute_has_a_wording(language: str) -> None:
    wordings = load_wordings()[language]
    rows = resources.files("credenda.write.facts").joinpath("attributes.toml").read_text("utf-8")
    of_readers = {row.get("as", name) for name, row in tomllib.loads(rows).items()} - {"default"}
    assert (set(load_attributes()) | of_readers) - set(wordings["names"]) - set(wordings["verbs"]) == set()


def test_every_page_of_the_menu_is_read_in_german() -> None:
    paths = {one.partition("?")[0] for one in _QUERIES if "?job=" not in one}
    assert {one.path for one in PAGES if one.group} <= paths


@pytest.mark.parametrize(
    "address",
    [
        "/memory/m99-000000",
        "/nowhere",
        "/undo",
        "/job/j99-000000",
        "/session?session=nobody",
        "/agent?prompt=x&budget=many",
        "/retention?half_life_days=many",
    ],
)
@pytest.mark.usefixtures("marks")
def test_an_error_of_a_page_is_german(site: Site, address: str) -> None:
    page = Person(site, log_in=False).get(address, **{"Accept-Language": "de"})
    assert page.status_code in {404, 422}
    assert find_untranslated(page.text, {"nobody", "half_life_days", "budget"}) == []


def test_the_key_of_the_curves_names_each_with_its_half_life(site: Site) -> None:
    page = Person(site, log_in=False).get("/retention?half_life_days=90", **{"Accept-Language": "de"}).text
    key = re.findall(r'<text[^>]*class="label"[^>]*>([^<]+)', page)
    assert "dann: schnell, dann immer langsamer, 90 T" in key
    assert [one for one in key if not one.endswith(" T")] == []
