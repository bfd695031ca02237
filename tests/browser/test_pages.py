"""Every page in a real browser: accessible in both themes, narrow and zoomed, and readable without a script."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page

from credenda.interfaces.web.routes import PAGES

from .addresses import ADDRESSES
from .rig import ROOT, THEMES, Server, browse, find_overflow, find_violations, serve
from .screenshots import HEIGHT, MISPLACED, PROMISED, WIDTH, list_pages, read_window

Theme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def window(browser: Browser, server: Server) -> Iterator[Page]:
    """A window that all tests of this module share; at its end no request has left the host."""
    with browse(browser, server.url) as (page, _):
        yield page


def show(page: Page, name: str, *, lang: str = "en") -> None:
    address = ADDRESSES[name](page)
    response = page.goto(f"{address}{'&' if '?' in address else '?'}lang={lang}")
    assert response is not None
    assert response.status == 200, page.inner_text("main")


def test_every_page_has_an_address_here() -> None:
    assert {page.name for page in PAGES} == set(ADDRESSES)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ADDRESSES)
def test_axe_finds_no_violation_at_aa(window: Page, name: str, theme: Theme) -> None:
    window.set_viewport_size({"width": 1280, "height": 900})
    window.emulate_media(color_scheme=theme)
    show(window, name)
    window.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert find_violations(window) == []


@pytest.mark.parametrize("name", ADDRESSES)
def test_nothing_scrolls_sideways_on_a_narrow_screen_or_at_twice_the_size(window: Page, name: str) -> None:
    window.set_viewport_size({"width": 320, "height": 640})
    show(window, name, lang="de")
    assert find_overflow(window) == ""
    window.set_viewport_size({"width": 640, "height": 450})  # 1280 by 900 at 200 %
    assert find_overflow(window) == ""


@pytest.mark.parametrize("name", ["memories", "entities", "retention", "consolidation", "jobs", "connect"])
def test_a_page_is_readable_without_a_script(browser: Browser, server: Server, window: Page, name: str) -> None:
    show(window, name)
    with browse(browser, server.url, java_script_enabled=False) as (page, _):
        page.goto(ADDRESSES[name](page))
        assert page.title() == window.title()
        assert page.locator("main").inner_text().count("\n") > 5


def test_each_picture_of_the_readme_shows_what_its_caption_says(browser: Browser, demo: Path, tmp_path: Path) -> None:
    copy = tmp_path / "memory.db"
    shutil.copy(demo, copy)
    size: Any = {"width": WIDTH, "height": HEIGHT}
    with serve(copy, tmp_path, "--no-workers") as server, browse(browser, server.url, viewport=size) as (page, _):
        addresses = list_pages(page)
        assert addresses.keys() == PROMISED.keys() == {one.stem for one in (ROOT / "docs" / "images").glob("*.webp")}
        for name, address in addresses.items():
            page.goto(address)
            shown = read_window(page)
            assert [words for words in PROMISED[name] if words not in shown] == [], name
            assert [words for words in MISPLACED if words in shown] == [], name


def test_the_foot_of_a_page_names_the_zone_of_its_times(browser: Browser, server: Server) -> None:
    with browse(browser, server.url, timezone_id="Asia/Tokyo") as (page, _):
        page.goto("/inbox")
        assert "UTC+09:00" in page.locator("main time").first.inner_text()
        assert "Times in Asia/Tokyo" in page.locator("footer").inner_text()
    with browse(browser, server.url, java_script_enabled=False) as (page, _):
        page.goto("/inbox")
        assert "Times in UTC" in page.locator("footer").inner_text()


@pytest.mark.long_browser
@pytest.mark.parametrize("lang", ["en", "de"])
@pytest.mark.parametrize("width", [320, 480, 800, 1280, 1920])
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ADDRESSES)
def test_every_page_at_every_width_in_every_language(  # noqa: PLR0917 - the table of all of them
    window: Page, name: str, theme: Theme, width: int, lang: str
) -> None:
    window.set_viewport_size({"width": width, "height": 900})
    window.emulate_media(color_scheme=theme)
    show(window, name, lang=lang)
    assert window.locator("html").get_attribute("lang") == lang
    assert find_violations(window) == []
    assert find_overflow(window) == ""
