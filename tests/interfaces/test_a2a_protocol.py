"""The protocol itself: the card, errors and their codes, versions, media types, and bounds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from credenda import __version__, limits
from credenda.interfaces.a2a.tasks import Answer, choose_resolution, derive_state
from credenda.interfaces.server.address import Address
from credenda.model.query import Contradiction, Outcome
from credenda.model.server import AgentTask, Skill, TaskState
from credenda.testing import ManualClock

from .peer import CARD, WAYS, Peer, read_error
from .served import BASE, Site, serving

START = "2026-03-01T09:00:00Z"
JSON = {"Content-Type": "application/json"}
NEW = WAYS[0]
MESSAGE = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "I like tea."}]}


# The card


@pytest.mark.requirement("R-183")
def test_the_card_names_both_bindings_of_both_versions_at_the_address_of_the_request(site: Site) -> None:
    card = site.send("GET", CARD).json()
    assert {(one["protocolBinding"], one["protocolVersion"]) for one in card["supportedInterfaces"]} == {
        (binding, version) for binding in ("JSONRPC", "HTTP+JSON") for version in ("1.0", "0.3")
    }
    assert {one["url"] for one in card["supportedInterfaces"]} == {f"{BASE}/a2a"}
    assert (card["url"], card["preferredTransport"], card["protocolVersion"]) == (f"{BASE}/a2a", "JSONRPC", "0.3")
    assert (card["name"], card["version"]) == ("Credenda", __version__)
    assert [one["id"] for one in card["skills"]] == [skill.value for skill in Skill]
    assert card["capabilities"] == {"streaming": True, "pushNotifications": False, "extendedAgentCard": False}
    assert "securitySchemes" not in card
    other = site.send("GET", CARD, headers={"Host": "localhost:9000"}).json()
    assert other["url"] == "http://localhost:9000/a2a"


@pytest.mark.requirement("R-183")
def test_the_card_names_the_configured_address(tmp_path: Path) -> None:
    address = Address(url="https://memory.example.org/", trust_proxy=True)
    with serving(tmp_path / "memory.db", ManualClock(START), address=address) as site:
        assert site.send("GET", CARD).json()["url"] == "https://memory.example.org/a2a"


def test_the_card_may_be_kept_and_asked_about_again(site: Site) -> None:
    card = site.send("GET", CARD)
    assert card.headers["cache-control"] == "public, max-age=3600"
    again = site.send("GET", CARD, headers={"If-None-Match": card.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert site.send("GET", CARD, headers={"Host": "localhost"}).headers["etag"] != card.headers["etag"]
    assert site.send("POST", CARD, json={}).status_code == 405


# Errors of JSON-RPC


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"", -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b"[" * 100_000, -32700),
        (b"{}", -32600),
        (json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "GetTask"}]).encode(), -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "GetTask"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tasks/list"}', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {}}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": 7}}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": ""}}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "none"}}', -32001),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "CancelTask", "params": {"id": "none"}}', -32001),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": "none"}}', -32001),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "GetExtendedAgentCard", "params": {}}', -32004),
    ],
)
def test_a_request_that_cannot_be_meant_has_the_code_of_the_protocol(site: Site, body: bytes, code: int) -> None:
    answered = site.send("POST", "/a2a", content=body, headers={**JSON, **NEW.headers})
    assert (answered.status_code, answered.json()["error"]["code"]) == (200, code)
    assert answered.json()["jsonrpc"] == "2.0"
    assert site.send("GET", "/v1/stats").json()["events"] == 0


@pytest.mark.parametrize("version", ["99.0", "2.0", "x"])
def test_an_unknown_version_is_refused(site: Site, version: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": MESSAGE}}
    answered = site.send("POST", "/a2a", json=body, headers={"A2A-Version": version})
    assert answered.json()["error"]["code"] == -32009
    told = site.send("POST", "/a2a/message:send", json={"message": MESSAGE}, headers={"A2A-Version": version})
    assert read_error(told) == (400, "VERSION_NOT_SUPPORTED")


@pytest.mark.parametrize("kind", ["Create", "Get", "List", "Delete"])
def test_notifications_are_declared_unsupported_and_refused(site: Site, kind: str) -> None:
    params = {"taskId": "none", "id": "x", "url": "http://127.0.0.1:1/"}
    method = f"{kind}TaskPushNotificationConfig{'s' if kind == 'List' else ''}"
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    assert site.send("POST", "/a2a", json=body, headers=NEW.headers).json()["error"]["code"] == -32003


def test_a_message_that_asks_for_notifications_is_refused_and_stores_nothing(site: Site) -> None:
    wanted = {"message": MESSAGE, "configuration": {"taskPushNotificationConfig": {"url": "http://127.0.0.1:1/"}}}
    assert read_error(site.send("POST", "/a2a/message:send", json=wanted, headers=NEW.headers)) == (
        400,
        "PUSH_NOTIFICATION_NOT_SUPPORTED",
    )
    assert site.send("GET", "/v1/stats").json()["events"] == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"messageId": ""}, "INVALID_PARAMS"),
        ({"parts": []}, "INVALID_PARAMS"),
        ({"role": "ROLE_AGENT"}, "INVALID_PARAMS"),
        ({"role": "ROLE_UNSPECIFIED"}, "INVALID_PARAMS"),
        ({"parts": [{"raw": "aGk=", "mediaType": "image/png"}]}, "CONTENT_TYPE_NOT_SUPPORTED"),
        ({"parts": [{"url": "file:///etc/passwd"}]}, "CONTENT_TYPE_NOT_SUPPORTED"),
        ({"parts": [{"text": "<b>", "mediaType": "text/html"}]}, "CONTENT_TYPE_NOT_SUPPORTED"),
        ({"parts": [{"data": [1, 2]}]}, "CONTENT_TYPE_NOT_SUPPORTED"),
        ({"taskId": "none"}, "TASK_NOT_FOUND"),
        ({"metadata": {"skill": "none"}}, "INVALID_PARAMS"),
    ],
)
def test_a_message_that_cannot_be_meant_has_the_reason_of_the_protocol(
    site: Site, change: Mapping[str, Any], reason: str
) -> None:
    sent = {"message": {**MESSAGE, **change}, "configuration": {"returnImmediately": True}}
    assert read_error(site.send("POST", "/a2a/message:send", json=sent, headers=NEW.headers))[1] == reason
    assert site.send("GET", "/v1/stats").json()["events"] == 0


def test_unknown_fields_are_passed_over(site: Site) -> None:
    sent = {"message": {**MESSAGE, "mood": "good"}, "configuration": {"returnImmediately": True}, "more": 1}
    assert site.send("POST", "/a2a/message:send", json=sent, headers=NEW.headers).status_code == 200


def test_the_context_of_an_answer_must_be_that_of_the_task(site: Site) -> None:
    peer = Peer(site, NEW)
    task = peer.begin("I like tea.")
    wrong = peer.send({"resolution": "keep_new"}, taskId=task["id"], contextId="other")
    assert read_error(wrong) == (200, "INVALID_PARAMS")


@pytest.mark.requirement("R-191")
def test_no_tenant_can_be_chosen(site: Site) -> None:
    sent = {"tenant": "bob", "message": MESSAGE}
    told = Peer(site, NEW).call("send", sent)
    assert read_error(told) == (200, "INVALID_PARAMS")
    assert site.send("POST", "/a2a/bob/message:send", json=sent, headers=NEW.headers).status_code == 404
    assert site.send("POST", "/bob/a2a/message:send", json=sent, headers=NEW.headers).status_code == 404


# HTTP


@pytest.mark.parametrize("path", ["/a2a", "/a2a/message:send", "/a2a/v1/message:send"])
def test_a_body_that_is_not_json_is_refused_in_the_words_of_the_binding(site: Site, path: str) -> None:
    told = site.send("POST", path, content=b"hello", headers={"Content-Type": "text/plain"})
    status, reason = read_error(told)
    assert (status, reason) == (200 if path == "/a2a" else 400, "CONTENT_TYPE_NOT_SUPPORTED")
    media = {"Content-Type": "application/a2a+json", **NEW.headers}
    assert site.send("POST", path, content=b"{}", headers=media).json()["error"]["code"] not in {-32005, 415}


def test_a_body_of_http_json_that_cannot_be_parsed_is_a_bad_request(site: Site) -> None:
    for path in ("/a2a/message:send", "/a2a/v1/message:send"):
        for body in (b"{", b"[" * 100_000, b"\xff\xfe"):
            told = site.send("POST", path, content=body, headers={**JSON, **NEW.headers})
            assert read_error(told) == (400, "INVALID_REQUEST")


def test_a_body_has_a_bound_and_unknown_pages_and_methods_are_problems(site: Site) -> None:
    long = b" " * (limits.HTTP_BODY_BYTES + 1)
    assert site.send("POST", "/a2a", content=long, headers=JSON).json()["code"] == "limit_exceeded"
    for method, path, status in (
        ("GET", "/a2a", 405),
        ("DELETE", "/a2a/tasks/x", 405),
        ("GET", "/a2a/nothing", 404),
        ("GET", "/a2a/", 405),
    ):
        told = site.send(method, path, headers=NEW.headers)
        assert (told.status_code, told.headers["content-type"]) == (status, "application/problem+json")


def test_a_page_of_another_site_cannot_call(site: Site) -> None:
    told = site.send("POST", "/a2a", json={}, headers={"Origin": "https://evil.example", **NEW.headers})
    assert told.status_code == 403


def test_an_error_of_the_server_tells_nothing_of_what_it_met(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("I live in Linz")

    monkeypatch.setattr("credenda.client_manage.Manage.outcome", fail)
    for way in WAYS:
        told = Peer(site, way).send("I like tea.")
        assert (told.status_code, told.json()["code"]) == (500, "internal")
        assert "Linz" not in told.text


def test_a_server_starts_without_the_sdk_and_loads_it_with_the_first_request() -> None:
    line = (
        "import sys, credenda.interfaces.server.process; print('a2a' in sys.modules, 'google.protobuf' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert ran.stdout == "False False\n"


# The state of a task


def make_task(state: TaskState) -> AgentTask:
    return AgentTask(
        id="t", context_id="c", message_id="m", skill=Skill.CONSOLIDATE, state=state, created_us=1, updated_us=1
    )


QUESTION = Contradiction(id="m1", entity="user", attribute="tea", scope=None, values=("a", "b", "c"), question="?")


@pytest.mark.requirement("R-182")
@pytest.mark.parametrize(
    ("outcome", "asked", "state"),
    [
        ("queued", False, TaskState.SUBMITTED),
        ("running", True, TaskState.WORKING),
        ("failed", True, TaskState.FAILED),
        ("done", True, TaskState.INPUT_REQUIRED),
        ("done", False, TaskState.COMPLETED),
    ],
)
def test_the_state_follows_from_the_messages_until_it_is_final(outcome: str, asked: bool, state: TaskState) -> None:  # noqa: FBT001
    found = Outcome(state=outcome, events=(), memories=(), contradictions=())
    questions = (QUESTION,) if asked else ()
    for before in (TaskState.SUBMITTED, TaskState.WORKING, TaskState.INPUT_REQUIRED):
        assert derive_state(make_task(before), found, questions) is state
    for final in (TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED):
        assert derive_state(make_task(final), found, questions) is final


def test_among_several_values_the_existing_one_has_to_be_named() -> None:
    with pytest.raises(Exception, match="several values"):
        choose_resolution(QUESTION, Answer(choice="existing"))
    assert choose_resolution(QUESTION, Answer(choice="new")) == {"keep": "c"}
    assert choose_resolution(QUESTION, Answer(keep="a")) == {"keep": "a"}
