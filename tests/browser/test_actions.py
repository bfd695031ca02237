"""Every action of every page, done in a real browser as a person does it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from credenda.interfaces.web.registry import PAGES

from .rig import Server, browse, serve
from .seeds import SESSION, Seeds, sow

Act = Callable[[Page, Seeds], None]


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


def see_note(page: Page, words: str | re.Pattern[str]) -> None:
    expect(page.locator(".note")).to_contain_text(words)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def undo(page: Page) -> None:
    """Take back what the note tells of."""
    page.locator(".note").get_by_role("button", name="Undo").click()
    see_note(page, "Undone")


def open_memory(page: Page, seeds: Seeds, name: str) -> None:
    page.goto(f"/memory/{seeds.memories[name]}")


def correct(page: Page, seeds: Seeds) -> None:
    open_memory(page, seeds, "correct")
    page.get_by_text("Correct …").click()
    page.get_by_label("The right value").fill("blue")
    press(page, "Correct")
    expect(page.locator("h1")).to_contain_text("blue")
    see_note(page, "")
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
    expect(page.get_by_role("heading", name="What would be as before")).to_be_visible()
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


def press_first(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).first.click()


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


def check_code(page: Page, _: Seeds) -> None:
    page.goto("/code")
    press(page, "Check now")
    expect(page.locator("#drift")).to_contain_text("drift_roots")


def fade_up(page: Page, seeds: Seeds) -> None:
    move_layer(page, seeds, "fade-up", "Promote")


def fade_down(page: Page, seeds: Seeds) -> None:
    move_layer(page, seeds, "fade-down", "Demote")


def move_layer(page: Page, seeds: Seeds, name: str, button: str) -> None:
    page.goto("/retention?shown=96")
    row = page.locator("li", has=page.locator(f"a[href='/memory/{seeds.memories[name]}']"))
    row.get_by_role("button", name=button).click()
    see_note(page, "Layer changed")
    undo(page)


def consolidate(page: Page, _: Seeds) -> None:
    page.goto("/consolidation")
    card = page.locator("form[action='/consolidation/consolidate']")
    card.get_by_role("button", name="Show what it would do").click()
    expect(page.locator("#report")).to_contain_text("dry run")
    page.reload()
    expect(page.locator("#report")).to_contain_text("dry run")


def dream(page: Page, _: Seeds) -> None:
    page.goto("/consolidation")
    card = page.locator("form[action='/consolidation/dream']")
    card.get_by_role("button", name="Show what it would do").click()
    expect(page.locator("#report")).to_contain_text("dry run")


def retry(page: Page, seeds: Seeds) -> None:
    page.goto(f"/job/{seeds.jobs['cancelled']}")
    press(page, "Replay")
    see_note(page, "Started")
    expect(page.locator("h1")).to_contain_text("complete")


def replay(page: Page, seeds: Seeds) -> None:
    page.goto("/jobs?state=dead")
    expect(page.locator("main")).to_contain_text("it was busy")
    press(page, "Replay all of them")
    see_note(page, "Started")
    page.goto(f"/job/{seeds.jobs['dead']}")
    expect(page.locator("h1")).to_contain_text("complete")


def cancel(page: Page, seeds: Seeds) -> None:
    page.goto("/jobs?state=failed")
    page.get_by_role("button", name=f"Cancel {seeds.jobs['waiting']}").click()
    page.goto(f"/job/{seeds.jobs['waiting']}")
    expect(page.locator("h1")).to_contain_text("cancelled")


def run_task(page: Page, _: Seeds) -> None:
    page.goto("/jobs")
    page.get_by_role("button", name="Run now: core").click()
    see_note(page, "Saved.")


def preview_import(page: Page, _: Seeds) -> None:
    page.goto("/data")
    choose_file(page, "harbours")
    press(page, "Only look")
    expect(page.locator("#imported")).to_contain_text("nothing is stored")
    expect(page.get_by_label("File")).not_to_have_value("")


def import_file(page: Page, _: Seeds) -> None:
    page.goto("/data")
    choose_file(page, "islands")
    press(page, "Import")
    expect(page.locator("#imported")).to_contain_text("Imported.")
    expect(page.locator("#imported")).to_contain_text("2")


def choose_file(page: Page, name: str) -> None:
    turns = [{"id": str(n), "speaker": "user", "text": f"I like {name} number {n}."} for n in range(2)]
    line = {"conv": name, "speakers": ["user"], "sessions": [{"id": name, "time": "2026-01-05", "turns": turns}]}
    body = json.dumps(line).encode()
    page.get_by_label("File").set_input_files({"name": "talk.jsonl", "mimeType": "text/plain", "buffer": body})


def export(page: Page, _: Seeds) -> None:
    page.goto("/data")
    assert save(page, "Download").name.endswith(".jsonl.gz")


def save(page: Page, button: str) -> Path:
    """Press a button that downloads; return the file, under the name that it was given."""
    with page.expect_download() as waiting:
        press(page, button)
    download = waiting.value
    path = Path(download.path()).with_name(download.suggested_filename)
    download.save_as(path)
    assert path.stat().st_size > 0
    return path


def hold_and_lift(page: Page, _: Seeds) -> None:
    page.goto("/data")
    page.get_by_text("Legal hold …").click()
    page.get_by_label("Reason").fill("court order")
    press(page, "Forbid deletion")
    see_note(page, "Saved.")
    expect(page.locator("#erase")).to_contain_text("court order")
    page.get_by_text("Legal hold …").click()
    page.get_by_label("Reason").fill("it is over")
    press(page, "Lift the hold")
    see_note(page, "Saved.")
    expect(page.locator("#erase")).not_to_contain_text("court order")


def create_token(page: Page, _: Seeds) -> None:
    page.goto("/connect")
    open_token_form(page)
    page.get_by_label("What it is for").fill("a browser's token")
    press(page, "Create and show it")
    token = page.locator("#token").inner_text()
    assert token.startswith("credenda_")
    page.goto("/connect")
    expect(page.locator("#tokens")).to_contain_text("a browser's token")
    assert token not in page.content()


def open_token_form(page: Page) -> None:
    fold = page.locator("#tokens details")
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()


def revoke_token(page: Page, _: Seeds) -> None:
    page.goto("/connect")
    open_token_form(page)
    page.get_by_label("What it is for").fill("to be revoked")
    press(page, "Create and show it")
    page.get_by_role("button", name="Revoke: to be revoked").click()
    see_note(page, "Saved.")
    row = page.locator("tr", has_text="to be revoked")
    expect(row).to_contain_text("revoked")


def export_audit(page: Page, _: Seeds) -> None:
    page.goto("/audit")
    with page.expect_response("**/audit/export") as answered:
        press(page, "Records as JSON Lines")
    assert answered.value.status == 200


def report_audit(page: Page, _: Seeds) -> None:
    page.goto("/audit")
    assert save(page, "Report of calls, changes and deletions").suffix == ".jsonl"


ACTIONS: Final[Mapping[tuple[str, str], Act]] = {
    ("inbox", "answer"): answer,
    ("inbox", "accept"): accept,
    ("inbox", "reject"): reject,
    ("memories", "change"): change_many,
    ("session", "revoke"): revoke_session,
    ("code", "check"): check_code,
    ("retention", "promote"): fade_up,
    ("retention", "demote"): fade_down,
    ("consolidation", "consolidate"): consolidate,
    ("consolidation", "dream"): dream,
    ("jobs", "retry"): retry,
    ("jobs", "replay"): replay,
    ("jobs", "cancel"): cancel,
    ("jobs", "run"): run_task,
    ("data", "preview"): preview_import,
    ("data", "import"): import_file,
    ("data", "export"): export,
    ("data", "hold"): hold_and_lift,
    ("data", "lift"): hold_and_lift,
    ("connect", "create"): create_token,
    ("connect", "revoke"): revoke_token,
    ("audit", "export"): export_audit,
    ("audit", "report"): report_audit,
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
_ELSEWHERE: Final = {("data", "erase")}
"""Driven in a test of its own, because nothing is left after it."""


def test_every_action_of_the_registry_is_driven_here() -> None:
    known = {(page.name, action) for page in PAGES for action in page.actions}
    assert known == set(ACTIONS) | _ELSEWHERE


@pytest.mark.parametrize("action", ACTIONS, ids="-".join)
def test_a_person_does_it_in_a_browser(window: Page, site: tuple[Server, Seeds], action: tuple[str, str]) -> None:
    ACTIONS[action](window, site[1])


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
