"""Every page in a real browser: accessible in both themes, narrow and zoomed, and readable without a script."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from credenda.interfaces.web.registry import PAGES

from .addresses import ADDRESSES
from .rig import THEMES, Server, browse, find_overflow, find_violations

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
