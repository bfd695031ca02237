"""The rig itself: it finds a browser or says what to install, and sees what it must see."""

from __future__ import annotations

import os
import re
import subprocess
from hashlib import sha256

import pytest
from playwright.sync_api import Browser

from .rig import AXE, ROOT, Server, browse, find_overflow, find_violations


def run_finder(**environment: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, **environment}
    return subprocess.run(
        [ROOT / "scripts" / "_browser", "--find"], capture_output=True, text=True, check=False, env=given
    )


def test_a_machine_without_a_browser_is_told_what_to_install() -> None:
    found = run_finder(BROWSER_PATH="/nowhere/chrome")
    assert found.returncode == 1
    assert not found.stdout
    assert "apt-get install chromium" in found.stderr


def test_a_named_browser_is_taken() -> None:
    assert run_finder(BROWSER_PATH="/bin/sh").stdout == "/bin/sh\n"


def test_axe_is_the_file_that_its_table_names() -> None:
    table = (AXE.parent / "README.md").read_text("utf-8")
    assert re.findall(r"`([0-9a-f]{64})`", table) == [sha256(AXE.read_bytes()).hexdigest()]


def test_the_checks_see_a_violation_and_an_overflow(browser: Browser, server: Server) -> None:
    with browse(browser, server.url, viewport={"width": 320, "height": 600}) as (page, _):
        page.set_content("<title>x</title><img src=''><div style='width: 500px'>wide</div>")
        assert any(one.startswith("image-alt") for one in find_violations(page))
        assert "500" in find_overflow(page) or "wide" in find_overflow(page)


def test_a_request_to_another_host_fails_the_test(browser: Browser, server: Server) -> None:
    with browse(browser, server.url) as (page, watch):
        page.set_content("<img alt='' src='http://example.com/x.png'>")
        page.wait_for_function("document.images[0].complete")
        assert watch.foreign == ["http://example.com/x.png"]
        with pytest.raises(AssertionError):
            watch.check()
        watch.foreign.clear()
        watch.spoken.clear()
