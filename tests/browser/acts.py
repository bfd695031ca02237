"""What a person does on every page: presses a button, reads the line that tells what happened, and undoes it."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from .seeds import Seeds

Act = Callable[[Page, Seeds], None]


def see_note(page: Page, words: str | re.Pattern[str]) -> None:
    expect(page.locator(".note")).to_contain_text(words)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def undo(page: Page) -> None:
    """Take back what the note tells of."""
    page.locator(".note").get_by_role("button", name="Undo").click()
    see_note(page, "Undone")


def press_first(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).first.click()
