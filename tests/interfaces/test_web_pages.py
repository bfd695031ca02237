"""Every page of the web interface, read by a person who is logged in: HTML, its twin, and what must be on it."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from credenda import MemoryUnit
from credenda.clock import seconds
from credenda.interfaces.server.memories import Memories
from credenda.interfaces.server.metrics import ProbeResult
from credenda.interfaces.web.routes import PAGES
from credenda.services import access
from credenda.testing import ManualClock

from .pages import Person, memory_of, parse, serving_pages, tell
from .served import Site

pytestmark = pytest.mark.tokens


def alternate(site: Site, clock: ManualClock) -> None:
    """Say values in turn, until there is a contest."""
    for colour in ("teal", "amber", "teal"):
        tell(site, f"My favourite colour is {colour}.", session="colours")
        clock.advance(timedelta(days=3))


# The shell


def test_every_page_of_the_menu_is_whole_html_with_a_twin_of_the_same_data(person: Person, site: Site) -> None:
    tell(site, "I live in Linz.", session="intro")
    for page in (one for one in PAGES if one.group):
        response = person.get(page.path)
        assert response.status_code == 200, (page.name, response.text)
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        assert 'aria-current="page"' in response.text
        assert isinstance(person.json(page.twin_path), dict), page.name


def test_a_page_forbids_inline_code_and_other_hosts_and_has_none(person: Person, site: Site) -> None:
    tell(site, "I live in Linz.")
    for page in (one for one in PAGES if one.group):
        response = person.get(page.path)
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "style-src 'self'" in policy
        assert "unsafe" not in policy
        assert response.headers["Cache-Control"] == "no-store"
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", response.text), page.name
        assert not re.search(r'(?:src|href|action)="(?:https?:)?//', response.text), page.name


def test_assets_need_no_login_and_are_kept_by_the_browser(site: Site) -> None:
    stranger = Person(site, log_in=False)
    response = stranger.browser.get("/static/style.css")
    assert response.status_code == 200
    assert "immutable" in response.headers["Cache-Control"]
    assert stranger.browser.post("/static/style.css", {}).status_code == 405


def test_a_page_without_a_login_leads_to_the_login_and_back(site: Site) -> None:
    stranger = Person(site, log_in=False)
    answer = stranger.get("/inbox?lang=de")
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/login?page=%2Finbox%3Flang%3Dde"
    assert stranger.browser.get("/inbox.json").status_code == 401


def test_a_login_ends_where_it_was_asked_for_and_never_elsewhere(site: Site, clock: ManualClock) -> None:
    for wanted, reached in (
        ("/inbox", "/inbox"),
        ("", "/"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/a\nb", "/"),
    ):
        code = access.issue_link(site.parts.store.secrets, "ana", clock.now_us())
        answer = Person(site, log_in=False).browser.post("/login", {"code": code, "page": wanted})
        assert answer.headers["Location"] == reached, wanted


def test_lines_for_programs_name_a_token_only_where_one_is_needed(
    person: Person, tmp_path: Path, clock: ManualClock
) -> None:
    guarded = person.get("/connect").text
    assert "Bearer TOKEN" in guarded
    assert "claude.ai, ChatGPT" in guarded
    (tmp_path / "open").mkdir()
    with serving_pages(tmp_path / "open", clock, tokens=False) as site:
        shown = Person(site, log_in=False).get("/connect").text
    assert "claude mcp add --transport http credenda" in shown
    assert not {"Bearer", "TOKEN", "claude.ai"} & set(re.findall(r"[\w.]+", shown))


def test_unread_messages_stand_beside_the_import(person: Person, site: Site) -> None:
    assert "<progress" not in person.get("/data").text
    with memory_of(site, site.parts.user_id) as memory:
        memory.remember("I live in Graz.")
        memory.settle(60)
        memory.remember("I have a kayak.")
    for address in ("/data", "/jobs"):
        assert "1 of 2 messages are read." in person.get(address).text
    assert "All messages are read." not in person.get("/data").text
    with memory_of(site, site.parts.user_id) as memory:
        memory.settle(60)
    assert "All messages are read." in person.get("/data").text


def test_a_choice_names_no_key_of_the_engine(person: Person) -> None:
    for address in ("/search", "/agent"):
        shown = [*re.findall(r"<option[^>]*>([^<]*)</option>", person.get(address).text)]
        assert "facts only" in shown
        assert not [one for one in shown if "_" in one.partition(" (")[0]]


def test_the_lines_of_a_context_are_ordered_by_their_scores(person: Person, site: Site) -> None:
    with memory_of(site, site.parts.user_id) as memory:
        for words in ("I like rowing.", "I like rowing at dawn.", "My boat is called Heron.", "I row with Tess."):
            memory.remember(words)
        memory.settle(60)
    page = re.sub(r"<[^>]+>", "", person.get("/agent?prompt=Do+I+like+rowing%3F&budget=2000").text)
    scores = [float(one) for one in re.findall(r"score (\d\.\d{2})", page.partition("Left out")[0])]
    assert len(scores) > 2
    assert scores == sorted(scores, reverse=True)


def test_the_jobs_of_many_messages_are_one_line(person: Person, site: Site) -> None:
    with memory_of(site, site.parts.user_id) as memory:
        for town in ("Graz", "Wels", "Linz"):
            memory.remember(f"I live in {town}.")
        memory.settle(60)
        memory.remember("I have a kayak.")
        memory.remember("I have a canoe.")
    shown = re.sub(r"<[^>]+>", "", person.get("/jobs").text)
    lines = re.findall(r"Read messages (\w+)\s+(\d) messages", shown)
    assert lines == [("queued", "2"), ("complete", "3")]
    assert len(re.findall(r"Read messages", shown)) == 2


def test_without_tokens_the_pages_are_open_on_this_machine(tmp_path: Path, clock: ManualClock) -> None:
    with serving_pages(tmp_path, clock, tokens=False) as site:
        assert Person(site, log_in=False).get("/").status_code == 200


def test_a_person_sees_no_memory_of_another(person: Person, site: Site) -> None:
    theirs = tell(site, "I live in Graz.", user="bob")[0]
    for path in (f"/memory/{theirs}", f"/memory/{theirs}/delete"):
        assert person.get(path).status_code == 404
    for page in (one for one in PAGES if one.group):
        assert "Graz" not in person.get(page.path).text


def test_a_token_reads_the_twins_and_changes_nothing_by_a_form(site: Site) -> None:
    memory = tell(site, "I live in Linz.")[0]
    token = site.token("ana")
    assert site.send("GET", f"/memory/{memory}.json", token).status_code == 200
    form = {"csrf": "", "reason": "x"}
    assert site.send("POST", f"/memory/{memory}/forget", token, data=form).status_code == 403


def test_a_token_that_may_only_read_sees_no_button_that_changes(site: Site) -> None:
    memory = tell(site, "I live in Linz.")[0]
    token = site.token("ana", ["memory:read"])
    page = site.send("GET", f"/memory/{memory}", token, headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert 'method="post"' not in page.text


def test_an_error_is_a_page_for_a_browser_and_a_problem_for_a_program(person: Person) -> None:
    page = person.get("/memory/m99-000000")
    assert page.status_code == 404
    assert "What to do:" in page.text
    twin = person.browser.get("/memory/m99-000000.json")
    assert twin.headers["content-type"] == "application/problem+json"
    assert person.get("/nowhere").headers["content-type"].startswith("text/html")


def test_the_language_is_that_of_the_browser_until_the_person_picks_one(person: Person) -> None:
    assert '<html lang="de">' in person.get("/", **{"Accept-Language": "fr, de;q=0.8"}).text
    assert '<html lang="en">' in person.get("/").text
    picked = person.get("/?lang=de")
    assert "Übersicht" in picked.text
    assert '<html lang="de">' in person.get("/inbox").text


# Overview


def test_the_overview_says_what_waits_and_what_to_do_first(person: Person, site: Site, clock: ManualClock) -> None:
    assert "Nothing is remembered yet." in person.read("/").text
    tell(site, "I live in Linz.")
    alternate(site, clock)
    clock.advance(timedelta(days=8))
    person.log_in()
    page = person.json("/overview.json")
    assert page["open_contests"] == 1
    assert page["never_used"] == page["counted"] == 3
    assert page["statuses"]["active"] == 3
    assert page["disk_bytes"] > 0
    shown = person.read("/")
    assert "1waiting for your answer" in shown.text.replace("\n", "")
    assert any(link.startswith("/inbox#k") for link in shown.links)


def test_an_unread_message_is_a_fault_after_a_minute(person: Person, site: Site, clock: ManualClock) -> None:
    site.send("POST", "/v1/memories", site.token("ana"), json={"content": "I live in Linz."})
    clock.advance(timedelta(minutes=2))
    assert person.json("/overview.json")["is_slow"]
    assert "2 minutes" in person.read("/").text


@pytest.mark.parametrize(("ok", "shown"), [(True, "60 ms"), (False, "failed")])
def test_the_last_probe_is_on_the_overview(
    person: Person, monkeypatch: pytest.MonkeyPatch, *, ok: bool, shown: str
) -> None:
    result = ProbeResult(ok=ok, at_seconds=seconds(), write_seconds=0.01, read_seconds=0.02, find_seconds=0.03)

    def describe(_: Memories) -> ProbeResult:
        return result

    monkeypatch.setattr(Memories, "describe_probe", describe)
    assert shown in person.read("/").text
    assert person.json("/overview.json")["probe"]["ok"] is ok


# What the agent gets


def test_the_agents_text_is_exact_and_every_line_has_its_reason(person: Person, site: Site) -> None:
    tell(site, "I live in Linz.", "I am allergic to peanuts.")
    page = person.json("/agent.json?prompt=Where+do+I+live%3F")
    preview = page["preview"]
    assert "residence: Linz (told " in preview["text"]
    assert all(line["reason"] for line in (*preview["lines"], *preview["left_out"]))
    shown = person.read("/agent?prompt=Where+do+I+live%3F")
    assert preview["text"].splitlines()[0] in shown.text
    small = person.json("/agent.json?prompt=Where+do+I+live%3F&budget=60")["preview"]
    assert small["tokens"] <= 60
    assert small["left_out"]


def test_the_agents_text_of_a_past_day_has_only_what_was_known(person: Person, site: Site, clock: ManualClock) -> None:
    tell(site, "I live in Vienna.")
    clock.advance(timedelta(days=30))
    tell(site, "I moved to Linz.")
    person.log_in()
    past = person.json("/agent.json?prompt=Where+do+I+live%3F&day=2026-03-05")["preview"]["text"]
    now = person.json("/agent.json?prompt=Where+do+I+live%3F")["preview"]["text"]
    assert "Vienna" in past
    assert "Linz" not in past
    assert "Linz" in now


def test_a_preview_records_no_recall(person: Person, site: Site) -> None:
    memory = tell(site, "I live in Linz.")[0]
    person.get("/agent?prompt=Where+do+I+live%3F")
    person.get("/search?q=Where+do+I+live%3F")
    person.get("/memories?q=Linz")
    assert person.json(f"/memory/{memory}.json")["uses"]["uses"] == []


# Memories, search, sessions


def test_memories_are_found_by_words_and_narrowed_by_facets(person: Person, site: Site) -> None:
    tell(site, "I live in Linz.", session="intro")
    tell(site, "I prefer black tea.", session="drinks", source="ingest")
    page = person.json("/memories.json")
    assert page["facets"]["type"] == {"preference": 1, "fact": 1}
    assert page["facets"]["session"] == {"drinks": 1, "intro": 1}
    for query in ("type=preference", "session=drinks", "source=ingest", "q=tea&type=preference", "entity=user&q=tea"):
        found = person.json(f"/memories.json?{query}")["memories"]
        assert [one["text"] for one in found] == ["I prefer black tea."], query
    assert person.json("/memories.json?stance=negated")["memories"] == []
    assert person.get("/memories?type=nonsense").status_code == 422


def test_memories_of_a_past_day_and_the_difference_of_two(person: Person, site: Site, clock: ManualClock) -> None:
    tell(site, "I live in Vienna.")
    clock.advance(timedelta(days=30))
    tell(site, "I moved to Linz.")
    person.log_in()
    then = person.json("/memories.json?as_of=2026-03-05")["memories"]
    assert [one["value"] for one in then] == ["Vienna"]
    diff = person.json("/memories.json?since=2026-03-05")["diff"]
    assert [(one["previous"]["value"], one["memory"]["value"]) for one in diff["differences"]] == [("Vienna", "Linz")]
    assert "1 difference" in person.read("/memories?since=2026-03-05").text
    assert "Nothing changed" in person.read("/memories?since=2026-03-30&until=2026-03-30").text


def test_a_long_list_has_pages(person: Person, site: Site) -> None:
    with memory_of(site) as memory:
        for number in range(53):
            memory.store(MemoryUnit(text=f"Number {number} is drawn"))
    first = person.json("/memories.json")
    assert (first["counted"], len(first["memories"]), first["next_offset"]) == (53, 50, 50)
    assert len(person.json("/memories.json?offset=50")["memories"]) == 3
    assert any("offset=50" in link for link in person.read("/memories").links)


def test_a_search_shows_every_term_and_profiles_side_by_side(person: Person, site: Site) -> None:
    tell(site, "I live in Linz.")
    page = person.json("/search.json?q=Where+do+I+live%3F&profile=default&profile=evidence")
    assert [one["profile"] for one in page["columns"]] == ["default", "evidence"]
    assert all(one["result"]["hits"][0]["terms"] for one in page["columns"])
    shown = person.get("/search?q=Where+do+I+live%3F&profile=default&profile=evidence").text
    assert shown.count('<svg class="drawing terms"') >= 2
    assert "No question yet." in person.read("/search").text


def test_a_session_shows_what_was_said_and_learned(person: Person, site: Site) -> None:
    tell(site, "I live in Linz.", "Hm, let me think.", session="intro")
    listed = person.json("/sessions.json")["sessions"]
    assert [(one["session"], one["messages"], one["memories"]) for one in listed] == [("intro", 2, 1)]
    details = person.json("/session.json?session=intro")
    assert [event["text"] for event in details["details"]["events"]] == ["I live in Linz.", "Hm, let me think."]
    assert "nothing was learned" in person.read("/session?session=intro").text
    assert person.get("/session?session=other").status_code == 404


# One memory


def test_a_memory_shows_its_words_in_the_message_and_what_it_replaced(
    person: Person, site: Site, clock: ManualClock
) -> None:
    tell(site, "Hello there. I live in Vienna. How are you?", session="intro")
    clock.advance(timedelta(days=30))
    memory = tell(site, "Good news: I moved to Linz.", session="news")[0]
    person.log_in()
    page = person.get(f"/memory/{memory}").text
    assert re.search(r"<mark>[^<]*I moved to Linz\.</mark>", page)
    assert "What it replaced" in page
    assert '<svg class="drawing lanes"' in page
    data: Any = person.json(f"/memory/{memory}.json")
    assert [one["value"] for one in data["replaced"]] == ["Vienna"]
    older = person.get(f"/memory/{data['replaced'][0]['memory_id']}").text
    assert "It was replaced by" in older


@pytest.mark.requirement("E-024", "E-032")
def test_a_memory_shows_the_nine_factors_of_its_earned_importance(person: Person, site: Site) -> None:
    memory = tell(site, "I'm allergic to dust.")[0]
    person.log_in()
    page = person.get(f"/memory/{memory}").text
    earned: Any = person.json(f"/memory/{memory}.json")["earned"]
    assert len(earned["terms"]) == 9
    assert sum(earned["terms"].values()) == pytest.approx(earned["score"])
    assert all(f">{value:.2f}<" in page for value in earned["terms"].values())
    assert "how often it was told again" in page


def test_the_use_of_a_memory_and_feedback_are_shown(person: Person, site: Site) -> None:
    memory = tell(site, "I live in Linz.")[0]
    token = site.token("ana")
    site.send("GET", "/v1/search", token, params={"query": "where do I live"})
    site.settle()
    person.do(f"/memory/{memory}", "/feedback", useful="no")
    shown = person.json(f"/memory/{memory}.json")["uses"]
    assert [one["useful"] for one in shown["uses"]] == [-1]


def test_a_change_that_was_undone_is_offered_no_second_undo(person: Person, site: Site) -> None:
    (memory_id,) = tell(site, "I live in Linz.")
    with memory_of(site, "ana") as memory:
        memory.manage.pin(memory_id)
        pin = memory.why(memory_id).changes[-1].id
    link = f"/undo?change={memory_id}.{pin}"
    person.log_in()
    assert link in person.read(f"/memory/{memory_id}").links
    with memory_of(site, "ana") as memory:
        memory.manage.undo(pin)
    assert link not in person.read(f"/memory/{memory_id}").links


# What a stranger reads


def _see_text(person: Person, address: str) -> str:
    return " ".join(parse(person.get(address)).text.split())


def test_no_page_shows_an_attribute_by_its_key(person: Person, site: Site) -> None:
    """A key such as `job_title` is how it is stored, and stands in addresses only."""
    with memory_of(site) as memory:
        for number in range(2):
            memory.store(
                MemoryUnit(
                    text=f"Boat {number} is blue.", entity=f"boat {number}", attribute="hull_colour", value="blue"
                )
            )
    shown = ("/", "/memories", "/entities", "/entities?name=boat+1", "/memories?entity=boat+1")
    pages = {address: _see_text(person, address) for address in shown}
    assert [address for address, text in pages.items() if "hull_colour" in text] == []
    assert [address for address, text in pages.items() if "hull colour" not in text] == []
    assert _see_text(person, f"/memory/{person.json('/memories.json')['memories'][0]['id']}").count("hull colour") >= 2


def test_a_hit_says_whose_words_it_is(person: Person, site: Site) -> None:
    with memory_of(site) as memory:
        memory.remember([{"role": "person", "name": "Odile", "content": "The ferry to Bardsey leaves at dawn."}])
        memory.remember([{"role": "assistant", "content": "The ferry may be late on Sundays."}])
        memory.remember("Is the ferry ever cancelled in fog?")
        memory.settle()
    hits = person.get("/search?q=ferry").text.split('<li class="line">')[1:]
    whose = {"Bardsey": "Odile", "Sundays": "the assistant", "fog": "you"}
    for words, name in whose.items():
        (hit,) = (one for one in hits if words in one)
        assert name in hit.partition('class="facts"')[2].partition("</p>")[0]


def test_relations_are_listed_with_what_they_mean_however_many_there_are(person: Person, site: Site) -> None:
    with memory_of(site) as memory:
        for number in range(70):
            name = f"Crew{number:02} Berg"
            memory.store(
                MemoryUnit(text=f"{name} sails with Odile.", entity=name, attribute="sails_with", value="Odile")
            )
    page = parse(person.get("/entities?name=Odile"))
    named = re.findall(r"Crew\d\d Berg", page.text.partition("How they are related")[2])
    assert len(set(named)) == 70
    assert "sails with" in page.text.partition("How they are related")[2]


def test_a_value_is_corrected_by_who_sees_its_statement_and_no_attribute(person: Person, site: Site) -> None:
    tell(site, "I live in Linz.", session="intro")
    found = person.json("/memories.json")["memories"][0]
    page = _see_text(person, f"/memory/{found['id']}?do=correct")
    form = page.partition("Correct …")[2].partition("Reason")[0]
    assert "residence: Linz" in form
    assert "in place of “Linz”" in form
    assert "in your words" in form


def test_what_the_reader_said_does_not_call_the_reader_a_user(person: Person, site: Site) -> None:
    tell(site, "I live in Linz.", session="intro")
    with memory_of(site) as memory:
        memory.remember([{"role": "person", "name": "Odile", "content": "I live in Bardsey."}])
        memory.settle()
    page = parse(person.get("/memories"))
    assert "user:" not in page.text
    assert "Odile" in page.text
    german = person.get("/memories?lang=de").text
    assert "Nutzer:" not in german
    assert "Wohnort: Linz" in german


def test_the_exact_text_of_the_agent_is_seen_whole(site: Site) -> None:
    style = Person(site, log_in=False).browser.get("/static/style.css").text
    rule = re.search(r"\.fence \{[^}]*\}", style)
    assert rule is not None
    assert "max-height" not in rule[0]
