"""Every command of the page about REST is sent to a server, and answered with the status that the page names."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from httpx2 import Response

from credenda import limits
from credenda.interfaces.call_worker import run_calls
from credenda.testing import ManualClock
from tests.interfaces.served import Site, serving

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "rest.md"
COMMAND = re.compile(r"^(curl .*?)\s+# (\d{3})$", re.MULTILINE)
TAKES_A_VALUE = {"-X": "method", "-H": "header", "--json": "json", "-F": "form", "-o": "target"}


def send(site: Site, command: str, known: dict[str, str]) -> Response:
    """Send what curl would send."""
    words = shlex.split(re.sub(r"\$([A-Z]+)", lambda name: known[name[1]].replace('"', '\\"'), command))[1:]
    url, given, headers = "", dict[str, str](), dict[str, str]()
    while words:
        word = words.pop(0)
        name = TAKES_A_VALUE.get(word)
        if name == "header":
            key, _, value = words.pop(0).partition(": ")
            headers[key] = value
        elif name is not None:
            given[name] = words.pop(0)
        elif not word.startswith("-"):
            url = word
    more: dict[str, Any] = {}
    if "json" in given:
        headers["Content-Type"] = "application/json"
        more = {"content": given["json"]}
    if "form" in given:
        field, _, file = given["form"].partition("=@")
        more = {"files": {field: (file, b"The office is in Vienna.\n")}}
    method = given.get("method", "POST" if more else "GET")
    return site.send(method, url.removeprefix(known["URL"]), headers=headers, **more)


def learn(site: Site, answered: Response, known: dict[str, str]) -> None:
    """Note what later commands of the page name; do the work in the background meanwhile."""
    site.settle()
    view = site.parts.for_user("ana")
    run_calls(view, None)
    view.release()
    if answered.headers["content-type"] != "application/json":
        return
    body = answered.json()
    if body.get("next_cursor"):
        known |= {"CURSOR": body["next_cursor"]}
    if "items" in body and body["items"] and "text" in body["items"][0]:
        known |= {"MEMORY": body["items"][0]["id"]}
    if "ETag" in answered.headers:
        known |= {"ETAG": answered.headers["ETag"]}
    if answered.headers.get("Location"):
        known |= {"JOB": body["id"]}


def test_every_command_of_the_page_is_answered_as_it_says(tmp_path: Path) -> None:
    commands = COMMAND.findall(PAGE.read_text("utf-8"))
    assert len(commands) == PAGE.read_text("utf-8").count("curl ") > 20
    known = {"URL": "http://server"}
    with serving(tmp_path / "memory.db", ManualClock("2026-03-01T09:00:00Z")) as site:
        for command, status in commands:
            answered = send(site, command, known)
            assert answered.status_code == int(status), (command, answered.text)
            learn(site, answered, known)


def test_the_bounds_of_the_page_are_those_of_the_program() -> None:
    rows = re.findall(r"^\| ([^|]+?) \| ([\d,]+)[^|]*\| (\d{3}) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    told = {name: int(value.replace(",", "")) for name, value, _ in rows}
    assert list(told.values()) == [
        limits.HTTP_BODY_BYTES >> 20,
        limits.HTTP_DEPTH,
        limits.HTTP_BATCH,
        limits.HTTP_UPLOAD_BYTES >> 20,
        limits.CALLS_WAITING,
        limits.HTTP_STREAMS,
        limits.SCORED_CHARACTERS,
    ]
    assert f"after {limits.HTTP_STREAM_SECONDS:g} seconds" in PAGE.read_text("utf-8")
    assert f"after {limits.CALL_KEPT_DAYS} days" in PAGE.read_text("utf-8")
