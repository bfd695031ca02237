"""A hostile memory on every page: its text is text, its links lead nowhere, and a large one is as quick as a small."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest

from credenda import MemoryUnit
from credenda.interfaces.web.routes import PAGES
from credenda.testing import ManualClock

from .pages import Person, memory_of, parse, serving_pages
from .served import Site

START = "2026-03-01T09:00:00Z"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>{{ 7919 * 7907 }}{% raw %} \"'><svg onload=alert(3)>"
TEXTS = (
    MARKUP,
    "javascript:alert(1) http://evil.example/?q=<b> [link](http://evil.example)",
    "\u202eabc\u2066 right to left and never closed",
    "a\x0bcontrol\x1b[31m and a lone \u0085",
    "x" * 100_000,
    "word " * 20_000,
    "</textarea></title></bdi></main>",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving_pages(tmp_path_factory.mktemp("site"), ManualClock(START)) as site:
        with memory_of(site) as memory:
            for number, text in enumerate(TEXTS):
                memory.store(
                    MemoryUnit(
                        text=text[:2_000],
                        entity=text[:60],
                        attribute=f"a{number} <b>",
                        value=text[:250],
                        topic="t <i>",
                        scope="<u>",
                        tags=("<s>",),
                        source_session="s <script>",
                    )
                )
                memory.remember(text, session="<script>alert('session')</script>")
            memory.settle(120)
        yield site


def list_addresses(site: Site) -> list[str]:
    with memory_of(site) as memory:
        ids = [one.id for one in memory.list(status=None, limit=50).items]
    return [
        *(one.path for one in PAGES if one.group),
        *(f"/memory/{one}" for one in ids[:9]),
        f"/memory/{ids[0]}/delete",
        "/agent?prompt=%3Cscript%3Ealert%281%29%3C%2Fscript%3E&show=yes",
        "/memories?q=%3Cscript%3E&entity=%22%3E%3Cscript%3E&status=all",
        "/memories?since=2026-02-01",
        f"/memories?do=forget&id={ids[0]}&id={ids[1]}",
        "/search?q=%22%3E%3Cscript%3Ealert%281%29&profile=default",
        "/session?session=%3Cscript%3Ealert%28%27session%27%29%3C%2Fscript%3E",
        "/session?session=%3Cscript%3Ealert%28%27session%27%29%3C%2Fscript%3E&revoke=ask",
    ]


def test_hostile_text_is_inert_on_every_page(site: Site) -> None:
    person = Person(site)
    for address in list_addresses(site):
        response = person.get(address)
        assert response.status_code in {200, 404}, (address, response.text)
        page = parse(response)
        sources = [given["src"] for tag, given in page.tags if tag == "script"]
        assert all(one.startswith("/static/") for one in sources), address
        for tag, given in page.tags:
            assert not [name for name in given if name.startswith("on")], (address, tag)
            assert tag not in {"iframe", "object", "embed", "base", "b", "i", "u", "s"}, address
        assert not [one for one in page.links if not re.match(r"(/(?!/)|[?#])", one)], address
        assert str(7919 * 7907) not in page.text, address  # the template language ran it
        assert not re.search("[\x00-\x08\x0b\x0e-\x1f\x7f]", response.text), address
        assert len(response.content) < 600_000, (address, len(response.content))


def test_text_that_turns_its_direction_is_isolated(site: Site) -> None:
    page = Person(site).get("/memories").text
    for found in re.finditer("\u202e|\u2066", page):
        opened = page.rfind("<bdi", 0, found.start())
        closed = page.rfind("</bdi>", 0, found.start())
        is_attribute = page.rfind("<", 0, found.start()) > page.rfind(">", 0, found.start())
        assert opened > closed or is_attribute, page[found.start() - 200 : found.start()]


def test_a_page_of_a_large_memory_is_quick(tmp_path: Path) -> None:
    with serving_pages(tmp_path, ManualClock(START), settings={"embedder": "none"}) as site:
        with memory_of(site) as memory:
            for number in range(1_000):
                memory.store(MemoryUnit(text=f"{MARKUP} number {number}", entity=f"thing {number}", attribute="is"))
            first = memory.list(limit=1).items[0].id
        person = Person(site)
        for address in ("/", "/memories", "/inbox", "/sessions", f"/memory/{first}", "/memories?entity=thing+7"):
            person.get(address)  # compiles the template
            times: list[float] = []
            for _ in range(3):
                begun = process_time()
                assert person.get(address).status_code == 200
                times.append(process_time() - begun)
            assert min(times) < 0.3, (address, times)
