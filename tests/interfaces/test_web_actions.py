"""Every action of the pages: it changes what it says, the page then shows the truth, and a button undoes it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda
from credenda.testing import ManualClock

from .pages import Person, memory_of, parse, serving_pages, tell
from .served import Site

pytestmark = pytest.mark.tokens


@pytest.fixture
def memory_id(site: Site) -> str:
    return tell(site, "I live in Linz.", session="intro")[0]


def get(site: Site, memory_id: str) -> Any:  # noqa: ANN401 - a memory
    with memory_of(site) as memory:
        return memory.get(memory_id)


def undo(person: Person, page: Any) -> Any:  # noqa: ANN401 - a parsed page
    """Press the button of the note."""
    form = next(one for one in page.forms if one.action == "/undo/now")
    answer = person.send(form)
    assert answer.status_code == 303, answer.text
    shown = person.read(answer.headers["Location"])
    assert "Undone." in shown.text
    return shown


@pytest.mark.parametrize(
    ("action", "fields", "changed", "message"),
    [
        ("/forget", {"reason": "no longer"}, ("status", "forgotten"), "Forgotten"),
        ("/pin", {}, ("pinned", True), "Pin changed"),
        ("/status", {"status": "archived"}, ("status", "archived"), "Status changed"),
        ("/status", {"status": "invalidated", "reason": "wrong"}, ("status", "invalidated"), "Status changed"),
        ("/demote", {}, ("layer", "episodic"), "Layer changed"),
    ],
)
def test_a_change_is_made_told_and_undone(
    person: Person,
    site: Site,
    memory_id: str,
    *,
    action: str,
    fields: dict[str, str],
    changed: tuple[str, object],
    message: str,
) -> None:
    field, after = changed
    before = getattr(get(site, memory_id), field)
    page = person.do(f"/memory/{memory_id}", action, **fields)
    assert getattr(get(site, memory_id), field) == after
    assert message in page.text
    undo(person, page)
    assert getattr(get(site, memory_id), field) == before


def test_promote_unpin_and_restore_are_the_ways_back(person: Person, site: Site, memory_id: str) -> None:
    path = f"/memory/{memory_id}"
    person.do(path, "/demote")
    person.do(path, "/promote")
    assert get(site, memory_id).layer == "semantic"
    person.do(path, "/pin")
    person.do(path, "/unpin")
    assert not get(site, memory_id).pinned
    person.do(path, "/forget")
    page = person.do(path, "/restore")
    assert "Restored" in page.text
    assert get(site, memory_id).status == "active"


@pytest.mark.parametrize(("field", "text"), [("value", "Graz"), ("text", "I live in Graz.")])
def test_a_correction_replaces_the_memory_and_can_be_undone(
    person: Person, site: Site, memory_id: str, *, field: str, text: str
) -> None:
    page = person.do(f"/memory/{memory_id}", "/correct", **{field: text, "reason": "a slip"})
    assert "Graz" in page.text
    assert "never true" in page.text
    assert "true from 20" not in page.text
    assert get(site, memory_id).status == "superseded"
    assert "true fromnever" in person.read(f"/memory/{memory_id}").text
    undo(person, page)
    assert get(site, memory_id).status == "active"


def test_a_correction_without_a_word_says_what_is_missing(person: Person, memory_id: str) -> None:
    form = next(one for one in person.read(f"/memory/{memory_id}").forms if one.action.endswith("/correct"))
    answer = person.send(form, value="  ", reason="a slip")
    assert answer.status_code == 422
    page = parse(answer)
    assert "Nothing was corrected" in page.text
    assert "write the right value, or the right sentence" in page.text
    (again,) = [one for one in page.forms if one.action == form.action]
    assert dict(again.fields)["reason"] == "a slip"
    assert ("details", {"class": "fold", "open": ""}) in page.tags  # the form stands open
    assert dict(page.tags)["html"]["lang"] == "en"
    corrected = person.send(again, value="Graz")
    assert corrected.status_code == 303


def test_what_is_refused_is_said_on_the_page_of_its_form(person: Person, site: Site, clock: ManualClock) -> None:
    contest(site, clock)
    (form,) = [one for one in person.read("/inbox").forms if one.action == "/inbox/answer"]
    page = parse(person.send(form))
    assert "No answer was chosen" in page.text
    assert [one.action for one in page.forms].count("/inbox/answer") == 1
    assert all(one != "?lang=de" for one in page.links)  # there is no page to read at the address of an action


def test_the_memory_that_is_shown_stays_as_it_is_if_a_program_sends_nothing(person: Person, memory_id: str) -> None:
    form = next(one for one in person.read(f"/memory/{memory_id}").forms if one.action.endswith("/correct"))
    answer = person.browser.post(form.action, dict(form.fields))
    assert answer.headers["content-type"].startswith("application/problem+json")


def test_a_deletion_is_shown_before_it_happens_and_holds(person: Person, site: Site) -> None:
    tell(site, "I live in Linz and I work at Dynatrace.", session="intro")
    with memory_of(site) as memory:
        residence = next(one for one in memory.list().items if one.attribute == "residence")
    preview = person.read(f"/memory/{residence.id}/delete")
    assert "I live in Linz" in preview.text
    with memory_of(site) as memory:
        assert memory.get(residence.id).status == "active"
    page = person.do(f"/memory/{residence.id}/delete", "/delete/now")
    assert "Deleted, with its words." in page.text
    assert "Linz" not in page.text
    assert "Linz" not in person.get(f"/memory/{residence.id}").text
    for path in ("/memories?status=all", "/session?session=intro", "/sessions", "/"):
        assert "Linz" not in person.get(path).text, path


def test_the_other_words_of_a_message_stay_to_be_read(person: Person, site: Site) -> None:
    tell(site, "I like coffee and I like green tea.", session="tea")
    tell(site, "I work as a nurse at St. Olaf hospital.", session="tea")
    with memory_of(site) as memory:
        held = {one.value: one.id for one in memory.list().items}
    preview = person.read(f"/memory/{held['nurse']}/delete")
    assert "I work ___ at St. Olaf hospital." in preview.text
    for value in ("green tea", "nurse"):
        person.do(f"/memory/{held[value]}/delete", "/delete/now")
    (counted,) = person.json("/sessions.json")["sessions"]
    assert counted["messages"] == 2
    session = person.read("/session?session=tea").text
    assert "I like coffee ___." in session
    assert "I work ___ at St. Olaf hospital." in session
    assert "were deleted" not in session
    why = person.read(f"/memory/{held['coffee']}").text
    assert "I like coffee ___." in why
    assert "green tea" not in why + session


def test_two_editors_see_both_versions_and_choose(person: Person, site: Site, memory_id: str) -> None:
    form = next(one for one in person.read(f"/memory/{memory_id}").forms if one.action.endswith("/correct"))
    with memory_of(site) as memory:
        memory.manage.pin(memory_id)
    answer = person.send(form, value="Graz", reason="mine")
    assert answer.status_code == 412
    shown = parse(answer)
    assert "I live in Linz." in shown.text
    assert "Graz" in shown.text
    assert get(site, memory_id).value == "Linz"
    again = next(one for one in shown.forms if one.action.endswith("/correct"))
    assert person.send(again).status_code == 303
    with memory_of(site) as memory:
        assert [one.value for one in memory.list(attribute="residence").items] == ["Graz"]


def test_the_later_of_two_corrections_sees_the_earlier_one_and_replaces_it(
    person: Person, site: Site, memory_id: str
) -> None:
    form = next(one for one in person.read(f"/memory/{memory_id}").forms if one.action.endswith("/correct"))
    with memory_of(site) as memory:
        between = memory.correct(memory_id, value="Steyr")
        present = memory.correct(between.id, value="Wels")
    shown = parse(person.send(form, value="Enns", reason="mine"))
    assert "Wels" in shown.text
    again = next(one for one in shown.forms if one.action.endswith("/correct"))
    assert again.action == f"/memory/{present.id}/correct"
    assert person.send(again).status_code == 303
    with memory_of(site) as memory:
        assert [one.value for one in memory.list(attribute="residence").items] == ["Enns"]


def test_an_undo_that_later_changes_forbid_shows_them(person: Person, site: Site, clock: ManualClock) -> None:
    tell(site, "I live in Vienna.")
    clock.advance(timedelta(hours=1))
    newest = tell(site, "I moved to Linz.")[0]
    with memory_of(site) as memory:
        first = memory.manage.pin(newest)
        change = memory.why(first.id).changes[0]
    page = person.read(f"/undo?change={newest}.{change.id}")
    assert "Later changes stand in the way" in page.text
    form = next(one for one in page.forms if one.action == "/undo/now")
    without = type(form)(form.action, form.method, [one for one in form.fields if one[0] != "cascade"])
    shown = person.read(person.send(without).headers["Location"])
    assert "Later changes stand in the way" in shown.text
    assert person.send(form).status_code == 303
    with memory_of(site) as memory:
        assert [one.value for one in memory.list(attribute="residence").items] == ["Vienna"]


def test_a_note_tells_only_what_the_log_has(person: Person, memory_id: str) -> None:
    tag = memory_id.partition("-")[2]
    page = person.read(f"/memory/{memory_id}?changed={memory_id}.c99-{tag}&changed=nonsense&note=nonsense")
    assert 'class="note"' not in page.text
    assert not [one for one in page.forms if one.action == "/undo/now"]


# Contests and candidates


def contest(site: Site, clock: ManualClock) -> str:
    for colour in ("teal", "amber", "teal"):
        tell(site, f"My favourite colour is {colour}.", session="colours")
        clock.advance(timedelta(minutes=3))
    with memory_of(site) as memory:
        return memory.manage.contests()[0].id


def believed(memory: Credenda) -> dict[str, str | None]:
    return {one.value or "": one.scope for one in memory.list(attribute="favourite_colour").items}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"keep": "value:amber"}, {"amber": None}),
        ({"keep": "both"}, {"amber": None, "teal": None}),
        ({"keep": "scopes", "scope-0": "in winter"}, {"amber": "in winter", "teal": None}),
        ({"keep": "words", "words": "amber when in winter, else teal"}, {"amber": "when in winter", "teal": None}),
    ],
)
def test_a_contest_is_answered_and_the_answer_undone(
    person: Person, site: Site, clock: ManualClock, *, fields: dict[str, str], expected: dict[str, str | None]
) -> None:
    case = contest(site, clock)
    shown = person.read("/inbox")
    assert "amber" in shown.text
    page = person.do("/inbox", "/answer", id=case, **fields)
    with memory_of(site) as memory:
        assert {value: scope for value, scope in believed(memory).items() if value in expected} == expected
        assert memory.manage.contest(case).state == "resolved"
    assert "Answered" in page.text
    undo(person, page)
    with memory_of(site) as memory:
        assert memory.manage.contest(case).state == "open"


def test_a_contest_without_an_answer_stays_open(person: Person, site: Site, clock: ManualClock) -> None:
    case = contest(site, clock)
    form = next(one for one in person.read("/inbox").forms if one.action.endswith("/answer"))
    assert person.send(form).status_code == 422
    assert person.send(form, keep="scopes").status_code == 422
    with memory_of(site) as memory:
        assert memory.manage.contest(case).state == "open"


def test_an_answer_to_a_contest_that_was_answered_meanwhile_is_shown_with_it(
    person: Person, site: Site, clock: ManualClock
) -> None:
    case = contest(site, clock)
    form = next(one for one in person.read("/inbox").forms if one.action.endswith("/answer"))
    with memory_of(site) as memory:
        memory.manage.resolve(case, keep="teal")
    late = person.send(form, keep="value:amber")
    assert late.status_code == 412
    shown = parse(late).text
    assert "For your favourite colour" in shown
    assert "value:amber" in shown
    with memory_of(site) as memory:
        assert memory.manage.contest(case).resolution == "teal"


def test_a_candidate_is_believed_or_not_by_a_person(person: Person, site: Site) -> None:
    with memory_of(site) as memory:
        memory.remember([{"role": "tool", "content": "Result 3 of 9. My favourite bank is EvilBank."}])
        memory.settle()
        memory.remember([{"role": "user", "content": "The user's favourite bank is EvilBank."}], source="ai")
        memory.settle()
        held = [one.id for one in memory.list(status="candidate").items]
    assert held
    page = person.do("/inbox", "/accept", id=held[0])
    assert get(site, held[0]).status == "active"
    undo(person, page)
    person.do("/inbox", "/reject", id=held[0])
    assert get(site, held[0]).status == "invalidated"


# Several at once, and sessions


def test_a_bulk_action_is_previewed_done_and_undone_together(person: Person, site: Site) -> None:
    ids = tell(site, "I live in Linz.", "I play the cello.", "I am allergic to peanuts.")
    preview = person.read(f"/memories?do=forget&id={ids[0]}&id={ids[1]}")
    assert "Do this with 2 memories?" in preview.text
    assert get(site, ids[0]).status == "active"
    page = person.do(f"/memories?do=forget&id={ids[0]}&id={ids[1]}", "/memories/change")
    assert [get(site, one).status for one in ids] == ["forgotten", "forgotten", "active"]
    assert "2 memories" in page.text
    undo(person, page)
    assert [get(site, one).status for one in ids] == ["active", "active", "active"]


@pytest.mark.parametrize(
    ("do", "status"), [("archive", "archived"), ("pin", "active"), ("demote", "active"), ("delete", "deleted")]
)
def test_every_bulk_action_changes_all_that_were_ticked(person: Person, site: Site, do: str, status: str) -> None:
    ids = tell(site, "I live in Linz.", "I play the cello.")
    query = "&".join(f"id={one}" for one in ids)
    person.do(f"/memories?do={do}&{query}", "/memories/change")
    with memory_of(site) as memory:
        changed = [one for one in memory.list(status=None).items if one.id in ids]
    assert [one.status.value for one in changed] == [status] * (0 if do == "delete" else 2)
    if changed:
        assert all(one.pinned for one in changed) == (do == "pin")
        assert all(one.layer == "episodic" for one in changed) == (do == "demote")


def test_a_bulk_action_without_a_memory_says_so(person: Person, memory_id: str) -> None:
    form = next(
        one for one in person.read(f"/memories?do=pin&id={memory_id}").forms if one.action == "/memories/change"
    )
    assert person.send(type(form)(form.action, form.method, [form.fields[0]])).status_code == 422


def test_a_session_is_revoked_with_all_that_it_changed(person: Person, site: Site, clock: ManualClock) -> None:
    tell(site, "I live in Vienna.", session="good")
    clock.advance(timedelta(hours=1))
    tell(site, "I moved to Linz.", "I play the cello.", session="bad")
    asked = person.read("/session?session=bad&revoke=ask")
    assert "would be undone" in asked.text
    with memory_of(site) as memory:
        assert [one.value for one in memory.list(attribute="residence").items] == ["Linz"]
    page = person.do("/session?session=bad&revoke=ask", "/session/revoke")
    assert "Undone." in page.text
    with memory_of(site) as memory:
        assert [one.value for one in memory.list().items] == ["Vienna"]
    assert "I moved to Linz." in page.text  # what was said stays


# Forms of others


def test_a_form_without_our_key_or_from_another_place_changes_nothing(
    person: Person, site: Site, memory_id: str
) -> None:
    form = next(one for one in person.read(f"/memory/{memory_id}").forms if one.action.endswith("/forget"))
    assert person.send(form, csrf="0" * 64).status_code == 403
    sent = dict(form.fields)
    for headers in (
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        given: dict[str, Any] = dict(headers)
        assert person.browser.post(form.action, sent, **given).status_code == 403, headers
    stranger = Person(site, "bob")
    assert stranger.browser.post(form.action, sent).status_code == 403
    assert get(site, memory_id).status == "active"
    assert person.get(form.action).status_code == 405
    assert person.send(form).status_code == 303


def test_on_loopback_without_tokens_a_form_needs_the_key_too(tmp_path: Path, clock: ManualClock) -> None:
    with serving_pages(tmp_path, clock, tokens=False) as site:
        memory_id = tell(site, "I live in Linz.")[0]
        person = Person(site, log_in=False)
        assert person.browser.post(f"/memory/{memory_id}/forget", {"csrf": ""}).status_code == 403
        form = next(one for one in person.read(f"/memory/{memory_id}").forms if one.action.endswith("/forget"))
        other = {"origin": "http://localhost:1234"}
        assert person.browser.post(form.action, dict(form.fields), **other).status_code == 403
        assert get(site, memory_id).status == "active"
        assert person.send(form).status_code == 303
        assert get(site, memory_id).status == "forgotten"


def test_an_action_is_in_the_audit_with_its_page(tmp_path: Path, clock: ManualClock) -> None:
    with serving_pages(tmp_path, clock) as site:
        memory_id = tell(site, "I live in Linz.")[0]
        Person(site).do(f"/memory/{memory_id}", "/forget")
    with Credenda.open(tmp_path / "memory.db", user="ana", clock=clock, workers=False) as memory:
        records = [one.fields for one in memory.data.audit(limit=50).items]
    found = [one for one in records if one["operation"] == "memory forget"]
    assert [(one["door"], one["status"], one["credential"]) for one in found] == [("web", 303, "login")]
    assert memory_id in str(found[0]["ids"])
