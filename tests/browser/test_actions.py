"""Every action of every page, done in a real browser as a person does it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from credenda.interfaces.web.routes import PAGES

from . import acts_memory, acts_server
from .acts import press
from .rig import Server, browse, serve
from .seeds import Seeds, sow

_ACTS: Final = {**acts_memory.ACTS, **acts_server.ACTS}
_ELSEWHERE: Final = {("data", "erase")}
"""Driven in a test of its own, because nothing is left after it."""


@pytest.fixture(scope="module")
def sown(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Seeds]:
    path = tmp_path_factory.mktemp("sown") / "memory.db"
    shutil.copy(demo, path)
    return path, sow(path)


@pytest.fixture(scope="module")
def site(sown: tuple[Path, Seeds], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Seeds]]:
    """A server with the seeds, which the tests of this module share: each has its own."""
    with serve(sown[0], tmp_path_factory.mktemp("log")) as server:
        yield server, sown[1]


@pytest.fixture
def window(browser: Browser, site: tuple[Server, Seeds]) -> Iterator[Page]:
    with browse(browser, site[0].url, accept_downloads=True) as (page, _):
        yield page


def test_every_action_of_the_registry_is_driven_here() -> None:
    known = {(page.name, action) for page in PAGES for action in page.actions}
    assert known == set(_ACTS) | _ELSEWHERE


@pytest.mark.parametrize("action", _ACTS, ids="-".join)
def test_a_person_does_it_in_a_browser(window: Page, site: tuple[Server, Seeds], action: tuple[str, str]) -> None:
    _ACTS[action](window, site[1])


def test_erasure_needs_the_name_and_gives_a_receipt_once(browser: Browser, demo: Path, tmp_path: Path) -> None:
    copy = tmp_path / "memory.db"
    shutil.copy(demo, copy)
    with serve(copy, tmp_path) as server, browse(browser, server.url) as (page, watch):
        page.goto("/data")
        page.get_by_text("Erase …").click()
        page.get_by_label("Type the name").fill("someone else")
        press(page, "Erase everything for ever")
        expect(page.locator("main")).to_contain_text("What to do:")
        watch.spoken.clear()  # the browser reports the refused form
        page.goto("/data")
        page.get_by_text("Erase …").click()
        page.get_by_label("Type the name").fill("ana")
        press(page, "Erase everything for ever")
        expect(page.locator("main")).to_contain_text("Everything is erased.")
        page.goto("/memories?status=all")
        expect(page.locator("main")).to_contain_text("No memory matches.")
