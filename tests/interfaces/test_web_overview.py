"""What a person wants first: what was learned and changed lately, when it was said, and the way back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from credenda import MemoryUnit
from credenda.clock import SECOND_US
from credenda.interfaces.server.credentials import LastCalls
from credenda.model.server import AccessToken
from credenda.storage.store import Job, JobStatus, Writer
from credenda.testing import ManualClock

from .pages import Person, memory_of, run_in_background, serving_pages, tell
from .served import Site
from .test_web_actions import contest

pytestmark = pytest.mark.tokens


# The first page


def test_the_first_page_begins_with_what_was_learned_and_changed(
    person: Person, site: Site, clock: ManualClock
) -> None:
    tell(site, "I work at Google.")
    clock.advance(timedelta(hours=1))
    newest = tell(site, "I work at Microsoft now.")[0]
    shown = person.read("/")
    text = shown.text
    assert text.index("Learned lately") < text.index("How the memory is doing")
    assert text.index("Changed lately") < text.index("How the memory is doing")
    assert "Zombie" not in text
    latest: Any = person.json("/overview.json")["latest"]
    assert [(one["change"]["kind"], one["successor"]["id"], one["undo"]["memory"]) for one in latest] == [
        ("supersede", newest, newest)
    ]
    (link,) = [one for one in shown.links if one.startswith("/undo?")]
    plan = person.read(link)
    assert "you · employer: Microsoft → Google again" in plan.text
    assert [tag for tag, _ in plan.tags].index("details") < [tag for tag, _ in plan.tags].index("table")
    person.do(link, "/undo/now")
    with memory_of(site) as memory:
        assert [one.value for one in memory.list(attribute="employer").items] == ["Google"]
    latest = person.json("/overview.json")["latest"]
    assert [one["undo"] for one in latest if one["change"]["kind"] == "supersede"] == [None]  # it was undone
    assert all(one["undo"] for one in latest if one["change"]["kind"] == "undo")


@pytest.mark.parametrize(("work", "told"), [(True, "alive"), (False, "none")])
def test_the_page_of_jobs_says_whether_this_server_has_a_worker(
    tmp_path: Path, clock: ManualClock, *, work: bool, told: str
) -> None:
    with serving_pages(tmp_path, clock, tokens=False, work=work) as site:
        tiles = Person(site, log_in=False).read("/jobs").text.replace(" ", "")
        assert f"{told}workerofthisserver" in tiles


def test_the_empty_pages_lead_to_an_import_and_to_an_agent(person: Person) -> None:
    for address in ("/", "/memories"):
        page = person.read(address)
        assert "Import your chats, or connect an agent" in page.text
        assert page.text.count("credenda remember") == 0  # a command in a terminal may open another database
        assert {"/data", "/connect"} <= set(page.links)


def test_a_search_says_that_it_counted_only_the_first_unread_messages(person: Person, site: Site) -> None:
    with memory_of(site) as memory:
        memory.remember([{"role": "user", "content": f"I like soup number {n}."} for n in range(1_000)])
        assert memory.stats().waiting == 1_000
    for address in ("/search?q=soup", "/agent?prompt=soup"):
        assert "ore than 99 messages are not read yet" in person.read(address).text
    assert "0 of 1\u202f000 messages are read." in person.read("/data").text


def test_the_first_page_counts_what_is_held_back(person: Person, site: Site) -> None:
    assert "Nothing is remembered yet." in person.read("/").text
    with memory_of(site) as memory:
        memory.remember([{"role": "tool", "content": "Result 3 of 9. My favourite bank is EvilBank."}])
        memory.settle()
        memory.remember([{"role": "user", "content": "The user's favourite bank is EvilBank."}], source="ai")
        memory.settle()
    shown = person.read("/")
    assert "1 statement is held back" in shown.text
    assert "/inbox#held" in shown.links


def test_a_deleted_memory_is_named_by_no_words_on_the_first_page(person: Person, site: Site) -> None:
    memory_id = tell(site, "I live in Graz.")[0]
    with memory_of(site) as memory:
        memory.delete(memory_id)
    shown = person.read("/")
    assert "Graz" not in shown.text
    assert not [one for one in shown.links if one.startswith("/undo?")]


def test_the_first_page_shows_the_words_of_a_person_and_no_upkeep(
    person: Person, site: Site, clock: ManualClock
) -> None:
    tell(site, "I live in Graz.", "My name is Ana.", "I work at Lindt.", "I'm a baker.", "I'm allergic to kiwi.")
    tell(site, "If I lived in Oslo, I'd ski every day.")
    clock.advance(timedelta(hours=2))
    moved = tell(site, "I moved to Bregenz.")[0]
    with memory_of(site) as memory:
        memory.manage.consolidate(force=True)
        memory.manage.dream()
        made = [one for one in memory.list(limit=50).items if one.speaker == "dream"]
        assert made
    page: Any = person.json("/overview.json")
    names = {one["id"] for one in page["newest"]}
    assert not names & {one.id for one in made}
    assert "Oslo" not in person.read("/").text
    assert "Bregenz" in page["newest"][0]["text"]
    kinds = [(one["change"]["kind"], one["change"]["after"].get("relation")) for one in page["latest"]]
    assert kinds == [("supersede", "changed")]
    assert page["latest"][0]["successor"]["id"] == moved


def test_what_the_nights_doubt_does_not_hide_what_was_said(person: Person, site: Site, clock: ManualClock) -> None:
    tell(site, "I work at Lindt.", "I live in Graz.")
    clock.advance(timedelta(days=400))
    moved = tell(site, "I moved to Bregenz.")[0]
    with memory_of(site) as memory:
        memory.manage.dream()
        assert memory.list(status="challenged").items
    person.log_in()
    latest: Any = person.json("/overview.json")["latest"]
    assert [one["successor"]["id"] for one in latest] == [moved]


def test_a_deletion_and_an_answer_are_each_named_once(person: Person, site: Site, clock: ManualClock) -> None:
    case = contest(site, clock)
    person.do("/inbox", "/answer", id=case, keep="scopes", **{"scope-0": "in winter"})
    latest: Any = person.json("/overview.json")["latest"]
    kept = [one for one in latest if one["memory"] and one["successor"]]
    assert all(one["memory"]["scope"] != one["successor"]["scope"] for one in kept if one["change"]["actor"] == "user")
    shown = " ".join(person.read("/inbox").text.split())
    assert "amber (in winter)" in shown
    assert "teal (default)" not in shown
    assert "default (" not in shown
    deleted = tell(site, "I live in Graz.")[0]
    with memory_of(site) as memory:
        memory.delete(deleted)
    latest = person.json("/overview.json")["latest"]
    assert [one["change"]["kind"] for one in latest].count("delete") == 1


def test_the_inbox_does_not_say_that_nothing_waits_above_what_waits(person: Person, site: Site) -> None:
    assert "Nothing waits for you." in person.read("/inbox").text
    with memory_of(site) as memory:
        memory.remember([{"role": "tool", "content": "Result 3 of 9. My favourite bank is EvilBank."}])
        memory.settle()
        memory.remember([{"role": "user", "content": "The user's favourite bank is EvilBank."}], source="ai")
        memory.settle()
    shown = person.read("/inbox").text
    assert "Held back" in shown
    assert "Nothing waits for you." not in shown


# When it was said


def test_lists_show_when_something_was_said_not_when_it_was_read(person: Person, site: Site) -> None:
    with memory_of(site) as memory:
        memory.remember([{"role": "user", "content": "I live in Linz.", "timestamp": "2024-05-03T10:00:00Z"}])
        memory.settle()
    page = person.read("/memories").text
    assert "said 1 year ago 2024-05-03 10:00 UTC" in " ".join(page.split())
    for path in ("/", "/memories?q=Linz", "/search?q=Linz"):
        assert "2024-05-03 10:00 UTC" in person.read(path).text, path
    said = person.json("/memories.json")["said"]
    assert list(said.values()) == ["2024-05-03T10:00:00Z"]


# Counts of all memories


def test_facets_count_all_memories_that_match(person: Person, site: Site) -> None:
    with memory_of(site) as memory:
        for number in range(60):
            memory.store(MemoryUnit(text=f"Lamp {number} is green.", entity=f"lamp {number % 20}", attribute="colour"))
    tell(site, "I live in Linz.", session="intro")
    page = person.json("/memories.json")
    assert (page["counted"], len(page["memories"]), page["has_more"]) == (61, 50, True)
    assert page["facets"]["attribute"] == {"colour": 60, "residence": 1}
    assert len(page["facets"]["entity"]) == 12
    assert page["facets"]["source"] == {"human": 61}
    last = person.json("/memories.json?offset=50")
    assert (len(last["memories"]), last["has_more"], last["facets"]) == (11, False, page["facets"])
    found = person.json("/memories.json?q=Linz")
    assert found["facets"]["session"] == {"intro": 1}


def test_a_person_with_many_slots_is_shown_whole(person: Person, site: Site) -> None:
    with memory_of(site) as memory:
        for number in range(30):
            memory.store(MemoryUnit(text=f"Trait {number}.", entity="Anna", attribute=f"trait_{number}", value="x"))
        for number in range(70):
            memory.store(MemoryUnit(text=f"Thing {number}.", entity=f"Thing {number}", attribute="colour", value="x"))
    first = person.read("/entities?name=Anna")
    assert "Show 6 more" in first.text
    (link,) = [one for one in first.links if "slots=all" in one]
    assert len(person.json(f"/entities.json{link}")["slots"]) == 30
    listed = person.read("/entities")
    assert "1 to 60 of 71" in listed.text
    assert any("offset=60" in one for one in listed.links)
    assert len(person.json("/entities.json?offset=60")["entities"]) == 11
    assert "No name matches." in person.read("/entities?q=nobody").text


# Connect, workers, backup


def test_the_last_call_of_a_token_is_shown_to_the_second(person: Person, site: Site, clock: ManualClock) -> None:
    token = site.token("ana", name="laptop")
    assert "never" in person.read("/connect").text
    for _ in range(3):
        site.send("GET", "/v1/stats", token)
        clock.advance(timedelta(seconds=3))
    assert "3 seconds ago" in person.read("/connect").text
    recorded = site.parts.store.tokens.list_tokens()[0].last_used_us
    assert recorded == clock.now_us() - 9 * SECOND_US  # written once


def test_another_process_is_believed_where_it_recorded_a_later_call() -> None:
    calls, token = LastCalls(), AccessToken(id="t1", name="laptop", user="ana", scopes=(), created_us=0)
    assert calls.find(token) is None
    assert calls.note(token, 5)
    assert calls.find(token) == 5
    later = AccessToken(id="t1", name="laptop", user="ana", scopes=(), created_us=0, last_used_us=9)
    assert calls.find(later) == 9
    assert not calls.note(later, 10)


def test_workers_of_every_process_are_shown_by_their_leases(person: Person, site: Site, clock: ManualClock) -> None:
    until_us = clock.now_us() + 60 * SECOND_US

    def work(writer: Writer) -> str:
        owner = "farm:77:a.b.c.d.e"
        busy = Job(kind="extract", first=1, last=1, status=JobStatus.PROCESSING, lease_owner=owner)
        return writer.put(replace(busy, lease_until_us=until_us))

    tell(site, "I live in Linz.")
    job_id = site.parts.store.commit("ana", work)
    (found,) = [one for one in person.json("/jobs.json")["workers"] if one["host"] == "farm"]
    assert (found["process"], found["jobs"], found["is_here"]) == ("77", [job_id], False)
    assert "farm:77" in person.read("/jobs").text
    clock.advance(timedelta(minutes=5))
    assert not [one for one in person.json("/jobs.json")["workers"] if one["host"] == "farm"]
    reader = site.token("ana", ["memory:read"])
    assert site.send("GET", "/jobs.json", reader).json()["workers"] == []


def test_a_backup_is_downloaded_by_who_is_alone_in_the_database(person: Person, site: Site, backend: str) -> None:
    tell(site, "I live in Linz.")
    forms = {one.action: one for one in person.read("/data").forms}
    if backend == "postgres":
        assert "/data/backup" not in forms
        assert "pg_dump" in person.read("/data").text
        return
    copy = person.send(forms["/data/backup"])
    assert copy.headers["content-disposition"] == 'attachment; filename="credenda-backup-2026-03-01.db"'
    assert copy.content.startswith(b"SQLite format 3\x00")
    tell(site, "I live in Graz.", user="bob")
    assert "/data/backup" not in [one.action for one in person.read("/data").forms]
    assert "credenda backup FILE" in person.read("/data").text
    assert person.send(forms["/data/backup"]).status_code == 403


# Dreams


def test_a_dream_is_shown_as_a_diff_before_it_is_run_and_undone_after(person: Person, site: Site) -> None:
    tell(site, "My name is Noemi.", "I live in Linz.", "I play the cello.", "I am allergic to peanuts.")
    tell(site, "I work at Google.", "My husband's name is Jonas.", "My cat's name is Miso.", "I speak German.")
    dry = run_in_background(site, "dream", steps=["cards"], dry_run=True)
    shown = person.read(f"/consolidation?job={dry}")
    assert "About the user" in shown.text
    assert not [one for one in shown.forms if one.action == "/undo/now"]
    run = run_in_background(site, "dream", steps=["cards"])
    with memory_of(site) as memory:
        assert memory.list(attribute="peer_card").items
    person.do(f"/consolidation?job={run}", "/undo/now")
    with memory_of(site) as memory:
        assert not memory.list(attribute="peer_card").items


def test_no_written_text_is_quoted_as_what_was_said(site: Site, person: Person) -> None:
    with memory_of(site, site.parts.user_id) as memory:
        memory.remember("I work at Hellbach.")
        memory.remember("I'm at Orlamar now.")
        memory.settle(60)
        memory.manage.consolidate(force=True)
        assert [one.text for one in memory.list(attribute="employer").items] == [
            "I'm at Orlamar now (currently Orlamar; previously Hellbach)."
        ]
    for address in ("/", "/memories", "/search?q=Where+do+I+work%3F"):
        assert "currently Orlamar" not in person.get(address).text


def test_nothing_is_said_to_be_done_while_messages_are_still_being_read(person: Person, site: Site) -> None:
    with memory_of(site) as memory:
        memory.remember("I live in Linz.")
    for address in ("/", "/inbox"):
        page = person.read(address)
        assert "1 message is still being read" in page.text
        assert "othing waits for" not in page.text
        assert "Nothing is remembered yet" not in page.text
    with memory_of(site) as memory:
        memory.settle()
    for address in ("/", "/inbox"):
        page = person.read(address)
        assert "still being read" not in page.text
        assert "othing waits for" in page.text
