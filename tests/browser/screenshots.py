"""Make the pictures of five pages for the README: `scripts/screenshots`."""

from __future__ import annotations

import base64
import shutil
import tempfile
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final, cast

from playwright.sync_api import Page

from credenda import Credenda
from tests.waiting import PATIENCE_SECONDS

from .addresses import find_memory
from .rig import ROOT, browse, launch, serve

_FOLDER: Final = ROOT / "docs" / "images"
WIDTH: Final = 1_280
HEIGHT: Final = 800
_QUALITY: Final = 80
_BYTES_MAX: Final = 150_000
PROMISED: Final[Mapping[str, tuple[str, ...]]] = {
    "overview": ("Waiting for your answer", "Which one holds", "job title: platform lead"),
    "agent": ("The exact text", "diet: vegetarian", "Unsettled, ask before relying on it"),
    "inbox": ("Which one holds", "I prefer afternoon meetings.", "I prefer morning meetings.", "Answer"),
    "memory": ("Why it is believed", "I moved to Portland last weekend.", "What it replaced", "Seattle"),
    "entities": ("allergy", "penicillin", "17 November", "How they are related"),
}
"""What each picture shows, as its caption in the README says."""
MISPLACED: Final = ("plumber", "headache", "Nothing waits", "Nothing is remembered", "If I lived", "--11-17")
"""Jokes and passing states of the conversation, and the words of empty pages: on no picture."""


def list_pages(page: Page) -> Mapping[str, str]:
    """Return the address of each picture."""
    replaced = find_memory(page, "I+moved+to+Portland")
    return {
        "overview": "/",
        "agent": "/agent?prompt=Book+me+a+meeting+and+a+vegetarian+lunch+on+Friday",
        "inbox": "/inbox",
        "memory": f"/memory/{replaced['id']}",
        "entities": "/entities?name=user",
    }


def read_window(page: Page) -> str:
    """Return the words that are inside the window."""
    script = """() => {
        const found = [], walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {
            const place = walk.currentNode.parentElement.getBoundingClientRect();
            if (place.height && place.top < innerHeight) found.push(walk.currentNode.data);
        }
        return found.join('');
    }"""
    return " ".join(str(page.evaluate(script)).split())


def take(page: Page, path: Path) -> None:
    """Write what the window shows as WebP, which Playwright itself does not offer; refuse what must not be shown."""
    shown = read_window(page)
    wrong = [one for one in PROMISED[path.stem] if one not in shown] + [one for one in MISPLACED if one in shown]
    if wrong:
        raise ValueError(f"{path.name} lacks, or must not show: {wrong}")
    session = page.context.new_cdp_session(page)
    wanted = {"format": "webp", "quality": _QUALITY}
    found = cast("Mapping[str, str]", session.send("Page.captureScreenshot", wanted))  # pyright: ignore[reportUnknownMemberType] - of the protocol
    data = base64.b64decode(found["data"])
    if len(data) > _BYTES_MAX:
        raise ValueError(f"{path.name} has {len(data):,} bytes, at most {_BYTES_MAX:,}")
    path.write_bytes(data)


def main() -> None:
    """Serve the demo and take the pictures."""
    _FOLDER.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="credenda-pictures-"))
    try:
        database = folder / "memory.db"
        with (
            as_file(files("credenda") / "data" / "demo_conversation.jsonl") as conversation,
            Credenda.open(database, user="noemi", workers=False) as memory,
        ):
            memory.data.import_(conversation, format="conversation")
            memory.settle(PATIENCE_SECONDS)
        with (
            serve(database, folder, "--no-workers", user="noemi") as server,  # no nightly cycle between two pictures
            launch() as browser,
            browse(browser, server.url, viewport={"width": WIDTH, "height": HEIGHT}) as (page, _),
        ):
            for name, address in list_pages(page).items():
                page.goto(address)
                take(page, _FOLDER / f"{name}.webp")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
