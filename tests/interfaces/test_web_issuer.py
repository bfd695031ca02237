"""Persons whom an external issuer logs in to the pages: the way there, the way back, and every way to cheat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from credenda.clock import SECOND_US
from credenda.errors import Invalid, Unavailable
from credenda.interfaces.server.address import Address, check_address
from credenda.interfaces.server.oauth.clients import Fetcher
from credenda.services.access import add_member, remove_member
from credenda.testing import ManualClock

from .oauth import challenge_of
from .pages import Person, tell
from .served import BASE, Site, serving
from .test_oidc import ISSUER, Issuer, sign

CLIENT = "credenda-pages"


class LoginIssuer(Issuer):
    """An issuer that exchanges codes for id tokens."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self.clock = clock
        self.metadata |= {"authorization_endpoint": f"{ISSUER}/authorize", "token_endpoint": f"{ISSUER}/token"}
        self.sent: dict[str, str] = {}
        self.claims: dict[str, Any] = {}
        self.answer: object = None

    def post_form(self, url: str, fields: Mapping[str, str]) -> object:
        assert url == f"{ISSUER}/token"
        self.sent = dict(fields)
        if self.answer is not None:
            return self.answer
        claims: dict[str, Any] = {"aud": CLIENT, "scope": None, **self.claims}
        return {"id_token": sign(self.clock, **claims)}


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch, clock: ManualClock) -> LoginIssuer:
    found = LoginIssuer(clock)
    monkeypatch.setattr(Fetcher, "fetch_json", found.fetch_json)
    monkeypatch.setattr(Fetcher, "post_form", found.post_form)
    return found


@pytest.fixture
def site(tmp_path: Path, clock: ManualClock, issuer: LoginIssuer) -> Iterator[Site]:
    del issuer
    with serving(tmp_path / "memory.db", clock, address=Address(oidc_issuer=ISSUER, oidc_client=CLIENT)) as opened:
        add_member(opened.parts, "subject-1", role="reader", issuer=ISSUER)
        yield opened


def begin(person: Person, page: str = "/") -> dict[str, str]:
    """Go to a page, and return what the issuer is asked."""
    answer = person.get(page)
    assert answer.status_code == 303
    sent = person.get(answer.headers["Location"])
    assert sent.status_code == 303, sent.text
    assert sent.headers["Location"].startswith(f"{ISSUER}/authorize?")
    return {name: values[0] for name, values in parse_qs(urlsplit(sent.headers["Location"]).query).items()}


def come_back(person: Person, issuer: LoginIssuer, asked: Mapping[str, str], **changed: str) -> Any:  # noqa: ANN401 - a response
    issuer.claims.setdefault("nonce", asked["nonce"])
    query = {"code": "the-code", "state": asked["state"], **changed}
    return person.get("/login/callback?" + "&".join(f"{name}={value}" for name, value in query.items()))


def test_a_member_logs_in_at_the_issuer_and_may_do_what_the_role_says(site: Site, issuer: LoginIssuer) -> None:
    memory_id = tell(site, "I live in Linz.")[0]
    person = Person(site, log_in=False)
    asked = begin(person, f"/memory/{memory_id}?lang=en")
    assert (asked["client_id"], asked["redirect_uri"]) == (CLIENT, f"{BASE}/login/callback")
    assert (asked["response_type"], asked["scope"], asked["code_challenge_method"]) == ("code", "openid", "S256")
    answer = come_back(person, issuer, asked)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/memory/{memory_id}?lang=en")
    assert challenge_of(issuer.sent["code_verifier"]) == asked["code_challenge"]
    assert issuer.sent["code"] == "the-code"
    page = person.read(f"/memory/{memory_id}")
    assert "I live in Linz." in page.text
    assert not [one for one in page.forms if one.action.endswith("/forget")]


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "of another login"},
        {"nonce": 7},
        {"aud": "another client"},
        {"iss": "https://evil.example"},
        {"sub": "subject-2"},
        {"exp": 1},
        {"key": "stranger"},
    ],
)
def test_a_wrong_id_token_logs_nobody_in(site: Site, issuer: LoginIssuer, claims: dict[str, Any]) -> None:
    person = Person(site, log_in=False)
    asked = begin(person)
    issuer.claims = dict(claims)
    assert come_back(person, issuer, asked).status_code == 401
    assert person.get("/").status_code == 303


@pytest.mark.parametrize("changed", [{"state": "x" * 43}, {"state": ""}, {"iss": "https://evil.example"}])
def test_an_answer_to_another_question_logs_nobody_in(site: Site, issuer: LoginIssuer, changed: dict[str, str]) -> None:
    person = Person(site, log_in=False)
    asked = begin(person)
    assert come_back(person, issuer, asked, **changed).status_code in {401, 403}
    assert issuer.sent == {}


def test_an_answer_in_another_browser_logs_nobody_in_and_the_browser_forgets_its_own(
    site: Site, issuer: LoginIssuer
) -> None:
    person, other = Person(site, log_in=False), Person(site, log_in=False)
    asked = begin(person)
    assert come_back(other, issuer, asked).status_code == 403
    answer = come_back(person, issuer, asked)
    assert answer.status_code == 303
    dropped = [one for one in answer.headers.get_list("set-cookie") if one.startswith("credenda-login=")]
    assert "Max-Age=0" in dropped[0]


def test_an_issuer_that_denies_or_sends_nothing_useful_says_so(site: Site, issuer: LoginIssuer) -> None:
    person = Person(site, log_in=False)
    asked = begin(person)
    denied = person.get(f"/login/callback?error=access_denied&state={asked['state']}")
    assert denied.status_code == 401
    asked = begin(person)
    issuer.answer = {"access_token": "x"}
    assert come_back(person, issuer, asked).status_code == 401
    issuer.metadata.pop("authorization_endpoint")
    assert person.get("/login").status_code == Unavailable.http_status


def test_a_removed_member_is_out_at_once_and_a_logout_ends_the_session(
    site: Site, issuer: LoginIssuer, clock: ManualClock
) -> None:
    person = Person(site, log_in=False)
    come_back(person, issuer, begin(person))
    form = next(one for one in person.read("/").forms if one.action == "/logout")
    kept = dict(person.browser.cookies)
    assert person.browser.post("/logout", dict(form.fields), origin="http://evil.example").status_code == 403
    assert person.send(form).status_code == 200
    person.browser.cookies = kept
    assert person.get("/").status_code == 303
    issuer.claims = {}
    come_back(person, issuer, begin(person))
    assert person.get("/").status_code == 200
    remove_member(site.parts, "subject-1", issuer=ISSUER)
    assert person.get("/").status_code == 303
    assert clock.now_us() // SECOND_US  # nothing waited for


def test_a_session_of_a_subject_is_none_of_the_person_of_that_name(
    tmp_path: Path, clock: ManualClock, issuer: LoginIssuer
) -> None:
    db, address = tmp_path / "memory.db", Address(oidc_issuer=ISSUER, oidc_client=CLIENT)
    with serving(db, clock, address=address) as site:
        add_member(site.parts, "bob", role="owner", issuer=ISSUER)
        tell(site, "Bob of this server likes chess.", user="bob")
        person = Person(site, log_in=False)
        issuer.claims = {"sub": "bob"}
        come_back(person, issuer, begin(person))
        assert "chess" not in person.get("/").text
    with serving(db, clock, tokens=True) as site:
        stranger = Person(site, log_in=False)
        stranger.browser.cookies = person.browser.cookies
        assert stranger.get("/").status_code == 303


def test_a_client_without_an_issuer_cannot_be_meant() -> None:
    with pytest.raises(Invalid, match="--oidc-client needs an issuer"):
        check_address(Address(oidc_client=CLIENT))


def test_without_a_client_the_pages_take_a_token_of_the_issuer(
    tmp_path: Path, clock: ManualClock, issuer: LoginIssuer
) -> None:
    del issuer
    with serving(tmp_path / "memory.db", clock, address=Address(oidc_issuer=ISSUER)) as site:
        add_member(site.parts, "subject-1", role="owner", issuer=ISSUER)
        assert site.send("GET", "/", sign(clock), headers={"Accept": "text/html"}).status_code == 200
