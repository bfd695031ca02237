"""What a newcomer reads on the pages: times in one zone, words in place of keys, and sums that add up."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from credenda.testing import ManualClock

from .pages import HTML, Person, memory_of, parse, tell
from .served import BASE, Site

pytestmark = pytest.mark.tokens
BERLIN = {"credenda-zone": "Europe/Berlin"}


# Times


def test_every_time_of_a_page_is_in_the_zone_of_the_browser(person: Person, site: Site, clock: ManualClock) -> None:
    tell(site, "I live in Vienna.", session="z", occurred_at="2026-01-15T23:15:00Z")
    new = tell(site, "I moved to Linz.", session="z", occurred_at="2026-02-15T23:15:00Z")[0]
    clock.advance(timedelta(days=1))
    person.log_in()
    person.browser.cookies |= BERLIN
    page = person.get(f"/memory/{new}").text
    assert "Times in Europe/Berlin" in page
    assert "2026-02-16 00:15" in page
    assert "2026-02-15 23:15" not in page.replace('datetime="2026-02-15', "")
    change = person.json(f"/memory/{new}.json")["changes"][-1]["id"]
    undo = person.read(f"/undo?change={new}.{change}").text
    assert "+00:00" not in undo
    diff = person.read("/memories?since=2026-02-01&until=2026-03-01").text
    assert "2026-02-01 → 2026-03-01" in diff
    person.browser.cookies["credenda-zone"] = "../../etc/passwd"
    assert "Times in UTC" in person.read("/").text


def test_a_chat_of_a_phone_is_read_in_the_zone_of_the_browser_under_its_name(person: Person) -> None:
    chat = "15/03/2026, 21:15 - Cleo: I have a parrot.\n15/03/2026, 21:16 - Ben: Does it talk?\n"
    person.browser.cookies |= BERLIN
    form = next(one for one in person.read("/data").forms if one.action == "/data/preview")

    def send(**fields: str) -> str:
        cookies = "; ".join(f"{name}={value}" for name, value in person.browser.cookies.items())
        answer = person.site.client.post(
            f"{BASE}/data/import",
            data={**dict(form.fields), **fields},
            files={"file": ("chat.txt", chat.encode(), "text/plain")},
            headers={"Accept": HTML, "Origin": BASE, "Cookie": cookies},
        )
        person.site.client.cookies.clear()
        return re.sub(r"<[^>]+>", "", answer.text)

    refused = send(format="whatsapp", me="Zoe")
    assert "Your name in this chat is missing: its messages are from Cleo, Ben." in refused
    assert "--me" not in refused
    assert "Imported." in send(format="whatsapp", me="Cleo")
    (session,) = person.json("/sessions.json")["sessions"]
    assert "chat" in session["session"]
    assert "sent" not in session["session"]
    assert "2026-03-15 21:15 UTC+01:00" in person.read(f"/session?session={session['session']}").text


def test_a_quotation_has_the_date_of_its_own_words(person: Person, site: Site) -> None:
    first = tell(site, "I left Siemens, I'm at Dynatrace now.", occurred_at="2026-01-10T12:00:00Z")[0]
    tell(site, "I work at Dynatrace.", occurred_at="2026-02-20T12:00:00Z")
    line = person.read("/memories").text
    assert "2026-01-10" in line
    assert "2026-02-20" not in line
    page = person.read(f"/memory/{first}").text
    assert re.search(r"said again\s*[^\n]*2026-02-20", page)


def test_a_value_told_without_a_date_is_told_and_not_true_since(person: Person, site: Site) -> None:
    told = tell(site, "My birthplace is Oslo.")[0]
    page = person.read(f"/memory/{told}").text
    assert "true from" not in page
    assert "told" in page


# Words


def test_what_has_the_words_is_found_first_and_what_is_not_alike_not_at_all(person: Person, site: Site) -> None:
    tell(site, "I'm vegetarian.", "If I lived in Lisbon, I'd eat custard tarts.", "I'm flying to Lisbon on 12 June.")
    tell(site, "I have a cat named Miso.", "My sister Carla works at Lumenthorp.", "I speak Spanish.")
    lisbon = [one["text"] for one in person.json("/memories.json?q=Lisbon")["memories"]]
    assert len(lisbon) == 2
    assert all("Lisbon" in one for one in lisbon)
    assert [one["value"] for one in person.json("/memories.json?q=cat")["memories"]] == ["Miso"]


def test_a_person_has_values_as_they_stand(person: Person, site: Site, clock: ManualClock) -> None:
    meat = {"quote": "Meat is off", "entity": "user", "attribute": "eats", "value": "meat", "stance": "negated"}
    with memory_of(site) as memory:
        memory.remember("Meat is off", claims=[meat])
    tell(site, "I'm flying to Lisbon on 20 March.", "My daughter's name is Myra.")
    tell(site, "No, my daughter is called Mira, not Myra.")
    planned = person.read("/entities?name=user").text
    assert "not meat" in planned
    assert "negated" not in planned
    assert "planned" in planned
    assert "never true" in planned
    clock.advance(timedelta(days=60))
    person.log_in()
    assert "ended" in person.read("/entities?name=user").text


def test_an_undo_is_told_without_keys(person: Person, site: Site) -> None:
    tell(site, "I work as a nurse.")
    new, old = tell(site, "I work as a teacher now.")
    change = person.json(f"/memory/{new}.json")["changes"][-1]["id"]
    for lang, shown, field in (("de", "Sie · Beruf", "ersetzt durch"), ("en", "you · job title", "replaced by")):
        page = person.read(f"/undo?change={new}.{change}&lang={lang}").text
        assert shown in page
        assert field in page
        assert not re.search(r"valid_until|superseded_by|job_title|\bNone\b", page), lang
    with memory_of(site) as memory:
        memory.manage.undo(change)
    assert "undone by the user: that it was" in person.read(f"/memory/{old}").text


def test_the_terms_of_a_score_add_up_to_what_is_shown(person: Person, site: Site) -> None:
    tell(site, "If I lived in Lisbon, I'd eat custard tarts.", "I'm flying to Lisbon on 12 June.", "I like tea.")
    page = person.get("/search?q=Lisbon").text
    drawings = re.findall(r'<svg class="drawing terms".*?</svg>', page)
    assert len(drawings) > 1
    for one in drawings:
        *terms, total = [float(value) for value in re.findall(r'class="figure"[^>]*>([+-][0-9.]+)<', one)]
        assert sum(terms) == pytest.approx(total, abs=0.05), one


def test_an_error_begins_like_a_sentence_and_names_no_command(person: Person) -> None:
    answer = person.get("/memory/m999-abcdef")
    shown = parse(answer).text
    assert answer.status_code == 404
    assert "Nothing here is called" in shown
    assert "look for it under Memories" in shown
    assert "`" not in shown
