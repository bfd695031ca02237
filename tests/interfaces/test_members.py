"""Shared memories: members, their roles, and whose words are whose."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from credenda.interfaces.authorization import ROLE_SCOPES, SCOPES
from credenda.model.server import MemberRole
from credenda.services.access import add_member, remove_member
from credenda.testing import ManualClock

from .oauth import Browser, Connector, connect, read_answer
from .served import Site, closing_parts, serving
from .terminal import Terminal


@pytest.fixture
def site(tmp_path: Path, clock: ManualClock) -> Iterator[Site]:
    """A server on which bob and eva use the memory of the team."""
    with serving(tmp_path / "memory.db", clock, tokens=True) as opened:
        with closing_parts(opened, "team") as team:
            add_member(team, "bob", role="writer")
            add_member(team, "eva", role="reader")
        yield opened


def member_token(site: Site, member: str, scopes: Iterable[str] = SCOPES) -> str:
    return site.token("team", scopes, member=member)


def remember(site: Site, token: str, text: str) -> int:
    return site.send("POST", "/v1/memories", token, json={"content": text}).status_code


def test_each_role_has_the_scopes_of_the_one_before_it() -> None:
    found = [ROLE_SCOPES[role] for role in MemberRole]
    assert all(before < after for before, after in pairwise(found))
    assert found[-1] == set(SCOPES)


def test_a_member_may_do_what_role_and_token_both_permit(site: Site) -> None:
    bob, eva = member_token(site, "bob"), member_token(site, "eva")
    assert remember(site, bob, "Our office is in Linz.") == 202
    assert remember(site, eva, "Our office is in Graz.") == 403
    assert remember(site, member_token(site, "bob", ("memory:read",)), "Our office is in Wels.") == 403
    for token in (bob, eva):
        assert site.send("GET", "/v1/stats", token).json()["events"] == 1
    assert site.send("DELETE", "/v1/me", bob, json={"confirm": "team"}).status_code == 403
    refused = site.send("POST", "/v1/consolidations", bob, json={})
    assert 'scope="memory:admin"' in refused.headers["WWW-Authenticate"]


def test_a_member_keeps_a_memory_of_their_own(site: Site) -> None:
    assert remember(site, member_token(site, "bob"), "Our office is in Linz.") == 202
    own = site.token("bob")
    assert site.send("GET", "/v1/stats", own).json()["events"] == 0
    assert remember(site, own, "I live in Wels.") == 202
    assert site.send("GET", "/v1/stats", site.token("team")).json()["events"] == 1


def test_a_role_that_is_changed_or_taken_away_ends_at_once(site: Site) -> None:
    token = member_token(site, "bob")
    with closing_parts(site, "team") as team:
        add_member(team, "bob", role="reader")
        assert remember(site, token, "x y") == 403
        remove_member(team, "bob")
    refused = site.send("GET", "/v1/stats", token)
    assert (refused.status_code, refused.json()["detail"]) == (401, "its holder is no longer a member of this memory")
    with closing_parts(site, "team") as team:
        add_member(team, "bob", role="owner")
    assert remember(site, token, "x y") == 202


def test_a_person_connects_a_client_to_a_shared_memory(site: Site) -> None:
    browser, client = Browser(site), Connector(site)
    browser.log_in("eva")
    page = browser.get(client.address()).text
    assert "eva (owner)" in page
    assert "team (reader)" in page
    answer = client.redeem(read_answer(browser.allow(client.address(), memory="team"))["code"]).json()
    assert answer["scope"] == "memory:read"
    assert site.send("GET", "/v1/stats", answer["access_token"]).status_code == 200
    with closing_parts(site, "team") as team:
        remove_member(team, "eva")
    assert site.send("GET", "/v1/stats", answer["access_token"]).status_code == 401
    assert "team" not in browser.get(client.address()).text
    assert connect(site, "eva")["scope"] == "memory:read memory:write"


@pytest.mark.requirement("C-016")
def test_every_write_has_its_author_and_reading_shows_the_name(site: Site, tmp_path: Path, clock: ManualClock) -> None:
    bob, own = member_token(site, "bob"), site.token("team")
    remember(site, bob, "My hobby is chess.")
    clock.advance(timedelta(days=1))
    remember(site, own, "My name is Tessa.")
    site.settle("team")
    items = site.send("GET", "/v1/memories", own).json()["items"]
    by_value: dict[str, Any] = {one["value"]: one["id"] for one in items}
    said = site.send("GET", f"/v1/memories/{by_value['chess']}/why", own).json()
    assert said["authors"] == {said["evidence"][0]["event"]["id"]: "bob"}
    tool = site.tool("inspect_memories", {"memory_id": by_value["chess"]}, own).json()["result"]
    assert tool["structuredContent"]["authors"] == said["authors"]
    assert "authors" not in site.send("GET", f"/v1/memories/{by_value['Tessa']}/why", own).json()
    fixed = site.send("PATCH", f"/v1/memories/{by_value['Tessa']}", bob, json={"value": "Theresa"})
    assert fixed.status_code == 200, fixed.text
    shown = site.send("GET", f"/v1/memories/{by_value['Tessa']}/why", own).json()
    assert set(shown["authors"].values()) == {"bob"}
    text = Terminal(tmp_path, user="team").text("why", by_value["chess"])
    assert ", by bob]" in text


def test_the_audit_names_the_member_by_an_id(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        with closing_parts(site, "team") as team:
            add_member(team, "bob", role="writer")
        remember(site, member_token(site, "bob"), "My hobby is chess.")
        remember(site, site.token("team"), "My hobby is go.")
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        (bob,) = connection.execute("SELECT id FROM members WHERE subject = 'bob'").fetchone()
        records = [json.loads(row[0]) for row in connection.execute("SELECT record FROM audit_records ORDER BY seq")]
    assert [one["member"] for one in records] == [bob, ""]


def test_the_command_line_manages_members(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, user="team")
    made = terminal.json("member", "add", "bob", "--role", "writer")
    assert (made["user"], made["subject"], made["role"]) == ("team", "bob", "writer")
    assert terminal.text("member", "add", "bob", "--role", "owner") == "bob is now a owner of the memory of team.\n"
    terminal.run("member", "add", "s-1", "--issuer", "https://id.example.org")
    assert "s-1 of https://id.example.org  memory of team  reader" in terminal.text("member", "list")
    token = terminal.json("token", "create", "x", "--member", "bob")
    assert (token["user"], token["subject"]) == ("team", "bob")
    assert "used by bob" in terminal.text("token", "list")
    terminal.run("member", "remove", "bob")
    assert "removed 20" in terminal.text("member", "list")
    terminal.error("member", "remove", "bob", code=3)
    terminal.error("token", "create", "x", "--member", "bob", code=3)
    terminal.error("member", "add", "team", code=2)
    terminal.error("member", "add", " ", code=2)


def test_erasing_a_member_takes_the_name_and_the_access(site: Site, tmp_path: Path) -> None:
    bob = member_token(site, "bob")
    remember(site, bob, "My hobby is chess.")
    site.settle("team")
    erased = site.send("DELETE", "/v1/me", site.token("bob"), json={"confirm": "bob"})
    assert erased.status_code == 200
    assert site.send("GET", "/v1/stats", bob).status_code == 401
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        names = [row[0] for row in connection.execute("SELECT subject FROM members")]
        (author,) = connection.execute("SELECT member FROM authors").fetchone()
    assert names == ["eva"]
    assert len(author) == 16  # an id stays, without a name


def test_erasing_a_shared_memory_ends_every_access(site: Site, tmp_path: Path) -> None:
    bob, grant = member_token(site, "bob"), connect(site, "team", "memory:read")
    remember(site, bob, "My hobby is chess.")
    erased = site.send("DELETE", "/v1/me", site.token("team"), json={"confirm": "team"})
    assert erased.json()["remaining_matches"] == 0
    assert site.send("GET", "/v1/stats", bob).status_code == 401
    assert site.send("GET", "/v1/stats", grant["access_token"]).status_code == 401
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        for table in ("members", "authors", "server_secrets", "api_tokens"):
            (count,) = connection.execute(f"SELECT count(*) FROM {table} WHERE user_id = 'team'").fetchone()  # noqa: S608
            assert count == 0, table
