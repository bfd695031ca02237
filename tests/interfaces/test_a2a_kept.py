"""What is kept of tasks of other agents, and for how long: deletion, erasure, bounds, audit and logs."""

from __future__ import annotations

import json
import logging
from io import StringIO
from pathlib import Path

import pytest

from credenda import limits
from credenda.testing import ManualClock

from .peer import WAYS, Peer, list_questions, read_error
from .served import Site, serving
from .terminal import Terminal
from .test_a2a_tasks import NEW, START, ask, dispute


def test_deleted_words_are_gone_from_the_task_too(site: Site) -> None:
    peer, task = dispute(site, NEW)
    (question,) = list_questions(task)
    event = site.send("GET", f"/v1/memories/{question['id']}/why").json()["evidence"][0]["event"]["id"]
    assert site.send("DELETE", f"/v1/memories/{event}").status_code == 200
    shown = peer.get(task["id"])
    assert "Vienna" not in str(shown)
    assert shown["state"] == "completed"


@pytest.mark.requirement("R-206")
def test_erasing_a_user_deletes_the_tasks_and_an_export_leaves_them_out(site: Site) -> None:
    peer, task = dispute(site, NEW)
    export = site.send("POST", "/v1/export", json={})
    assert task["id"] not in export.text
    assert site.send("DELETE", "/v1/me", json={"confirm": "ana"}).json()["remaining_matches"] == 0
    assert read_error(peer.call("get", {"id": task["id"]}))[1] == "TASK_NOT_FOUND"


def test_a_user_without_memories_loses_the_tasks_too(site: Site) -> None:
    peer = Peer(site, NEW)
    task = peer.begin({"skill": "resolve_conflicts"})
    assert task["state"] == "completed"
    site.send("DELETE", "/v1/me", json={"confirm": "ana"})
    assert read_error(peer.call("get", {"id": task["id"]}))[1] == "TASK_NOT_FOUND"


def test_the_oldest_finished_task_makes_room_and_open_ones_stay(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "AGENT_TASKS", 2)
    peer, waiting = dispute(site, NEW)
    first, second = (ask(site, peer, text)["id"] for text in ("I like tea.", "I like jam."))
    assert read_error(peer.call("get", {"id": first}))[1] == "TASK_NOT_FOUND"
    assert peer.get(second)["state"] == "completed"
    assert peer.get(waiting["id"])["state"] == "input-required"


@pytest.mark.requirement("R-197", "R-199")
def test_every_call_has_a_record_with_its_operation_and_outcome(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        peer, lesser = Peer(site, NEW, site.token("ana")), Peer(site, NEW, site.token("ana", ["memory:read"]))
        peer.begin("I live in Zanzibar.")
        site.settle()
        task = peer.begin("I live in Vienna.")
        site.settle()
        peer.get(task["id"])
        lesser.send({"resolution": "keep_new"}, taskId=task["id"])
        peer.begin({"resolution": "keep_new"}, taskId=task["id"])
        peer.send({"resolution": "keep_new"}, taskId=task["id"])
        peer.call("cancel", {"id": "none"})
        site.send("POST", "/a2a", peer.token, content=b"{", headers={"Content-Type": "application/json"})
        Peer(site, NEW).send("I like tea.")
    terminal = Terminal(tmp_path)
    assert terminal.text("audit", "verify")
    found = [one["record"] for one in map(json.loads, terminal.text("audit", "export").splitlines())]
    assert [(one["door"], one["operation"], one["status"], one["code"]) for one in found] == [
        ("a2a", "remember", 200, ""),
        ("a2a", "remember", 200, ""),
        ("a2a", "outcome", 200, ""),
        ("a2a", "resolve", 403, "forbidden"),
        ("a2a", "resolve", 200, ""),
        ("a2a", "resolve", 200, "conflict"),
        ("a2a", "", 200, "not_found"),
        ("a2a", "", 200, "invalid"),
        ("", "", 401, "unauthenticated"),
    ]
    assert "zanzibar" not in str(found).casefold()


def test_the_words_of_messages_reach_no_log(site: Site) -> None:
    written = StringIO()
    handler = logging.StreamHandler(written)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        for way in WAYS:
            peer = Peer(site, way)
            ask(site, peer, "I live in Zanzibar.")
            peer.send({"messages": ["Zanzibar"], "Zanzibar": 1})
            peer.send("Zanzibar", taskId="Zanzibar")
            peer.call("send", {"message": {"parts": "Zanzibar", "role": "Zanzibar"}})
    finally:
        root.setLevel(before)
        root.removeHandler(handler)
    assert "/a2a" in written.getvalue()
    assert "Zanzibar" not in written.getvalue()
