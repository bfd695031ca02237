"""A real browser before a real `credenda serve`, and the checks that every page must pass."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Route, expect, sync_playwright

from tests.waiting import PATIENCE_SECONDS, await_that

ROOT = Path(__file__).parents[2]
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
)

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
_ENVIRONMENT = {"CREDENDA_EMBEDDER": "none"}


@dataclass(frozen=True, slots=True)
class Server:
    """A process of `credenda serve`, which answers at `url`."""

    url: str
    log: Path
    pid: int

    def find_login(self) -> str:
        """Return the address that logs the owner in, once."""
        found = re.search(r"http\S+/login\?code=\S+", self.log.read_text("utf-8"))
        assert found is not None
        return found[0]


@contextmanager
def serve(database: Path, folder: Path, *options: str, user: str = "ana") -> Generator[Server]:
    """Serve a database on a free port of loopback until the block ends."""
    log = folder / f"serve-{len(list(folder.glob('serve-*')))}.log"
    command = [sys.executable, "-m", "credenda", "--db", str(database), "--user", user, "serve", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **_ENVIRONMENT}
    with log.open("wb") as written:
        process = subprocess.Popen([*command, *options], stderr=written, env=environment, cwd=folder)
    try:
        yield Server(_await_url(process, log), log, process.pid)
    finally:
        process.terminate()
        assert process.wait(PATIENCE_SECONDS) == 0, log.read_text("utf-8")


def _await_url(process: subprocess.Popen[bytes], log: Path) -> str:
    """Return the address once the process has said how to connect, or fail with what it said at its end."""

    def find() -> re.Match[str] | None:
        return re.search(r"Listening on (http\S+)\n[^\0]*stop with Ctrl-C\n", log.read_text("utf-8"))

    await_that(lambda: find() or process.poll() is not None, "the address of the server")
    found = find()
    assert found is not None, log.read_text("utf-8") or "the server said nothing"
    return found[1]


@cache
def find_browser() -> str:
    """Return the path of the machine's browser; fails with what to install."""
    found = subprocess.run([ROOT / "scripts" / "_browser", "--find"], capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.fail(found.stderr, pytrace=False)
    return found.stdout.strip()


@contextmanager
def launch() -> Generator[Browser]:
    """Start the browser with a fresh profile."""
    path = find_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS], headless=True)
        try:
            yield browser
        finally:
            browser.close()


@dataclass(slots=True)
class Watch:
    """What must not happen while pages are shown."""

    host: str
    foreign: list[str] = field(default_factory=list[str])
    """Requests that would have left the server; they are not sent."""
    spoken: list[str] = field(default_factory=list[str])
    """Errors and warnings of the console: a refusal by the Content Security Policy is one."""

    def check(self) -> None:
        """Fail if anything happened."""
        assert not self.foreign
        assert not self.spoken


@contextmanager
def browse(browser: Browser, url: str, **options: Any) -> Generator[tuple[Page, Watch]]:  # noqa: ANN401 - those of the context
    """Open a window on a server; at the end no request has left the host, and the console is silent."""
    given: dict[str, Any] = {"base_url": url, "locale": "en-GB", "timezone_id": "UTC", "reduced_motion": "reduce"}
    context: BrowserContext = browser.new_context(**{**given, **options})
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    expect.set_options(timeout=PATIENCE_SECONDS * 1_000)
    watch = Watch(urlsplit(url).netloc)

    def pass_on(route: Route, request: Request) -> None:
        if urlsplit(request.url).netloc == watch.host:
            route.continue_()
        else:
            watch.foreign.append(request.url)
            route.abort()

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            watch.spoken.append(f"{message.text} ({message.location})")

    context.route(re.compile("^https?:"), pass_on)
    page = context.new_page()
    page.on("console", note)
    page.on("pageerror", lambda error: watch.spoken.append(str(error)))
    try:
        yield page, watch
        watch.check()
    finally:
        context.close()


def find_violations(page: Page) -> list[str]:
    """Run axe-core over a page: the violations of WCAG 2.2 at AA, each with the element."""
    page.evaluate(_read_axe())
    options = json.dumps({"runOnly": {"type": "tag", "values": _AXE_TAGS}, "resultTypes": ["violations"]})
    result = cast("Mapping[str, Any]", page.evaluate(f"() => axe.run(document, {options})"))
    return [
        f"{one['id']}: {node['target']} {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
        for one in result["violations"]
        for node in one["nodes"]
    ]


@cache
def _read_axe() -> str:
    return AXE.read_text("utf-8")


def find_overflow(page: Page) -> str:
    """Return the widest elements that make a page scroll sideways; "" where it does not."""
    script = """() => {
        const root = document.documentElement;
        if (root.scrollWidth <= root.clientWidth) return '';
        const wide = [...document.querySelectorAll('body *')].filter(one => {
            const scrolls = one.closest('[data-scrolls]');
            return !scrolls && one.getBoundingClientRect().right > root.clientWidth + 1;
        });
        return root.scrollWidth + ' > ' + root.clientWidth + ': ' + wide.slice(0, 5).map(
            one => one.outerHTML.slice(0, 120)).join(' | ');
    }"""
    return str(page.evaluate(script))
