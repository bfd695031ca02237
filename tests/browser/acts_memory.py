"""The actions of the pages of memories, questions and sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from playwright.sync_api import Page, expect

from .acts import Act, press, press_first, see_note, undo
from .seeds import SESSION, Seeds


def open_memory(page: Page, seeds: Seeds, name: str) -> None:
    page.goto(f"/memory/{seeds.memories[name]}")


def correct(page: Page, seeds: Seeds) -> None:
    open_memory(page, seeds, "correct")
    page.get_by_text("Correct …").click()
    page.get_by_label("The right value").fill("blue")
    press(page, "Correct")
    expect(page.locator("h1")).to_contain_text("blue")
    see_note(page, "Corrected")
    undo(page)


def forget(page: Page, seeds: Seeds) -> None:
    open_memory(page, seeds, "forget")
    press(page, "Forget")
    see_note(page, "Forgotten")
    undo(page)
    open_memory(page, seeds, "forget")
    expect(page.get_by_role("button", name="Forget", exact=True)).to_be_visible()


def restore(page: Page, seeds: Seeds) -> None:
    open_memory(page, seeds, "restore")
    press(page, "Restore")
    see_note(page, "Restored")


def pin(page: Page, seeds: Seeds) -> None:
    open_memory(page, seeds, "pin")
    press(page, "Pin")
    see_note(page, "Pin changed")
    expect(page.get_by_role("button", name="Unpin")).to_be_visible()


def unpin(page: Page, seeds: Seeds) -> None:
    open_memory(page, seeds, "unpin")
    press(page, "Unpin")
    see_note(page, "Pin changed")


def promote(page: Page, seeds: Seeds) -> None:
    open_memory(page, seeds, "promote")
    press(page, "Promote")
    see_note(page, "Layer changed")


def demote(page: Page, seeds: Seeds) -> None:
    open_memory(page, seeds, "demote")
    press(page, "Demote")
    see_note(page, "Layer changed")


def set_status(page: Page, seeds: Seeds) -> None:
    open_memory(page, seeds, "status")
    press(page, "Archive")
    see_note(page, "Status changed")


def give_feedback(page: Page, seeds: Seeds) -> None:
    open_memory(page, seeds, "feedback")
    press(page, "It was useful")
    see_note(page, "Your feedback is recorded.")


def delete(page: Page, seeds: Seeds) -> None:
    open_memory(page, seeds, "delete")
    page.get_by_role("link", name="Delete …").click()
    expect(page.get_by_role("heading", name="This would be deleted")).to_be_visible()
    press(page, "Delete for good")
    assert page.request.get(f"/v1/memories/{seeds.memories['delete']}").status == 404
    page.goto("/memories?q=delete+lamp&status=all")
    expect(page.locator("main")).not_to_contain_text("The delete lamp is green.")


def undo_by_page(page: Page, seeds: Seeds) -> None:
    open_memory(page, seeds, "undo")
    press(page, "Pin")
    page.locator(".note .close").click()
    page.get_by_role("link", name=re.compile("^Undo this change")).first.click()
    expect(page.get_by_role("heading", name="What would stand again")).to_be_visible()
    press(page, "Undo")
    see_note(page, "Undone")


def answer(page: Page, _: Seeds) -> None:
    page.goto("/inbox")
    contest = page.locator("article.contest").first
    contest.get_by_role("radio").first.check()
    contest.get_by_role("button", name="Answer").click()
    expect(page.locator(".note")).to_be_visible()
    expect(page.get_by_role("heading", name="Answered", exact=True)).to_be_visible()


def accept(page: Page, _: Seeds) -> None:
    page.goto("/inbox")
    press_first(page, "Believe it")
    expect(page.locator(".note")).to_be_visible()
    undo(page)


def reject(page: Page, _: Seeds) -> None:
    page.goto("/inbox")
    press_first(page, "Do not believe it")
    expect(page.locator(".note")).to_be_visible()
    undo(page)


def change_many(page: Page, seeds: Seeds) -> None:
    page.goto("/memories?q=bulk+lamp")
    for name in ("bulk-1", "bulk-2"):
        page.locator(f"input[type=checkbox][value='{seeds.memories[name]}']").check()
    page.locator("select[name=do]").select_option("forget")
    press(page, "Preview")
    expect(page.locator("#preview")).to_contain_text("2")
    press(page, page.locator("select[name=do] option:checked").inner_text())
    see_note(page, "2")
    undo(page)


def revoke_session(page: Page, _: Seeds) -> None:
    page.goto(f"/session?session={SESSION}")
    expect(page.locator("main")).to_contain_text("Piran")
    page.get_by_role("link", name="Revoke this session …").click()
    press(page, "Revoke it")
    expect(page.locator(".note")).to_be_visible()


ACTS: Final[Mapping[tuple[str, str], Act]] = {
    ("inbox", "answer"): answer,
    ("inbox", "accept"): accept,
    ("inbox", "reject"): reject,
    ("memories", "change"): change_many,
    ("session", "revoke"): revoke_session,
    ("memory", "correct"): correct,
    ("memory", "forget"): forget,
    ("memory", "restore"): restore,
    ("memory", "pin"): pin,
    ("memory", "unpin"): unpin,
    ("memory", "promote"): promote,
    ("memory", "demote"): demote,
    ("memory", "status"): set_status,
    ("memory", "feedback"): give_feedback,
    ("deletion", "now"): delete,
    ("undo", "now"): undo_by_page,
}
