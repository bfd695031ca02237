"""Tokens of an external issuer: signed by a published key, for this server, in time, and of a known subject."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, cast

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from credenda import limits
from credenda.clock import SECOND_US
from credenda.errors import Conflict, Invalid, Unavailable
from credenda.interfaces.server.address import Address, check_address
from credenda.interfaces.server.oauth.clients import Fetcher
from credenda.services.access import add_member
from credenda.testing import ManualClock

from .served import BASE, Site, closing_parts, serving

ISSUER = "https://id.example.org/realm"
KEYS = "https://id.example.org/keys"


@cache
def private_key(name: str) -> Any:  # noqa: ANN401 - a key of either kind
    return ec.generate_private_key(ec.SECP256R1()) if name == "ec" else rsa.generate_private_key(65_537, 2_048)


def publish(name: str, **more: str) -> dict[str, Any]:
    key = private_key(name).public_key()
    algorithm = ECAlgorithm if name == "ec" else RSAAlgorithm
    return {**json.loads(algorithm.to_jwk(key)), "kid": name, **more}


class Issuer:
    """What the issuer publishes, and how often it was asked."""

    def __init__(self) -> None:
        self.keys: list[Any] = [publish("rsa", use="sig", alg="RS256"), publish("ec")]
        self.metadata: dict[str, Any] = {"issuer": ISSUER, "jwks_uri": KEYS}
        self.asked: list[str] = []
        self.is_down = False

    def fetch_json(self, url: str) -> object:
        self.asked.append(url)
        if self.is_down:
            raise Unavailable("nobody answers")
        return self.metadata if url == f"{ISSUER}/.well-known/openid-configuration" else {"keys": self.keys}


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch) -> Issuer:
    found = Issuer()
    monkeypatch.setattr(Fetcher, "fetch_json", found.fetch_json)
    return found


@pytest.fixture
def site(tmp_path: Path, clock: ManualClock, issuer: Issuer) -> Iterator[Site]:
    del issuer
    with serving(tmp_path / "memory.db", clock, address=Address(oidc_issuer=ISSUER)) as opened:
        add_member(opened.parts, "subject-1", role="owner", issuer=ISSUER)
        yield opened


def sign(
    clock: ManualClock,
    *,
    key: str = "rsa",
    algorithm: str = "RS256",
    header: dict[str, Any] | None = None,
    **changed: object,
) -> str:
    now = clock.now_us() // SECOND_US
    claims = {
        "iss": ISSUER,
        "aud": f"{BASE}/mcp",
        "sub": "subject-1",
        "exp": now + 300,
        "scope": "openid memory:read memory:write",
        **changed,
    }
    kept = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(kept, private_key(key), algorithm=algorithm, headers={"kid": key, **(header or {})})


def ask(site: Site, token: str) -> int:
    return site.send("GET", "/v1/stats", token).status_code


def test_a_subject_reaches_the_memory_an_administrator_gave(site: Site, clock: ManualClock) -> None:
    assert ask(site, sign(clock)) == 200
    assert ask(site, sign(clock, key="ec", algorithm="ES256")) == 200
    assert ask(site, sign(clock, key="rsa", algorithm="PS256")) == 401  # the key is published for RS256
    assert ask(site, sign(clock, aud=["https://elsewhere.example", BASE])) == 200
    assert ask(site, sign(clock, aud=f"{BASE}/mcp/")) == 200  # as a host asks whose address ends so
    assert ask(site, sign(clock, scope=None, scp=["memory:read"])) == 200
    body = {"content": "I like tea."}
    assert site.send("POST", "/v1/memories", sign(clock), json=body).status_code == 202
    for scope in ("memory:read", "openid", "", 7):
        assert site.send("POST", "/v1/memories", sign(clock, scope=scope), json=body).status_code == 403


@pytest.mark.requirement("R-192")
@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://evil.example"},
        {"iss": f"{ISSUER}/"},
        {"iss": None},
        {"aud": "https://elsewhere.example"},
        {"aud": []},
        {"aud": None},
        {"sub": "subject-2"},
        {"sub": ""},
        {"sub": None},
        {"exp": None},
        {"exp": "soon"},
        {"exp": True},
        {"exp": float("inf")},
        {"nbf": "later"},
        {"key": "stranger"},
        {"header": {"kid": "ec"}},
        {"header": {"crit": ["exp"]}},
        {"header": {"x": "y" * 20_000}},
    ],
)
def test_a_token_with_another_claim_is_refused(site: Site, clock: ManualClock, changed: dict[str, Any]) -> None:
    assert ask(site, sign(clock, **changed)) == 401


def test_a_token_is_of_use_within_its_time(site: Site, clock: ManualClock) -> None:
    now = clock.now_us() // SECOND_US
    early, token = sign(clock, nbf=now + 60, exp=now + 600), sign(clock)
    assert ask(site, early) == 401
    clock.advance(timedelta(seconds=31))
    assert ask(site, early) == 200
    clock.advance(timedelta(seconds=300 + 29 - 31))
    assert ask(site, token) == 200
    clock.advance(timedelta(seconds=1))
    assert ask(site, token) == 401


def test_a_token_without_a_signature_by_a_published_key_is_refused(site: Site, clock: ManualClock) -> None:
    now = clock.now_us() // SECOND_US
    claims = {"iss": ISSUER, "aud": BASE, "sub": "subject-1", "exp": now + 60, "scope": "memory:read"}
    unsigned = jwt.encode(claims, cast("Any", None), algorithm="none", headers={"kid": "rsa"})
    assert ask(site, unsigned) == 401
    shared = jwt.encode(claims, "x" * 32, algorithm="HS256", headers={"kid": "rsa"})
    assert ask(site, shared) == 401
    head, body, signature = sign(clock).split(".")
    assert ask(site, f"{head}.{body}.{signature[:-8]}AAAAAAAA") == 401
    assert ask(site, f"{head}..{signature}") == 401
    assert ask(site, "a.b.c") == 401
    assert ask(site, "credenda_access_" + "A" * 43) == 401


def test_keys_are_read_once_and_again_for_a_new_one(
    site: Site, clock: ManualClock, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HTTP_FAILED_TOKENS_RATE", 1e6)
    for _ in range(3):
        assert ask(site, sign(clock)) == 200
    assert len(issuer.asked) == 2
    issuer.keys.append(publish("new"))
    fresh: dict[str, Any] = {"key": "new", "exp": clock.now_us() // SECOND_US + 7_200}
    for _ in range(3):  # nobody makes the server ask for each invented key
        assert ask(site, sign(clock, **fresh)) == 401
    assert len(issuer.asked) == 2
    clock.advance(timedelta(minutes=1))
    assert ask(site, sign(clock, **fresh)) == 200
    assert len(issuer.asked) == 4
    issuer.keys = []
    clock.advance(timedelta(hours=1))
    assert ask(site, sign(clock, **fresh)) == 401


@pytest.mark.parametrize(
    "spoiled",
    [
        {"metadata": {"issuer": "https://evil.example", "jwks_uri": KEYS}},
        {"metadata": {"issuer": ISSUER}},
        {"keys": [None] * 101},
        {"is_down": True},
    ],
)
def test_an_issuer_that_cannot_be_used_is_no_fault_of_the_caller(
    site: Site, clock: ManualClock, issuer: Issuer, spoiled: dict[str, Any]
) -> None:
    vars(issuer).update(spoiled)
    assert ask(site, sign(clock)) == 503


def test_keys_that_are_of_no_use_are_left_out(site: Site, clock: ManualClock, issuer: Issuer) -> None:
    issuer.keys[1:] = [
        {"kty": "oct", "kid": "ec", "k": "AAAA"},
        {"kty": "RSA", "kid": "ec", "n": "x"},
        {"kty": "EC"},
        None,
        publish("ec", use="enc"),
    ]
    assert ask(site, sign(clock)) == 200
    assert ask(site, sign(clock, key="ec", algorithm="ES256")) == 401


def test_a_server_with_an_issuer_is_a_resource_server_alone(site: Site, clock: ManualClock) -> None:
    resource = site.send("GET", "/.well-known/oauth-protected-resource/mcp").json()
    assert (resource["resource"], resource["authorization_servers"]) == (f"{BASE}/mcp", [ISSUER])
    assert site.send("GET", "/.well-known/oauth-authorization-server").status_code == 404
    for path in ("/authorize", "/token", "/register", "/login"):
        assert site.send("GET", path).status_code == 401
    assert "resource_metadata" in site.send("POST", "/mcp").headers["WWW-Authenticate"]
    assert ask(site, site.token("ana")) == 200  # tokens of the command line stay valid
    assert site.tool("search_memories", {"query": "x"}, sign(clock)).status_code == 200


def test_an_audience_can_be_named(tmp_path: Path, clock: ManualClock, issuer: Issuer) -> None:
    del issuer
    address = Address(oidc_issuer=ISSUER, audiences=("api://memory",))
    with serving(tmp_path / "memory.db", clock, address=address) as site:
        add_member(site.parts, "subject-1", role="reader", issuer=ISSUER)
        assert ask(site, sign(clock, aud="api://memory")) == 200
        assert ask(site, sign(clock)) == 401


def test_a_subject_has_one_memory(site: Site) -> None:
    with pytest.raises(Conflict, match="uses another memory"), closing_parts(site, "bob") as bob:
        add_member(bob, "subject-1", role="reader", issuer=ISSUER)
    assert add_member(site.parts, "subject-1", role="reader", issuer=ISSUER).role == "reader"


@pytest.mark.parametrize(
    "address",
    [
        Address(oidc_issuer="http://id.example.org"),
        Address(oidc_issuer="https://id.example.org/?x=1"),
        Address(oidc_issuer="https://user@id.example.org"),
        Address(oidc_issuer=ISSUER, tokens=False),
        Address(audiences=("x",)),
    ],
)
def test_an_issuer_that_cannot_be_meant_is_refused(address: Address) -> None:
    with pytest.raises(Invalid):
        check_address(address)
