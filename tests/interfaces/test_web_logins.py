"""How a person gets to the pages: by a link, by a password, and to a memory that is shared."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from credenda.errors import Invalid, NotFound, Unauthenticated, Unavailable
from credenda.services import access
from credenda.services.access import add_member, remove_member
from credenda.testing import ManualClock
from tests.waiting import await_that

from .pages import Person, memory_of, tell
from .served import Site, closing_parts
from .terminal import Terminal

pytestmark = pytest.mark.tokens


PASSWORD = "four quiet garden chairs"


def log_in(site: Site, person: str, password: str, **fields: str) -> tuple[Person, int, str]:
    browsing = Person(site, person, log_in=False)
    answer = browsing.browser.post("/login", {"person": person, "password": password, **fields})
    return browsing, answer.status_code, answer.headers.get("Location", "")


def test_a_password_of_the_command_line_logs_in(site: Site, tmp_path: Path) -> None:
    tell(site, "I live in Linz.")
    terminal = Terminal(tmp_path)
    assert "Set the password" in terminal.text("password", stdin=f"{PASSWORD}\n")
    person, status, reached = log_in(site, "ana", PASSWORD, page="/inbox")
    assert (status, reached) == (303, "/inbox")
    assert "I live in Linz." in person.get("/").text
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert PASSWORD.encode() not in files
    assert b"$argon2id$" in files


def test_a_wrong_password_an_unknown_person_and_another_persons_fail_alike(site: Site, clock: ManualClock) -> None:
    access.set_password(site.parts.store.secrets, "ana", PASSWORD, clock.now_us())
    answers = set[str]()
    for person, password in (("ana", "four quiet garden chair"), ("bob", PASSWORD), ("", PASSWORD), ("ana", "")):
        browsing = Person(site, person, log_in=False)
        answer = browsing.browser.post("/login", {"person": person, "password": password})
        assert answer.status_code == 401
        assert browsing.browser.cookies == {}
        answers.add(answer.text)
    assert len(answers) == 1


def test_guessing_passwords_is_slowed_down(site: Site) -> None:
    codes = [log_in(site, "ana", f"a guess, number {number}")[1] for number in range(30)]
    assert codes[0] == 401
    assert codes[-1] == 429


def test_a_new_password_ends_the_old_one_and_a_removed_one_works_no_more(site: Site, clock: ManualClock) -> None:
    secrets, now_us = site.parts.store.secrets, clock.now_us()
    for number in range(3):
        access.set_password(secrets, "ana", f"{PASSWORD} {number}", now_us)
    with pytest.raises(Unauthenticated):
        access.log_in_by_password(secrets, "ana", f"{PASSWORD} 1", now_us)
    assert access.log_in_by_password(secrets, "ana", f"{PASSWORD} 2", now_us).person == "ana"
    access.remove_password(secrets, "ana", now_us)
    with pytest.raises(Unauthenticated):
        access.log_in_by_password(secrets, "ana", f"{PASSWORD} 2", now_us)
    with pytest.raises(NotFound):
        access.remove_password(secrets, "ana", now_us)
    access.set_password(secrets, "ana", PASSWORD, now_us)
    assert access.log_in_by_password(secrets, "ana", PASSWORD, now_us).person == "ana"


@pytest.mark.parametrize("password", ["", "short", "x" * 1_025])
def test_a_password_of_a_wrong_length_is_refused(site: Site, clock: ManualClock, password: str) -> None:
    with pytest.raises(Invalid):
        access.set_password(site.parts.store.secrets, "ana", password, clock.now_us())


def test_erasing_a_person_erases_the_password(site: Site, clock: ManualClock) -> None:
    tell(site, "I live in Linz.")
    access.set_password(site.parts.store.secrets, "ana", PASSWORD, clock.now_us())
    with memory_of(site) as memory:
        memory.erase("ana")
    with pytest.raises(Unauthenticated):
        access.log_in_by_password(site.parts.store.secrets, "ana", PASSWORD, clock.now_us())


def test_a_member_chooses_a_shared_memory_and_may_do_there_what_the_role_says(site: Site) -> None:
    memory_id = tell(site, "Our office is in Linz.")[0]
    with closing_parts(site, "ana") as parts:
        add_member(parts, "bob", role="reader")
    bob = Person(site, "bob")
    assert "Our office" not in bob.get("/").text
    form = next(one for one in bob.read("/").forms if one.action == "/memory-choice")
    before = dict(bob.browser.cookies)
    assert bob.send(form, memory="ana").status_code == 303
    page = bob.get(f"/memory/{memory_id}")
    assert "Our office is in Linz." in page.text
    assert "/forget" not in page.text
    with closing_parts(site, "ana") as parts:
        remove_member(parts, "bob")
    assert "Our office" not in bob.get("/").text
    bob.browser.cookies = before  # the session before the choice is over
    assert bob.get("/").status_code == 303


def test_nobody_chooses_a_memory_of_others(site: Site) -> None:
    tell(site, "I live in Linz.")
    with closing_parts(site, "ana") as parts:
        add_member(parts, "eva", role="owner")
    eva, bob = Person(site, "eva"), Person(site, "bob")
    form = next(one for one in eva.read("/").forms if one.action == "/memory-choice")
    assert eva.send(form, memory="bob").status_code == 403
    assert bob.send(form, memory="ana").status_code == 403
    assert eva.get("/memory-choice").status_code == 405


def test_the_audit_names_the_token_first_and_then_the_client(site: Site) -> None:
    for name in ("night job", "phone"):
        site.send("GET", "/v1/stats", site.token("ana", name=name), headers={"User-Agent": "tool/1"})
    site.send("GET", "/metrics", site.token("ana", name="watch"))
    person = Person(site)
    await_that(lambda: "metrics" in person.read("/audit").text, "the record of the last call")
    assert re.findall("phonetool/1|night jobtool/1", person.read("/audit").text) == ["phonetool/1", "night jobtool/1"]


@pytest.mark.parametrize("command", [("login-link",), ("token", "create", "phone")])
def test_a_name_that_nobody_has_yet_is_said(site: Site, tmp_path: Path, command: tuple[str, ...]) -> None:
    tell(site, "I live in Linz.")
    terminal = Terminal(tmp_path)
    assert "nothing is stored for a user called nobody yet" in terminal.run(*command, user="nobody").stderr
    assert "nothing is stored" not in terminal.run(*command).stderr


def test_a_full_disk_is_in_the_doctor_on_the_overview_and_in_the_log(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    full = Unavailable("the database cannot grow", why="the disk is full", fix="free some space")
    for module in ("interfaces.server.memories", "storage.sqlite.store"):
        monkeypatch.setattr(f"credenda.{module}.find_obstacle", lambda path: OSError(errno.ENOSPC, str(path)))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType] - of monkeypatch
    assert "The disk is full" in Person(site).read("/").text
    found = site.send("POST", "/v1/doctor", token := site.token("ana"), json={}).json()["findings"]
    assert [(one["check"], one["detail"]) for one in found] == [("disk", "the disk is full")]

    def fail(*_: object, **__: object) -> None:
        raise full

    monkeypatch.setattr("credenda.client.Credenda.remember", fail)
    assert site.send("POST", "/v1/memories", token, json={"content": PASSWORD}).status_code == 503
    (line,) = [one.getMessage() for one in caplog.records if one.name == "credenda.server.failures"]
    assert "the disk is full" in line
    assert PASSWORD not in line


def test_a_page_that_does_not_exist_is_no_lost_session(site: Site) -> None:
    person = Person(site)
    missing = person.get("/nothing")
    assert missing.status_code == 404
    assert "There is no such page" in missing.text
    assert "Diese Seite gibt es nicht" in person.get("/nothing?lang=de").text
    stranger = Person(site, log_in=False).get("/nothing")
    assert (stranger.status_code, stranger.headers["Location"]) == (303, "/login?page=%2Fnothing")
    for path in ("/metrics", "/v1/nothing"):
        assert person.get(path).status_code == 401
