"""The actions of the pages of upkeep and of the server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, expect

from .acts import Act, press, see_note, undo
from .seeds import Seeds


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
    page.get_by_role("button", name="Run now: Update the core").click()
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


def back_up(page: Page, _: Seeds) -> None:
    page.goto("/data")
    copy = save(page, "Download a backup")
    assert copy.read_bytes().startswith(b"SQLite format 3")


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


ACTS: Final[Mapping[tuple[str, str], Act]] = {
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
    ("data", "backup"): back_up,
    ("data", "hold"): hold_and_lift,
    ("data", "lift"): hold_and_lift,
    ("connect", "create"): create_token,
    ("connect", "revoke"): revoke_token,
    ("audit", "export"): export_audit,
    ("audit", "report"): report_audit,
}
