"""Hostile texts are texts on every page, and no page takes long for them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page

from .addresses import ADDRESSES
from .hostile import MARK, fill
from .rig import Server, browse, serve

_FEW: Final = 60
_MANY: Final = 10_000
_BOUND_MS: Final = 300.0
_ROUNDS: Final = 3
_INERT: Final = f"""() => ({{
    ran: window.{MARK} !== undefined,
    scripts: [...document.scripts].filter(one => !one.src || new URL(one.src).origin !== location.origin).length,
    handlers: [...document.querySelectorAll('*')].filter(
        one => one.getAttributeNames().some(name => name.startsWith('on') || name === 'style')).length,
    frames: document.querySelectorAll('iframe, object, embed, base').length,
    links: [...document.querySelectorAll('a[href], form[action], [formaction], img[src]')].filter(one => {{
        const target = ['href', 'action', 'formaction', 'src'].map(name => one.getAttribute(name)).find(Boolean) ?? '';
        return new URL(target, location.href).origin !== location.origin;
    }}).length,
}})"""


def make_server(folder: Path, count: int) -> Iterator[Server]:
    database = folder / "memory.db"
    fill(database, count)
    with serve(database, folder, "--access-log", "--no-workers") as server:
        yield server


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from make_server(tmp_path_factory.mktemp("few"), _FEW)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from make_server(tmp_path_factory.mktemp("many"), _MANY)


def check_inert(page: Page, name: str) -> None:
    """Load a page, touch what can be touched, and look for anything that a text has become."""
    response = page.goto(ADDRESSES[name](page))
    assert response is not None
    assert response.status == 200, page.inner_text("body")[:500]
    assert len(response.body()) < 2_000_000
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    page.mouse.move(600, 400)
    found = page.evaluate(_INERT)
    assert found == {"ran": False, "scripts": 0, "handlers": 0, "frames": 0, "links": 0}, name


def read_milliseconds(server: Server) -> dict[str, list[float]]:
    """Return what each route took, by the log of the server."""
    times: dict[str, list[float]] = {}
    for line in server.log.read_text("utf-8").splitlines():
        if line.startswith("{"):
            entry = json.loads(line)
            times.setdefault(entry["route"], []).append(entry["ms"])
    return times


@pytest.mark.parametrize("name", ADDRESSES)
def test_hostile_text_stays_text(browser: Browser, few: Server, name: str) -> None:
    with browse(browser, few.url) as (page, _):
        check_inert(page, name)


def check_time(browser: Browser, server: Server) -> dict[str, float]:
    """Load each page a few times; return the median on the server's clock by route, without twins and files."""
    with browse(browser, server.url) as (page, _):
        for name in ADDRESSES:
            address = ADDRESSES[name](page)
            for _ in range(_ROUNDS):
                page.goto(address)
    medians = {route: statistics.median(times) for route, times in read_milliseconds(server).items()}
    return {route: ms for route, ms in medians.items() if not route.startswith(("/static", "/v1"))}


def test_pages_of_a_hostile_store_take_less_than_the_bound(browser: Browser, few: Server) -> None:
    slow = {route: ms for route, ms in check_time(browser, few).items() if ms >= _BOUND_MS}
    assert slow == {}


@pytest.mark.long_browser
@pytest.mark.timeout(1_800)
def test_ten_thousand_hostile_memories_are_inert_and_quick(browser: Browser, many: Server) -> None:
    with browse(browser, many.url) as (page, _):
        for name in ADDRESSES:
            check_inert(page, name)
    slow = {route: ms for route, ms in check_time(browser, many).items() if ms >= _BOUND_MS}
    assert slow == {}
