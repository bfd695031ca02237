"""Whole flows: by keyboard alone, beside a running job, with a login, in another language, and with two editors."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from .acts import press, see_note
from .rig import Server, browse, serve
from .seeds import Seeds, sow

_TABS = 150
_LOADS = 300


@pytest.fixture(scope="module")
def seeds(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Seeds]:
    path = tmp_path_factory.mktemp("flows") / "memory.db"
    shutil.copy(demo, path)
    return path, sow(path)


@pytest.fixture(scope="module")
def site(seeds: tuple[Path, Seeds], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(seeds[0], tmp_path_factory.mktemp("log")) as server:
        yield server


@pytest.fixture
def window(browser: Browser, site: Server) -> Iterator[Page]:
    with browse(browser, site.url) as (page, _):
        yield page


def tab_to(page: Page, words: str) -> None:
    """Press Tab until an element with this name has the focus; fails if none gets it."""
    for _ in range(_TABS):
        page.keyboard.press("Tab")
        name = page.evaluate(
            "() => (document.activeElement.ariaLabel || document.activeElement.innerText || '').trim()"
        )
        if re.fullmatch(words, str(name), re.DOTALL):
            return
    raise AssertionError(f"no Tab leads to {words}")


def test_a_memory_is_found_forgotten_and_brought_back_by_keyboard_alone(window: Page) -> None:
    window.goto("/")
    tab_to(window, "Skip to the content")
    window.keyboard.press("Enter")
    expect(window.locator("main")).to_be_focused()
    window.keyboard.press("/")
    window.keyboard.type("forget lamp")
    window.keyboard.press("Enter")
    window.wait_for_url("**/memories?q=*")
    tab_to(window, "(?!Choose).*green.*")
    window.keyboard.press("Enter")
    window.wait_for_url("**/memory/*")
    tab_to(window, "Forget")
    window.keyboard.press("Enter")
    see_note(window, "Forgotten")
    tab_to(window, "Undo")
    outline = window.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    window.keyboard.press("Enter")
    see_note(window, "Undone")


def test_a_job_is_followed_after_a_reload_and_shows_its_end(window: Page, seeds: tuple[Path, Seeds]) -> None:
    address = f"/job/{seeds[1].jobs['waiting']}"
    window.goto(address)
    expect(window.locator("[data-job]")).to_be_visible()
    window.reload()
    expect(window.locator("[data-job]")).to_be_visible()
    other = window.context.new_page()
    other.goto(address)
    press(other, "Cancel")
    expect(window.locator("h1")).to_contain_text("cancelled")
    expect(window.locator("[data-job]")).to_have_count(0)


def test_the_later_of_two_editors_sees_both_versions(browser: Browser, site: Server, seeds: tuple[Path, Seeds]) -> None:
    with browse(browser, site.url) as (page, watch):
        edit_twice(page, seeds)
        assert [one for one in watch.spoken if "412" not in one] == []
        watch.spoken.clear()  # the browser reports the status


def see_record(window: Page, words: str) -> None:
    """Load the audit until it has the record of an earlier call, which is written a moment after its answer."""
    for _ in range(_LOADS):
        window.goto("/audit?check=yes")
        if words in window.locator("main").inner_text():
            return
    raise AssertionError(f"no record of {words}")


def edit_twice(window: Page, seeds: tuple[Path, Seeds]) -> None:
    address = f"/memory/{seeds[1].memories['correct']}"
    window.goto(address)
    other = window.context.new_page()
    other.goto(address)
    press(other, "Pin")
    see_note(other, "Pin changed")
    window.get_by_text("Correct …").click()
    window.get_by_label("The right value").fill("white")
    with window.expect_response("**/correct") as answered:
        press(window, "Correct")
    assert answered.value.status == 412
    expect(window.locator("main")).to_contain_text("What is there now")
    expect(window.locator("main")).to_contain_text("white")


def test_the_language_is_chosen_and_kept(window: Page) -> None:
    window.goto("/retention")
    window.get_by_role("contentinfo").get_by_role("link", name="Deutsch").click()
    expect(window.locator("h1")).to_have_text("Behalten")
    window.goto("/entities")
    expect(window.locator("html")).to_have_attribute("lang", "de")
    window.get_by_role("contentinfo").get_by_role("link", name="English").click()


def test_a_server_with_tokens_lets_a_person_in_by_a_link_and_shows_who_called(
    browser: Browser, demo: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "memory.db"
    shutil.copy(demo, copy)
    with serve(copy, tmp_path, "--auth", "token") as server, browse(browser, server.url) as (page, _):
        page.goto(server.find_login())
        page.get_by_role("button").first.click()
        page.goto("/connect")
        expect(page.locator("h1")).to_have_text("Connect")
        cookies = [dict(one) for one in page.context.cookies()]
        session = [(one["httpOnly"], one["sameSite"]) for one in cookies if one["name"] == "credenda"]
        assert session == [(True, "Lax")]
        see_record(page, "connect")
        expect(page.locator("main")).to_contain_text("The chain holds.")
        page.request.get("/v1/stats", headers={"Authorization": "Bearer wrong"})
