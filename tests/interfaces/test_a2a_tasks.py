"""Tasks of other agents: what becomes of them, over both bindings and both versions of the protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response

from credenda import Credenda, limits
from credenda.storage.store import JobFilter, JobStatus
from credenda.testing import ManualClock

from .agent import swing
from .peer import WAYS, Peer, Way, list_questions, name_state, read_error, read_task
from .served import Site, serving

START = "2026-03-01T09:00:00Z"
NEW = WAYS[0]
each_way = pytest.mark.parametrize("way", WAYS, ids=str)


def tell(site: Site, text: str) -> None:
    """Tell something as the user."""
    assert site.send("POST", "/v1/memories", json={"content": text}).status_code == 202
    site.settle()


def ask(site: Site, peer: Peer, *parts: str) -> dict[str, Any]:
    """Begin a task and return it after its messages were processed."""
    task = peer.begin(*parts)
    site.settle()
    return peer.get(task["id"])


def residences(site: Site, status: str = "active") -> list[str]:
    found = site.send("GET", "/v1/memories", params={"attribute": "residence", "status": status}).json()["items"]
    return [one["text"] if one["scope"] else one["value"] for one in found]


def dispute(site: Site, way: Way) -> tuple[Peer, dict[str, Any]]:
    """Let an agent contradict the user, and return its task, which waits for an answer."""
    tell(site, "I live in Linz.")
    peer = Peer(site, way)
    task = ask(site, peer, "I live in Vienna.")
    assert task["state"] == "input-required"
    return peer, task


@pytest.mark.requirement("R-181", "R-182")
@each_way
def test_messages_are_stored_and_become_memories_of_a_completed_task(site: Site, way: Way) -> None:
    peer = Peer(site, way)
    task = peer.begin("I live in Linz.")
    assert task["state"] == "submitted"
    site.settle()
    done = peer.get(task["id"])
    assert done["state"] == "completed"
    assert "Linz" in str(done["artifacts"])
    assert residences(site) == ["Linz"]


@each_way
def test_messages_of_several_speakers_are_taken_as_data(site: Site, way: Way) -> None:
    messages = [{"role": "user", "content": "I live in Linz."}, {"role": "assistant", "content": "Noted."}]
    task = ask(site, Peer(site, way), {"messages": messages, "topic": "home"})  # type: ignore[arg-type]
    assert task["state"] == "completed"
    (memory,) = site.send("GET", "/v1/memories").json()["items"]
    assert (memory["value"], memory["topic"], memory["source_session"]) == ("Linz", "home", task["contextId"])


@pytest.mark.requirement("R-181", "R-182", "D-014")
@each_way
def test_a_contradiction_is_asked_about_and_the_user_is_believed_until_it_is_answered(site: Site, way: Way) -> None:
    _, task = dispute(site, way)
    (question,) = list_questions(task)
    assert question["values"] == ["Linz", "Vienna"]
    assert question["choices"] == ["keep_existing", "keep_new", "keep_both"]
    assert "Linz" in question["question"]
    assert residences(site) == ["Linz"]


ANSWERS: list[tuple[str | Mapping[str, Any], list[str]]] = [
    ({"resolution": "keep_existing"}, ["Linz"]),
    ({"resolution": "keep_new"}, ["Vienna"]),
    ({"resolution": "keep_both"}, ["Vienna", "Linz"]),
    ({"keep": "Vienna"}, ["Vienna"]),
    ("Keep existing.", ["Linz"]),
    ("Vienna", ["Vienna"]),
    ("both", ["Vienna", "Linz"]),
    (
        {"resolution": "keep_both", "scopes": {"working": "Vienna", "default": "Linz"}},
        ["Linz", "Residence: Vienna for working; otherwise Linz."],
    ),
    ("Vienna when working, else Linz", ["Linz", "Residence: Vienna for working; otherwise Linz."]),
]


@pytest.mark.requirement("R-182", "D-014")
@each_way
@pytest.mark.parametrize(("answer", "held"), ANSWERS, ids=[str(answer)[:40] for answer, _ in ANSWERS])
def test_an_answer_is_carried_out_and_replaces_without_deleting(
    site: Site, way: Way, answer: str | Mapping[str, Any], held: list[str]
) -> None:
    peer, task = dispute(site, way)
    done = peer.begin(answer, taskId=task["id"])
    assert (done["state"], done["id"], done["contextId"]) == ("completed", task["id"], task["contextId"])
    assert sorted(residences(site)) == sorted(held)
    assert sorted(residences(site, "superseded")) == ["Linz", "Vienna"]
    assert len(done["history"]) == 3


@pytest.mark.requirement("R-182", "D-014")
@each_way
def test_a_task_outlives_a_restart_and_is_resumed_from_the_database(tmp_path: Path, way: Way) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START)) as first:
        _, task = dispute(first, way)
    with serving(tmp_path / "memory.db", ManualClock(START)) as second:
        peer = Peer(second, way)
        assert peer.get(task["id"]) == task
        assert peer.begin({"resolution": "keep_new"}, taskId=task["id"])["state"] == "completed"
        assert residences(second) == ["Vienna"]


@pytest.mark.requirement("R-182")
@each_way
def test_a_task_in_another_state_takes_no_answer_and_an_unknown_one_is_not_found(site: Site, way: Way) -> None:
    peer, task = dispute(site, way)
    peer.begin({"resolution": "keep_new"}, taskId=task["id"])
    refused = peer.send({"resolution": "keep_existing"}, taskId=task["id"]).json()["error"]
    assert refused["code"] in {400, -32004}
    assert "completed" in refused["message"]
    assert peer.send({"resolution": "keep_new"}, taskId="none").json()["error"]["code"] in {404, -32001}
    assert peer.call("get", {"id": "none"}).json()["error"]["code"] in {404, -32001}
    assert residences(site) == ["Vienna"]


@each_way
def test_a_canceled_task_asks_nothing_more_and_its_messages_stay(site: Site, way: Way) -> None:
    peer, task = dispute(site, way)
    assert read_task(peer.call("cancel", {"id": task["id"]}))["state"] == "canceled"
    assert peer.get(task["id"])["state"] == "canceled"
    assert peer.call("cancel", {"id": task["id"]}).json()["error"]["code"] in {400, 409, -32002}
    assert peer.call("cancel", {"id": "none"}).json()["error"]["code"] in {404, -32001}
    assert peer.send({"resolution": "keep_new"}, taskId=task["id"]).json()["error"]["code"] in {400, -32004}
    assert site.send("GET", "/v1/stats").json()["events"] == 2


@pytest.mark.parametrize(
    "answer",
    [
        {"resolution": "keep_all_of_it"},
        {"resolution": "keep_new", "keep": "Linz"},
        {"resolution": "keep_new", "scopes": {"working": "Vienna"}},
        {"scopes": "Vienna"},
        {"scopes": {"working": "Rome"}},
        {"keep": "Rome"},
        {"keep": 7},
        {"question": "m1-000000", "resolution": "keep_new"},
        {"answer": "keep_new"},
        {"resolution": "keep_new", "id": "k1"},
        {},
        "   ",
    ],
)
def test_an_answer_that_cannot_be_meant_changes_nothing(site: Site, answer: str | Mapping[str, Any]) -> None:
    peer, task = dispute(site, NEW)
    assert read_error(peer.send(answer, taskId=task["id"]))[1] in {"INVALID_PARAMS", "TASK_NOT_FOUND"}
    assert peer.get(task["id"]) == task
    assert residences(site) == ["Linz"]


@pytest.mark.parametrize(
    "parts",
    [
        [{"skill": "write_poems"}],
        [{"skill": "resolve_conflicts", "messages": []}],
        [{"skill": "resolve_conflicts", "contests": ["k9-000000"]}],
        [{"skill": "resolve_conflicts", "contests": [7]}],
        [{"messages": "I live in Linz."}],
        [{"messages": [{"role": "pope", "content": "x"}]}],
        [{"messages": [], "user": "bob"}],
        [{"topic": 7, "messages": [{"role": "user", "content": "x"}]}],
        ["  "],
        [{}],
    ],
)
def test_a_task_that_cannot_be_meant_stores_nothing(site: Site, parts: list[Any]) -> None:
    assert read_error(Peer(site, NEW).send(*parts))[1] == "INVALID_PARAMS"
    assert site.send("GET", "/v1/stats").json()["events"] == 0
    assert site.send("GET", "/a2a/tasks", headers=NEW.headers).json()["totalSize"] == 0


@each_way
def test_a_repeated_message_begins_and_answers_a_task_once(site: Site, way: Way) -> None:
    tell(site, "I live in Linz.")
    peer = Peer(site, way)
    first = peer.begin("I live in Vienna.", messageId="one")
    assert peer.begin("I live in Vienna.", messageId="one")["id"] == first["id"]
    site.settle()
    assert site.send("GET", "/v1/stats").json()["events"] == 2
    for _ in range(2):
        answered = peer.begin({"resolution": "keep_new"}, taskId=first["id"], messageId="two")
        assert answered["state"] == "completed"
    assert site.send("GET", "/v1/stats").json()["events"] == 3


def test_clients_that_number_their_messages_anew_begin_tasks_of_their_own(site: Site) -> None:
    peer = Peer(site, NEW)
    names = {peer.begin(text, messageId="1")["id"] for text in ("I like tea.", "I like jam.", "I like tea.")}
    assert len(names) == 2
    assert site.send("GET", "/v1/stats").json()["events"] == 2
    contexts = {peer.begin("I like tea.", messageId="1", contextId=name)["contextId"] for name in ("x", "y", "y")}
    assert contexts == {"x", "y"}
    assert site.send("GET", "/a2a/tasks", headers=NEW.headers).json()["totalSize"] == 4
    asked = [peer.begin({"skill": "resolve_conflicts"}, messageId="1")["id"] for _ in range(2)]
    assert asked[0] != asked[1]


def test_ids_that_could_hold_words_are_refused(site: Site) -> None:
    peer = Peer(site, NEW)
    for given in ({"messageId": "I live in Linz"}, {"contextId": "x" * 200}):
        assert read_error(peer.send("I like tea.", **given))[1] == "INVALID_PARAMS"
    first = peer.begin("I like tea.", contextId="talk-1")
    assert first["contextId"] == "talk-1"


@pytest.mark.requirement("R-182")
@each_way
def test_open_contests_are_asked_about_one_after_the_other(site: Site, way: Way) -> None:
    with Credenda(site.parts.for_user("ana"), workers=False) as memory:
        swing(memory)
    peer, _ = dispute(site, way)
    task = peer.begin({"skill": "resolve_conflicts"})
    assert task["state"] == "input-required"
    (question,) = list_questions(task)
    assert question["values"] == ["afternoon meetings", "morning meetings"]
    done = peer.begin({"question": question["id"], "resolution": "keep_new"}, taskId=task["id"])
    assert done["state"] == "completed"
    assert site.send("GET", "/v1/contests").json()[0]["resolution"] == "morning meetings"
    assert peer.begin({"skill": "resolve_conflicts"})["state"] == "completed"


def test_a_question_that_another_door_answers_ends_the_task(site: Site) -> None:
    peer, task = dispute(site, NEW)
    (question,) = list_questions(task)
    path = f"/v1/contests/{question['id']}/resolution"
    assert site.send("POST", path, json={"keep": "Vienna"}).status_code == 200
    assert peer.get(task["id"])["state"] == "completed"


def test_a_named_old_value_and_a_repeated_fact_raise_no_question(site: Site) -> None:
    peer = Peer(site, NEW)
    assert ask(site, peer, "I live in Linz.")["state"] == "completed"
    assert ask(site, peer, "I moved from Linz to Vienna.")["state"] == "completed"
    assert ask(site, peer, "I live in Vienna.")["state"] == "completed"
    assert residences(site) == ["Vienna"]


def test_an_unnamed_replacement_of_an_equal_source_is_asked_about(site: Site) -> None:
    peer = Peer(site, NEW)
    ask(site, peer, "I live in Linz.")
    task = ask(site, peer, "I live in Vienna.")
    assert task["state"] == "input-required"
    peer.begin({"resolution": "keep_existing"}, taskId=task["id"])
    assert residences(site) == ["Linz"]


def test_messages_that_cannot_be_processed_fail_the_task_and_stay(site: Site) -> None:
    peer = Peer(site, NEW)
    task = peer.begin("I live in Linz.")
    store = site.parts.store
    with store.reader("ana") as reader:
        (job,) = reader.jobs(JobFilter(statuses=frozenset({JobStatus.QUEUED})))
    store.commit("ana", lambda writer: writer.put(replace(job, status=JobStatus.FAILED, run_after_us=1 << 60)))
    assert peer.get(task["id"])["state"] == "working"
    store.commit("ana", lambda writer: writer.put(replace(job, status=JobStatus.DEAD)))
    failed = peer.get(task["id"])
    assert failed["state"] == "failed"
    assert "stored" in str(failed["status"]["message"])
    assert site.send("POST", "/v1/search", json={"query": "Linz"}).json()["hits"]


def test_an_answer_waits_for_its_task_no_longer_than_a_call_may_take(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START)) as site:
        Peer(site, NEW).begin("I work in Graz.")  # loads the SDK, which takes longer than the call below may
    with serving(tmp_path / "memory.db", ManualClock(START), call_seconds=6.0) as site:
        peer = Peer(site, NEW)
        params = peer.message(["I live in Linz."])
        del params["configuration"]
        assert read_task(peer.call("send", params))["state"] == "submitted"


@each_way
def test_an_answer_comes_when_the_worker_has_processed_the_messages(
    tmp_path: Path, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "AGENT_WAIT_SECONDS", 240.0)  # the worker may be late
    with serving(tmp_path / "memory.db", ManualClock(START), work=True) as site:
        peer = Peer(site, way)
        params = peer.message(["I live in Linz."])
        params["configuration"] = {} if way.version == "1.0" else {"blocking": True}
        assert read_task(peer.call("send", params))["state"] == "completed"


def read_events(text: str) -> list[dict[str, Any]]:
    """Return the events of a stream, without the envelope of JSON-RPC."""
    found = [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]
    return [one.get("result", one) for one in found]


def list_states(events: list[dict[str, Any]]) -> list[str]:
    shown = [one.get("task") or one.get("statusUpdate") or one for one in events]
    return [name_state(one["status"]["state"]) for one in shown if "status" in one]


@each_way
def test_a_stream_begins_with_the_task_and_ends_when_it_is_settled(tmp_path: Path, way: Way) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), work=True) as site:
        peer = Peer(site, way)
        answered = peer.call("stream", peer.message(["I live in Linz."]))
        assert answered.headers["content-type"].startswith("text/event-stream")
        assert answered.headers["cache-control"] == "no-store"
        events = read_events(answered.text)
        states = list_states(events)
        assert states[-1] == "completed"
        assert states == sorted(states, key=["submitted", "working", "completed"].index)
        task_id = events[0].get("task", events[0])["id"]
        assert "rtifact" in answered.text
        again = peer.call("subscribe", {"id": task_id})
        assert "the task is completed" in again.text
        assert "error" in again.text


def test_a_task_that_waits_for_an_answer_can_be_subscribed_to(site: Site) -> None:
    peer, task = dispute(site, NEW)
    events = read_events(peer.call("subscribe", {"id": task["id"]}).text)
    assert list_states(events) == ["input-required"]
    assert read_error(peer.call("subscribe", {"id": "none"}))[1] == "TASK_NOT_FOUND"
    peer.begin({"resolution": "keep_new"}, taskId=task["id"])
    assert read_error(peer.call("subscribe", {"id": task["id"]}))[1] == "UNSUPPORTED_OPERATION"


def test_a_list_pages_and_filters(site: Site) -> None:
    peer, waiting = dispute(site, NEW)
    others = [ask(site, peer, f"I like {what}.")["id"] for what in ("tea", "chess", "jam")]

    def listed(**given: Any) -> dict[str, Any]:  # noqa: ANN401
        return site.send("GET", "/a2a/tasks", params=given, headers=NEW.headers).json()

    whole = listed()
    assert (whole["totalSize"], {one["id"] for one in whole["tasks"]}) == (4, {waiting["id"], *others})
    assert "artifacts" not in whole["tasks"][0]
    assert any("artifacts" in one for one in listed(includeArtifacts="true")["tasks"])
    assert [one["id"] for one in listed(status="TASK_STATE_INPUT_REQUIRED")["tasks"]] == [waiting["id"]]
    assert listed(contextId="none")["tasks"] == []
    assert all("history" not in one or not one["history"] for one in listed(historyLength=0)["tasks"])
    seen, token = list[str](), ""
    while token or not seen:
        page = listed(pageSize=2, pageToken=token) if token else listed(pageSize=2)
        seen += [one["id"] for one in page["tasks"]]
        token = page["nextPageToken"]
    assert seen == [one["id"] for one in whole["tasks"]]
    for wrong in ({"pageSize": 0}, {"pageSize": 101}, {"pageToken": "nonsense"}, {"historyLength": -1}):
        assert listed(**wrong)["error"]["code"] == 400


def test_of_answers_at_once_the_first_is_carried_out_and_the_others_are_refused(site: Site) -> None:
    peer, task = dispute(site, NEW)

    def answer(number: int) -> Response:
        return peer.send({"resolution": "keep_new" if number % 2 else "keep_existing"}, taskId=task["id"])

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(answer, range(6)))
    assert sum("result" in one.json() for one in answers) == 1
    assert {one.json()["error"]["code"] for one in answers if "error" in one.json()} == {-32004}
    assert len(residences(site)) == 1


def test_a_message_that_is_sent_many_times_at_once_begins_one_task(site: Site) -> None:
    peer = Peer(site, NEW)

    def begin(name: str) -> str:
        return peer.begin("I like tea.", messageId=name)["id"]

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(begin, ["one"] * 6))) == 1
    assert site.send("GET", "/v1/stats").json()["events"] == 1
