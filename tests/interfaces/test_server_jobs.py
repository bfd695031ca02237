"""Jobs over REST: long calls in the background, their progress as events, retries, and what outlives a process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response

from credenda import Credenda, limits
from credenda.current_call import check_deadline
from credenda.errors import Unavailable
from credenda.interfaces.call_worker import run_calls
from credenda.interfaces.server.rest import JobEvents
from credenda.model.job import JobInfo
from credenda.runtime import Parts
from credenda.services import jobs
from credenda.storage.store import JobFilter, JobStatus, Writer
from credenda.testing import ManualClock
from tests.waiting import await_that

from .served import Site, serving

START = "2026-03-01T09:00:00Z"
LATER = {"Prefer": "respond-async"}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with serving(tmp_path / "memory.db", ManualClock(START)) as opened:
        for text in ("I live in Linz.", "I moved to Graz.", "I like tea."):
            opened.send("POST", "/v1/memories", json={"content": text, "session": "s"})
        opened.settle()
        yield opened


def start(site: Site, path: str = "/v1/consolidations", **inputs: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    answered = site.send("POST", path, json=inputs, headers=LATER)
    assert answered.status_code == 202, answered.text
    assert answered.headers["Preference-Applied"] == "respond-async"
    job = answered.json()
    assert answered.headers["Location"] == f"/v1/jobs/{job['id']}"
    return job


def work(site: Site) -> int:
    view = site.parts.for_user("ana")
    try:
        return run_calls(view, None)
    finally:
        view.release()


def read(site: Site, job_id: str) -> dict[str, Any]:
    return site.send("GET", f"/v1/jobs/{job_id}").json()


def move(site: Site, job_id: str, **fields: Any) -> None:  # noqa: ANN401 - fields of a job
    """Change the row of a job as another process would."""

    def unit(writer: Writer) -> None:
        (job,) = writer.jobs(JobFilter(id=job_id))
        writer.put(replace(job, **fields))

    site.parts.store.commit("ana", unit)


def events(answered: Response) -> list[dict[str, str]]:
    """Parse server-sent events."""
    blocks = [block for block in answered.text.split("\n\n") if block]
    assert blocks[0] == "retry: 1000"
    return [dict(line.split(": ", 1) for line in block.splitlines()) for block in blocks[1:]]


@pytest.mark.requirement("S-076", "S-077")
@pytest.mark.parametrize(
    ("path", "inputs", "key"),
    [
        ("/v1/consolidations", {"dry_run": True, "force": True}, "groups_found"),
        ("/v1/dreams", {"dry_run": True, "steps": ["merge"]}, "steps"),
        ("/v1/reindex", {"model": "hashed", "clear_existing": True}, "embedded"),
        ("/v1/reindex", {"model": "hashed", "dry_run": True}, "embedded"),
        ("/v1/compress", {}, "examined"),
    ],
)
def test_a_long_call_is_answered_at_once_or_later_with_the_same_result(
    path: str, inputs: Mapping[str, Any], key: str, site: Site
) -> None:
    queued = start(site, path, **inputs)
    assert (queued["state"], queued["result"]) == ("queued", None)
    now = site.send("POST", path, json=inputs)
    assert now.status_code == 200, now.text
    assert work(site) == 1
    done = read(site, queued["id"])
    assert (done["state"], done["attempts"], done["error"]) == ("complete", 1, "")
    assert done["result"].keys() == now.json().keys()
    assert done["result"][key] == now.json()[key] or path == "/v1/reindex"
    assert work(site) == 0


def test_reindexing_counts_first_and_then_replaces_the_vectors_one_by_one(site: Site) -> None:
    (planned, first, second, again) = (
        site.send("POST", "/v1/reindex", json={"model": "hashed", **more}).json()
        for more in ({"dry_run": True}, {}, {}, {"clear_existing": True})
    )
    assert planned["dry_run"] is True
    assert planned["embedded"] == first["embedded"] == again["embedded"] > 0
    assert (second["embedded"], planned["vectors_by_model"]) == (0, {})
    assert again["vectors_by_model"] == first["vectors_by_model"]


def test_jobs_are_listed_newest_first_in_pages(site: Site) -> None:
    ids = [start(site, dry_run=True)["id"] for _ in range(3)]
    listed = [one["id"] for one in site.send("GET", "/v1/jobs", params={"kind": "call"}).json()["items"]]
    assert listed == ids[::-1]
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        page = site.send("GET", "/v1/jobs", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        seen += [one["id"] for one in page["items"]]
        cursor = page["next_cursor"]
    assert seen[:3] == ids[::-1]
    assert len(seen) == len(set(seen)) == 6
    done = site.send("GET", "/v1/jobs", params={"state": "complete"}).json()["items"]
    assert {one["kind"] for one in done} == {"extract"}
    assert all(one["messages"] == 1 for one in done)


@pytest.mark.parametrize("query", ["kind=dig", "state=gone", "kind="])
def test_a_kind_or_state_that_does_not_exist_is_refused(site: Site, query: str) -> None:
    refused = site.send("GET", f"/v1/jobs?{query}")
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
    assert "choose one of" in refused.text or "give one of" in refused.text


def test_the_events_of_a_job_tell_each_state_once_and_resume_where_they_broke_off(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HTTP_STREAM_SECONDS", 0.0)
    job = start(site, dry_run=True)
    path = f"/v1/jobs/{job['id']}/events"
    (first,) = events(site.send("GET", path))
    assert (first["event"], json.loads(first["data"])["id"]) == ("queued", job["id"])
    assert events(site.send("GET", path, headers={"Last-Event-ID": first["id"]})) == []
    work(site)
    resumed = site.send("GET", path, headers={"Last-Event-ID": first["id"]})
    assert resumed.headers["content-type"].startswith("text/event-stream")
    (last,) = events(resumed)
    assert (last["event"], json.loads(last["data"])["result"]["dry_run"]) == ("complete", True)
    assert site.send("GET", path, headers={"Last-Event-ID": last["id"]}).status_code == 204
    assert events(site.send("GET", path, headers={"Last-Event-ID": "anything"})) == [last]


def test_events_arrive_while_a_job_runs(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HTTP_EVENT_SECONDS", 0.0)
    job = start(site, dry_run=True)
    steps = iter([{"status": JobStatus.PROCESSING, "attempts": 1}, {"outcome": '{"done": 3, "total": 9}'}])
    whole = JobEvents.read_job

    def read_and_move(self: JobEvents, job_id: str) -> JobInfo:
        found = whole(self, job_id)
        move(site, job_id, **next(steps, {"status": JobStatus.COMPLETE}))
        return found

    monkeypatch.setattr(JobEvents, "read_job", read_and_move)
    told = events(site.send("GET", f"/v1/jobs/{job['id']}/events"))
    assert [one["event"] for one in told] == ["queued", "processing", "processing", "complete"]
    assert [json.loads(one["data"])["done"] for one in told] == [0, 0, 3, 3]
    assert len({one["id"] for one in told}) == 4


def test_only_so_many_streams_of_a_user_are_open_at_a_time(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HTTP_STREAMS", 0)
    job = start(site, dry_run=True)
    refused = site.send("GET", f"/v1/jobs/{job['id']}/events")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
    assert site.send("POST", f"/v1/jobs/{job['id']}/events").status_code == 405
    assert site.send("GET", "/v1/jobs/j99-000000/events").status_code == 404


def test_a_queued_call_is_cancelled_and_may_be_retried(site: Site) -> None:
    job = start(site, dry_run=True)
    cancelled = site.send("POST", f"/v1/jobs/{job['id']}/cancel", json={})
    assert (cancelled.status_code, cancelled.json()["state"]) == (202, "cancelled")
    assert work(site) == 0
    assert site.send("POST", f"/v1/jobs/{job['id']}/cancel", json={}).status_code == 409
    assert [one["id"] for one in site.send("GET", "/v1/jobs", params={"state": "dead"}).json()["items"]] == []
    assert site.send("POST", f"/v1/jobs/{job['id']}/retry", json={}).json()["state"] == "queued"
    assert work(site) == 1
    assert read(site, job["id"])["state"] == "complete"
    assert site.send("POST", f"/v1/jobs/{job['id']}/retry", json={}).status_code == 409


def test_a_running_call_stops_at_its_next_statement_when_it_is_cancelled(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_WATCH_SECONDS", 0.005)
    job = start(site, dry_run=True)

    def run(parts: Parts, call: jobs.Call, progress: Any) -> None:  # noqa: ANN401 - a callback
        del parts, call
        progress(1, 2)
        assert site.send("POST", f"/v1/jobs/{job['id']}/cancel", json={}).json()["state"] == "processing"
        await_that(check_deadline, "the cancellation")

    view = site.parts.for_user("ana")
    assert jobs.run_due_call(view, run) == 1
    view.release()
    ended = read(site, job["id"])
    assert (ended["state"], ended["result"], ended["done"], ended["total"]) == ("cancelled", None, 1, 2)


def test_a_message_is_acknowledged_and_its_job_is_not_cancelled(site: Site) -> None:
    said = site.send("POST", "/v1/memories", json={"content": "I play chess."}).json()
    refused = site.send("POST", f"/v1/jobs/{said['job_id']}/cancel", json={})
    assert (refused.status_code, refused.json()["detail"]) == (409, "it processes messages that were acknowledged")
    move(site, said["job_id"], status=JobStatus.DEAD, attempts=5, error="Unavailable")
    assert read(site, said["job_id"])["state"] == "dead"
    assert site.send("POST", f"/v1/jobs/{said['job_id']}/retry", json={}).json()["attempts"] == 0
    site.settle()
    assert read(site, said["job_id"])["state"] == "complete"
    assert "chess" in site.send("GET", "/v1/memories").text


def test_a_call_that_fails_is_tried_again_and_then_waits_for_a_person(site: Site) -> None:
    job = start(site, dry_run=True)
    clock = site.parts.clock
    assert isinstance(clock, ManualClock)

    def run(parts: Parts, call: jobs.Call, progress: Any) -> None:  # noqa: ANN401 - a callback
        del parts, call, progress
        raise Unavailable("the disk is full")

    view = site.parts.for_user("ana")
    for attempt in range(1, 6):
        assert jobs.run_due_call(view, run) == 1
        assert jobs.run_due_call(view, run) == 0
        found = read(site, job["id"])
        assert (found["attempts"], found["error"]) == (attempt, "Unavailable: the disk is full")
        assert found["state"] == ("failed" if attempt < 5 else "dead")
        clock.advance(timedelta(seconds=3_600))
    view.release()
    assert site.send("GET", "/v1/stats").json()["dead_jobs"] == 0
    assert site.send("POST", "/v1/doctor", json={}).json()["ok"] is True


def test_a_wrong_input_ends_a_call_at_once(site: Site) -> None:
    job = start(site, "/v1/dreams", steps=["nonsense"])
    work(site)
    found = read(site, job["id"])
    assert (found["state"], found["attempts"]) == ("dead", 1)
    assert found["error"].startswith("Invalid")


def test_a_call_outlives_its_process_and_is_taken_over_once_its_lease_is_over(tmp_path: Path) -> None:
    db, clock = tmp_path / "memory.db", ManualClock(START)
    with serving(db, clock) as site:
        site.send("POST", "/v1/memories", json={"content": "I live in Linz."})
        job = start(site, dry_run=True)
        until_us = clock.now_us() + 60_000_000
        move(site, job["id"], status=JobStatus.PROCESSING, attempts=1, lease_owner="host:1", lease_until_us=until_us)
    with serving(db, clock) as site:
        assert read(site, job["id"])["state"] == "processing"
        assert work(site) == 0
        clock.advance(timedelta(seconds=61))
        assert work(site) == 1
        assert (read(site, job["id"])["state"], read(site, job["id"])["attempts"]) == ("complete", 2)


def test_the_server_runs_calls_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HTTP_EVENT_SECONDS", 0.01)
    with serving(tmp_path / "memory.db", ManualClock(START), work=True) as site:
        job = start(site, dry_run=True)
        told = events(site.send("GET", f"/v1/jobs/{job['id']}/events"))
        assert told[-1]["event"] == "complete"


def test_the_result_of_a_call_goes_with_whatever_it_may_quote(site: Site) -> None:
    job = start(site, dry_run=True)
    work(site)
    assert read(site, job["id"])["result"] is not None
    memory = site.send("GET", "/v1/memories", params={"attribute": "likes"}).json()["items"][0]
    site.send("DELETE", f"/v1/memories/{memory['id']}")
    assert (read(site, job["id"])["state"], read(site, job["id"])["result"]) == ("complete", None)


def test_a_result_is_not_kept_where_something_was_deleted_meanwhile(site: Site) -> None:
    job = start(site, dry_run=True)
    memory = site.send("GET", "/v1/memories", params={"attribute": "likes"}).json()["items"][0]

    def run(parts: Parts, call: jobs.Call, progress: Any) -> dict[str, str]:  # noqa: ANN401 - a callback
        del parts, call, progress
        site.send("DELETE", f"/v1/memories/{memory['id']}")
        return {"text": "I like tea."}

    view = site.parts.for_user("ana")
    jobs.run_due_call(view, run)
    view.release()
    assert (read(site, job["id"])["state"], read(site, job["id"])["result"]) == ("complete", None)


def test_a_call_waits_for_no_message_and_no_message_for_a_call(site: Site) -> None:
    start(site, dry_run=True)
    site.settle()
    assert site.send("GET", "/v1/stats").json()["pending_extractions"] == 0
    assert "credenda_oldest_unread_seconds 0" in site.send("GET", "/metrics").text


def test_no_more_than_a_bound_of_calls_waits(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CALLS_WAITING", 2)
    start(site, dry_run=True)
    start(site, dry_run=True)
    refused = site.send("POST", "/v1/consolidations", json={}, headers=LATER)
    assert (refused.status_code, refused.json()["code"]) == (413, "limit_exceeded")


def test_old_results_are_dropped_and_long_ones_never_kept(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    first = start(site, dry_run=True)
    work(site)
    clock = site.parts.clock
    assert isinstance(clock, ManualClock)
    clock.advance(timedelta(seconds=(limits.CALL_KEPT_DAYS + 1) * 86_400))
    monkeypatch.setattr(limits, "CALL_RESULT_CHARACTERS", 10)
    second = start(site, dry_run=True)
    assert read(site, first["id"])["result"] is None
    work(site)
    assert (read(site, second["id"])["state"], read(site, second["id"])["result"]) == ("complete", None)


def test_a_job_of_another_user_is_unknown(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        anas, bobs = site.token("ana"), site.token("bob")
        for token in (anas, bobs):
            site.send("POST", "/v1/memories", token, json={"content": "I live in Linz."})
        job = site.send("POST", "/v1/consolidations", anas, json={"dry_run": True}, headers=LATER).json()
        for method, end in (("GET", ""), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/retry")):
            assert site.send(method, f"/v1/jobs/{job['id']}{end}", bobs).status_code == 404
            assert site.send(method, f"/v1/jobs/{job['id']}{end}").status_code == 401
        assert [one["kind"] for one in site.send("GET", "/v1/jobs", bobs).json()["items"]] == ["extract"]


def test_python_starts_and_follows_a_call(tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "memory.db", user="ana", clock=ManualClock(START), workers=False) as memory:
        job = memory.jobs.start("consolidate", {"dry_run": True})
        assert memory.jobs.get(job.id) == job
        assert memory.jobs.cancel(job.id).state == "cancelled"
        assert [one.id for one in memory.jobs.list(state="cancelled").items] == [job.id]
        assert memory.jobs.retry(job.id).attempts == 0
