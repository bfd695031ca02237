"""Tokens: shown once, kept as a hash, bound to a user and scopes, and refused the moment they end."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from credenda import Conflict, Credenda, Invalid, limits
from credenda.bootstrap import build_parts
from credenda.interfaces.cli.main import cli
from credenda.interfaces.server.address import Address
from credenda.model.server import AccessToken
from credenda.services.access import issue_token, revoke_token, verify_token
from credenda.storage.store import StoredToken
from credenda.testing import ManualClock

from .served import serving
from .terminal import NO_SETTINGS, Terminal

START = "2026-03-01T09:00:00Z"


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


@pytest.mark.requirement("R-185", "R-190")
def test_a_token_is_shown_once_and_never_stored(terminal: Terminal) -> None:
    made = terminal.json("token", "create", "laptop", "--expires", "90d")
    assert re.fullmatch(r"credenda_[0-9a-f]{16}_[A-Za-z0-9_-]{43}", made["token"])
    assert (made["user"], made["scopes"]) == ("ana", ["memory:read", "memory:write"])
    (listed,) = terminal.json("token", "list")
    assert listed.keys() == made.keys() - {"token"} | {"last_used_at", "revoked_at", "client", "resource"}
    secret = made["token"].split("_", 2)[2].encode()  # which may hold underscores of its own
    files = [path.read_bytes() for path in terminal.db.parent.iterdir()]
    assert files
    assert not any(secret in data for data in files)
    assert made["id"].encode() in b"".join(files)
    assert sha256(secret).digest() in b"".join(files)


def test_the_text_of_a_token_is_all_of_standard_output(terminal: Terminal) -> None:
    shown = terminal.run("token", "create", "laptop", "--scopes", "memory:read", "--expires", "never")
    assert shown.stdout.startswith("credenda_")
    assert shown.stdout.count("\n") == 1
    assert "memory:read for ana, without end" in shown.stderr
    assert "laptop  for ana  memory:read  without end  never used" in terminal.text("token", "list")


def run_cli(terminal: Terminal, *args: str, code: int = 0, **env: str) -> Result:
    result = CliRunner().invoke(cli, ["--db", str(terminal.db), *args], env=NO_SETTINGS | env)
    assert result.exit_code == code, (result.stdout, result.stderr)
    return result


def test_tokens_are_listed_and_revoked_by_user(terminal: Terminal) -> None:
    mine = terminal.json("token", "create", "laptop")
    other = terminal.json("token", "create", "laptop", user="bob")
    assert [one["user"] for one in terminal.json("token", "list", user="bob")] == ["bob"]
    terminal.error("token", "revoke", "laptop", user="eva", code=3)
    line = run_cli(terminal, "token", "revoke", "laptop", code=2).stderr
    assert "2 valid tokens have that name; say whose it is with --user" in line
    assert json.loads(run_cli(terminal, "--json", "token", "list").stdout)
    assert "for ana" not in run_cli(terminal, "token", "list", CREDENDA_USER="bob").stdout
    assert other["id"] in run_cli(terminal, "token", "revoke", "laptop", CREDENDA_USER="bob").stdout
    assert terminal.json("token", "revoke", mine["id"])["revoked_at"] is not None
    terminal.error("token", "revoke", "laptop", code=3)


@pytest.mark.parametrize(
    "args",
    [
        ("create", "laptop", "--scopes", "memory:everything"),
        ("create", "laptop", "--scopes", ","),
        ("create", "laptop", "--expires", "2020-01-01"),
        ("create", "laptop", "--expires", "soon"),
    ],
)
def test_a_token_that_cannot_be_meant_is_refused(terminal: Terminal, args: tuple[str, ...]) -> None:
    terminal.error("token", *args, code=2)
    assert terminal.json("token", "list") == []


def test_a_name_of_a_valid_token_is_refused_until_that_ends(terminal: Terminal) -> None:
    """A user has one valid token of a name; a revoked one leaves its name free, and other users have their own."""
    first = terminal.json("token", "create", "laptop")
    told = terminal.error("token", "create", "laptop", code=4)
    assert first["id"] in told
    assert "give another name" in told
    assert len(terminal.json("token", "list")) == 1
    terminal.json("token", "create", "laptop", user="bob")
    terminal.json("token", "revoke", "laptop")
    assert terminal.json("token", "create", "laptop")["id"] != first["id"]


def test_a_name_is_free_when_its_token_has_expired_and_belongs_to_no_connection(tmp_path: Path) -> None:
    clock = ManualClock(START)
    parts = build_parts(tmp_path / "memory.db", user="ana", settings={"embedder": "none"}, clock=clock)
    try:
        store = parts.store.tokens
        store.add_token(
            StoredToken(AccessToken(id="c0", name="ci", user="ana", scopes=(), created_us=1, client="x"), b"")
        )
        issue_token(parts, "ci", scopes=["memory:read"], allowed=["memory:read"], expires="1h")
        with pytest.raises(Conflict, match="ci"):
            issue_token(parts, "ci", scopes=["memory:read"], allowed=["memory:read"], expires="1h")
        clock.advance(timedelta(hours=1))
        issue_token(parts, "ci", scopes=["memory:read"], allowed=["memory:read"], expires="1h")
        assert [one.is_valid_at(clock.now_us()) for one in store.list_tokens("ana")] == [True, False, True]
    finally:
        parts.release()


def test_a_name_of_several_users_is_revoked_by_id(terminal: Terminal) -> None:
    for user in ("ana", "bob"):
        terminal.json("token", "create", "laptop", user=user)
    parts = build_parts(terminal.db, user="ana", settings={"embedder": "none"})
    try:
        with pytest.raises(Invalid, match="2 valid tokens"):
            revoke_token(parts, "laptop")
    finally:
        parts.release()


def test_a_token_ends_when_it_expires_or_is_revoked_and_not_before(tmp_path: Path) -> None:
    clock = ManualClock(START)
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        token, other = site.token("ana", expires="1h"), site.token("ana")
        clock.advance(timedelta(minutes=59))
        assert site.send("GET", "/v1/stats", token).status_code == 200
        clock.advance(timedelta(minutes=1))
        ended = site.send("GET", "/v1/stats", token)
        assert ended.status_code == 401
        assert ended.headers["WWW-Authenticate"].startswith('Bearer realm="credenda", error="invalid_token", scope=')
        assert site.send("GET", "/v1/stats", other).status_code == 200
        site.parts.store.tokens.revoke_token(other.split("_")[1], clock.now_us())
        assert site.send("GET", "/v1/stats", other).status_code == 401


def test_the_last_use_is_recorded_at_most_once_a_minute(tmp_path: Path) -> None:
    clock = ManualClock(START)
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        token, seen = site.token("ana"), list[Any]()
        for step in (1, 30, 31):
            clock.advance(timedelta(seconds=step))
            site.send("GET", "/v1/stats", token)
            seen.append(site.parts.store.tokens.list_tokens()[0].last_used_us)
        assert seen[0] == seen[1] < seen[2]


@pytest.mark.parametrize("text", ["", "Bearer", "Bearer ", "Basic YTpi", "Token x", "Bearer \x00"])
def test_a_header_without_a_token_is_refused(tmp_path: Path, text: str) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        headers = {"Authorization": text.encode()} if text else {}
        assert site.send("GET", "/v1/stats", headers=headers).status_code == 401
        assert site.send("GET", f"/v1/stats?access_token={site.token('ana')}").status_code == 401


def test_a_wrong_secret_a_wrong_id_and_another_form_verify_as_nothing(tmp_path: Path) -> None:
    parts = build_parts(tmp_path / "memory.db", user="ana", clock=ManualClock(START))
    now_us = parts.clock.now_us()
    try:
        text = issue_token(parts, "laptop", scopes=["memory:read"], allowed=["memory:read"], expires="never").token
        found = verify_token(parts.store, text, now_us)
        assert found is not None
        assert found.user == "ana"
        head, secret = text[:-43], text[-43:]
        flipped = secret[:-1] + ("A" if secret[-1] != "A" else "E")
        for wrong in (head + flipped, "credenda_" + "0" * 16 + "_" + secret, secret, text + " ", text.upper(), ""):
            assert verify_token(parts.store, wrong, now_us) is None
    finally:
        parts.release()


def test_an_address_that_guesses_is_slowed_down_and_known_tokens_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HTTP_FAILED_TOKENS_RATE", 1e-6)  # however slow this machine is, no permit comes back
    address = Address(trust_proxy=True, url="http://127.0.0.1")
    with serving(tmp_path / "memory.db", ManualClock(START), address=address) as site:
        known, fresh = site.token("ana"), site.token("ana")
        guesser = {"X-Forwarded-For": "203.0.113.9, 10.0.0.1"}
        assert site.send("GET", "/v1/stats", known, headers=guesser).status_code == 200
        found = [site.send("GET", "/v1/stats", f"credenda_{i}", headers=guesser) for i in range(25)]
        codes = [one.status_code for one in found]
        assert codes == [401] * limits.HTTP_FAILED_TOKENS + [429] * (25 - limits.HTTP_FAILED_TOKENS)
        assert int(found[-1].headers["Retry-After"]) >= 1
        assert site.send("GET", "/v1/stats", fresh, headers=guesser).status_code == 429
        assert site.send("GET", "/v1/stats", known, headers=guesser).status_code == 200
        elsewhere = {"X-Forwarded-For": "10.0.0.1, 203.0.113.9"}
        assert site.send("GET", "/v1/stats", fresh, headers=elsewhere).status_code == 200


@pytest.mark.parametrize("wrote", [True, False])
def test_erasing_a_user_deletes_the_tokens(tmp_path: Path, wrote: bool) -> None:  # noqa: FBT001 - a parameter of the test
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        token, other = site.token("ana"), site.token("bob")
        if wrote:
            site.send("POST", "/v1/memories", token, json={"content": "I like tea."})
        erased = site.send("DELETE", "/v1/me", token, json={"confirm": "ana"})
        assert (erased.status_code, erased.json()["remaining_matches"]) == (200, 0)
        assert site.send("GET", "/v1/stats", token).status_code == 401
        assert site.send("GET", "/v1/stats", other).status_code == 200
        assert [one.user for one in site.parts.store.tokens.list_tokens()] == ["bob"]


def test_an_export_holds_no_token(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        token = site.token("ana", name="quetzal")
        site.send("POST", "/v1/memories", token, json={"content": "I like tea."})
        export = site.send("POST", "/v1/export", token, json={}).text
        assert "I like tea." in export
        assert "quetzal" not in export


def test_a_memory_that_was_open_before_still_opens(tmp_path: Path) -> None:
    """The table of tokens is added to a database of an older version."""
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False) as memory:
        memory.remember("I like tea.")
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        assert site.send("GET", "/v1/stats", site.token("ana")).json()["events"] == 1


def test_a_request_with_two_tokens_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        both = [("Authorization", f"Bearer {token}") for token in (site.token("ana"), "credenda_wrong")]
        for headers in (both, both[::-1]):
            refused = site.client.get("/v1/stats", headers=headers)
            assert refused.status_code == 401
            assert "carries several" in refused.text
