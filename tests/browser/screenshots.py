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

__all__ = ["main"]

_FOLDER: Final = ROOT / "docs" / "images"
_WIDE: Final = 1_280
_HIGH: Final = 800
_QUALITY: Final = 80
_BYTES_MAX: Final = 150_000


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


def take(page: Page, path: Path) -> None:
    """Write what the window shows as WebP, which Playwright itself does not offer."""
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
            serve(database, folder, user="noemi") as server,
            launch() as browser,
            browse(browser, server.url, viewport={"width": _WIDE, "height": _HIGH}) as (page, _),
        ):
            for name, address in list_pages(page).items():
                page.goto(address)
                take(page, _FOLDER / f"{name}.webp")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
