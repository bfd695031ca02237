"""REST: every failure is problem+json, keys make repetition harmless, lists have cursors, and files travel whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response

from credenda import Credenda, __version__, limits
from credenda.interfaces.json_schema import build_openapi
from credenda.testing import ManualClock

from .served import Site, serving

START = "2026-03-01T09:00:00Z"
GOOD = {"role": "user", "content": "I live in Linz."}
JSON = {"Content-Type": "application/json"}


def say(site: Site, text: str, **given: str) -> Response:
    return site.send("POST", "/v1/memories", json={"content": text, **given})


def believed(site: Site, **filters: str) -> list[dict[str, Any]]:
    site.settle()
    return site.send("GET", "/v1/memories", params=filters).json()["items"]


def problem(response: Response, status: int, code: str = "invalid") -> dict[str, Any]:
    """Check that an answer is a whole problem of this status, and return it."""
    body = response.json()
    assert (response.status_code, body["status"], body["code"]) == (status, status, code), body
    assert response.headers["content-type"] == "application/problem+json"
    assert body["title"]
    assert isinstance(body["retryable"], bool)
    return body


def test_a_message_is_accepted_and_becomes_a_belief_with_its_evidence(site: Site) -> None:
    accepted = say(site, "I live in Linz.", topic="home")
    assert accepted.status_code == 202
    assert accepted.json()["queued"] is True
    (memory,) = believed(site)
    assert (memory["value"], memory["topic"]) == ("Linz", "home")
    assert site.send("GET", f"/v1/memories/{memory['id']}").json() == memory
    why = site.send("GET", f"/v1/memories/{memory['id']}/why").json()
    assert why["evidence"][0]["quote"] == "I live in Linz."
    found = site.send("POST", "/v1/search", json={"query": "Where do I live?"}).json()
    assert found["hits"][0]["id"] == memory["id"]
    assert "residence: Linz (told " in site.send("POST", "/v1/context", json={"query": "home"}).json()["text"]


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"{", JSON, 400, "invalid"),
        (b"\xff\xfe", JSON, 400, "invalid"),
        (b'{"content": NaN}', JSON, 400, "invalid"),
        (b"[" * 100_000, JSON, 400, "invalid"),
        (b'["content"]', JSON, 400, "invalid"),
        (b'{"content": "x"}', {"Content-Type": "text/plain"}, 415, "invalid"),
        (b'{"content": "x"}', {}, 415, "invalid"),
        (b"{}", JSON, 422, "invalid"),
        (b"", {}, 422, "invalid"),
        (b'{"content": 7}', JSON, 422, "invalid"),
        (b'{"content": "x", "user": "bob"}', JSON, 422, "invalid"),
        (b'{"content": "x", "tags": [1]}', JSON, 422, "invalid"),
        (b'{"content": "\\ud800"}', JSON, 422, "invalid"),
        (b'{"content": "x", "occurred_at": "then"}', JSON, 422, "invalid"),
        (b" " * (limits.HTTP_BODY_BYTES + 1), JSON, 413, "limit_exceeded"),
    ],
)
def test_a_body_that_cannot_be_meant_is_a_problem_and_stores_nothing(
    site: Site, body: bytes, *, headers: dict[str, str], status: int, code: str
) -> None:
    problem(site.send("POST", "/v1/memories", content=body, headers=headers), status, code)
    assert site.send("GET", "/v1/stats").json()["events"] == 0


def test_messages_of_a_conversation_are_stored_together_with_who_said_them(site: Site) -> None:
    told = [
        {"role": "user", "content": "Where is my dentist?", "id": "t1", "timestamp": "2026-02-01T10:00:00Z"},
        {"role": "person", "name": "Mia", "content": "Your dentist is in Wels."},
    ]
    receipt = site.send("POST", "/v1/memories", json={"content": told, "session": "s1"})
    assert (receipt.status_code, len(receipt.json()["event_ids"])) == (202, 2)
    site.settle()
    hits = site.send("POST", "/v1/search", json={"query": "dentist", "kinds": ["event"]}).json()["hits"]
    said = {hit["event"]["speaker"]: hit["event"]["occurred_at"] for hit in hits}
    assert set(said) == {"user", "Mia"}
    assert said["user"].startswith("2026-02-01T10:00:00")


@pytest.mark.parametrize(
    "content",
    [
        [],
        5,
        {"role": "user", "content": "I live in Linz."},
        [GOOD, 1],
        [GOOD, ["user", "hello"]],
        [GOOD, {"role": "user"}],
        [GOOD, {"role": "robber", "content": "x"}],
    ],
)
def test_messages_that_cannot_be_meant_are_refused_and_none_is_stored(site: Site, content: object) -> None:
    refused = site.send("POST", "/v1/memories", json={"content": content})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
    assert site.send("GET", "/v1/stats").json()["events"] == 0


def test_a_body_that_hides_its_length_is_bounded_too(site: Site) -> None:
    pieces = (b" " * (1 << 20) for _ in range(6))
    problem(site.send("POST", "/v1/memories", content=pieces, headers=JSON), 413, "limit_exceeded")


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/v1/memories?limit=many", 422, "invalid"),
        ("/v1/memories?limit=20&limit=30", 422, "invalid"),
        ("/v1/memories?user=bob", 422, "invalid"),
        ("/v1/memories?limit=51", 422, "invalid"),
        ("/v1/memories?layer=", 422, "invalid"),
        ("/v1/memories?cursor=nonsense", 404, "not_found"),
        ("/v1/memories/m1-000000", 404, "not_found"),
        ("/v1/memories/..%2f..%2fetc", 404, "not_found"),
        ("/v1/nothing", 404, "not_found"),
        ("/v1/memories//", 404, "not_found"),
    ],
)
def test_a_question_that_cannot_be_meant_is_a_problem(site: Site, path: str, status: int, code: str) -> None:
    problem(site.send("GET", path), status, code)


@pytest.mark.parametrize("method", ["PUT", "OPTIONS", "HEAD", "TRACE"])
def test_a_method_that_a_path_lacks_is_answered_with_all_that_it_has(site: Site, method: str) -> None:
    refused = site.send(method, "/v1/memories")
    assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, POST")
    assert "access-control-allow-origin" not in refused.headers


def test_every_answer_stays_out_of_caches_and_names_its_request(site: Site) -> None:
    for path in ("/v1/stats", "/v1/nothing", "/livez", "/openapi.json"):
        answered = site.send("GET", path, headers={"X-Request-ID": "abc-1"})
        assert answered.headers["Cache-Control"] == "no-store"
        assert answered.headers["X-Content-Type-Options"] == "nosniff"
        assert answered.headers["X-Request-ID"] == "abc-1"
    assert site.send("GET", "/livez", headers={"X-Request-ID": "<b>"}).headers["X-Request-ID"] != "<b>"


def test_an_internal_error_tells_nothing_of_what_it_met(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Credenda) -> None:
        raise RuntimeError("I live in Linz")

    monkeypatch.setattr(Credenda, "stats", fail)
    told = problem(site.send("GET", "/v1/stats"), 500, "internal")
    assert "Linz" not in json.dumps(told)


def test_a_repeated_request_with_a_key_gets_the_first_answer_and_does_nothing(site: Site) -> None:
    say(site, "I live in Linz.")
    (memory,) = believed(site)
    path, key = f"/v1/memories/{memory['id']}", {"Idempotency-Key": "k1"}
    first = site.send("PATCH", path, json={"value": "Vienna"}, headers=key)
    assert (first.status_code, first.json()["value"]) == (200, "Vienna")
    again = site.send("PATCH", path, json={"value": "Vienna"}, headers=key)
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    problem(site.send("PATCH", path, json={"value": "Graz"}, headers=key), 422)
    assert len(site.send("GET", "/v1/memories", params={"attribute": "residence"}).json()["items"]) == 1


def test_a_failed_request_may_be_repeated_with_its_key(site: Site) -> None:
    key = {"Idempotency-Key": "k1"}
    problem(site.send("PATCH", "/v1/memories/m1-000000", json={"value": "Graz"}, headers=key), 404, "not_found")
    problem(site.send("PATCH", "/v1/memories/m1-000000", json={"value": "Graz"}, headers=key), 404, "not_found")


def test_a_first_answer_is_not_repeated_after_a_deletion(site: Site) -> None:
    say(site, "I live in Linz.")
    (memory,) = believed(site)
    path, key = f"/v1/memories/{memory['id']}", {"Idempotency-Key": "k1"}
    corrected = site.send("PATCH", path, json={"value": "Vienna"}, headers=key).json()
    assert site.send("DELETE", f"/v1/memories/{corrected['id']}").status_code == 200
    told = problem(site.send("PATCH", path, json={"value": "Vienna"}, headers=key), 409, "conflict")
    assert "Vienna" not in json.dumps(told)


def test_an_answer_that_is_too_long_to_keep_is_not_repeated_and_nothing_is_done_twice(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HTTP_REPLAY_CHARACTERS", 10)
    key = {"Idempotency-Key": "k1"}
    assert site.send("POST", "/v1/holds", json={"reason": "a lawsuit"}, headers=key).status_code == 200
    told = problem(site.send("POST", "/v1/holds", json={"reason": "a lawsuit"}, headers=key), 409, "conflict")
    assert told["title"] == "this request was done already"
    assert len(site.send("GET", "/v1/holds").json()) == 1


def test_a_request_is_refused_while_the_first_one_with_its_key_runs(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner: list[Response] = []
    key = {"Idempotency-Key": "k1"}

    def hold(manage: Any, reason: str) -> None:  # noqa: ANN401 - as `Manage.hold`
        del manage
        if not inner:
            inner.append(site.send("POST", "/v1/holds", json={"reason": reason}, headers=key))

    monkeypatch.setattr("credenda.client_manage.Manage.hold", hold)
    assert site.send("POST", "/v1/holds", json={"reason": "a lawsuit"}, headers=key).status_code == 204
    problem(inner[0], 409, "conflict")


def test_the_key_of_a_message_holds_after_a_restart(tmp_path: Path) -> None:
    key = {"Idempotency-Key": "k1"}
    answers: list[dict[str, Any]] = []
    for _ in range(2):
        with serving(tmp_path / "memory.db", ManualClock(START)) as site:
            answers.append(site.send("POST", "/v1/memories", json={"content": "I like tea."}, headers=key).json())
    with serving(tmp_path / "memory.db", ManualClock(START)) as site:
        assert (answers[0]["cached"], answers[1]["cached"]) == (False, True)
        assert answers[0]["event_ids"] == answers[1]["event_ids"]
        assert site.send("GET", "/v1/stats").json()["events"] == 1
        problem(site.send("POST", "/v1/memories", json={"content": "I like coffee."}, headers=key), 422)
        twice = {"content": "x", "idempotency_key": "k2"}
        problem(site.send("POST", "/v1/memories", json=twice, headers={"Idempotency-Key": "k3"}), 422)


def test_pages_are_joined_by_cursors(site: Site) -> None:
    for text in ("I live in Linz.", "I like tea.", "My sister Eva works at Acme."):
        say(site, text)
    every = [one["id"] for one in believed(site)]
    cursor, seen = None, list[str]()
    while cursor is not None or not seen:
        page = site.send("GET", "/v1/memories", params={"limit": 1, **({"cursor": cursor} if cursor else {})}).json()
        seen += [one["id"] for one in page["items"]]
        cursor = page["next_cursor"]
    assert seen == every
    assert len(seen) == 3


def test_a_memory_is_exported_and_imported_whole(site: Site, tmp_path: Path) -> None:
    say(site, "I live in Linz.")
    before = believed(site)
    export = site.send("POST", "/v1/export", json={})
    assert export.headers["content-type"] == "application/octet-stream"
    with serving(tmp_path / "other.db", ManualClock(START)) as other:
        sent = {"file": ("../../all.jsonl", export.content)}
        report = other.send("POST", "/v1/imports", files=sent)
        assert report.status_code == 200, report.text
        assert "path" not in report.json()
        assert [one["value"] for one in believed(other)] == [one["value"] for one in before]
        problem(other.send("POST", "/v1/imports", files={**sent, "other": ("x", b"")}), 400)
        problem(other.send("POST", "/v1/imports", data={"path": "/etc/passwd"}), 415)
        problem(other.send("POST", "/v1/imports", files={"path": (None, "/etc/passwd")}), 422)
        unknown = other.send("POST", "/v1/imports", files={"file": ("tls.db", b"\x00\x01\x02 of no format")})
        assert "tls.db" in unknown.json()["title"] + unknown.json()["detail"], unknown.text
        problem(other.send("POST", "/v1/imports"), 422)


def test_the_openapi_document_is_served_as_it_is_built(site: Site) -> None:
    assert site.send("GET", "/openapi.json").json() == json.loads(json.dumps(build_openapi(version=__version__)))


def test_the_owner_is_erased_with_the_own_name_only(site: Site) -> None:
    say(site, "I live in Linz.")
    problem(site.send("DELETE", "/v1/me", json={"confirm": "bob"}), 422)
    receipt = site.send("DELETE", "/v1/me", json={"confirm": "ana"}).json()
    assert receipt["remaining_matches"] == 0
    assert site.send("GET", "/v1/stats").json()["events"] == 0


def test_a_dry_run_of_a_deletion_by_conditions_names_the_memories(site: Site) -> None:
    say(site, "My dentist is Quarnbichler.", session="teeth")
    (memory,) = believed(site)
    say(site, "The bakery beside Quarnbichler is closed.", session="bread")
    wanted = {"session": "teeth", "dry_run": True}
    site.settle()
    plan = site.send("POST", "/v1/deletions", json=wanted).json()
    assert plan["taken"] == [{"id": memory["id"], "text": memory["text"], "left": "", "reason": ""}]
    assert [one["text"] for one in plan["mentions"]] == ["The bakery beside Quarnbichler is closed."]
    done = site.send("POST", "/v1/deletions", json={"session": "teeth"}).json()
    names = ("taken", "kept", "mentions")
    assert [[one["id"] for one in done[name]] for name in names] == [
        [one["id"] for one in plan[name]] for name in names
    ]
    assert "Quarnbichler" not in str(done)
