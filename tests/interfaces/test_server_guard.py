"""Around every route: hosts and origins, rates and queues, logs without words, and pages for machines."""

from __future__ import annotations

import json
import logging
import socket
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.errors import Invalid, Unavailable
from credenda.interfaces.authorization import SCOPES
from credenda.interfaces.server.address import Address, check_address, listen
from credenda.interfaces.server.guard import RateLimit
from credenda.interfaces.server.metrics import Metrics
from credenda.testing import ManualClock
from tests.waiting import await_that

from .served import serving

START = "2026-03-01T09:00:00Z"
CERTIFICATE = Path(__file__)
"""Any file: nothing is read of it here."""


def clock() -> ManualClock:
    return ManualClock(START)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:8765"}, 200),
        ({"Host": "[::1]:8765"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "["}, 421),
        ({"Origin": "http://127.0.0.1:8765"}, 200),
        ({"Host": "localhost:8765", "Origin": "http://localhost:8765"}, 200),
        ({"Host": "[::1]:8765", "Origin": "http://[::1]:8765"}, 200),
        ({"Host": "localhost", "Origin": "http://localhost:80"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:3000"}, 403),
        ({"Origin": "http://localhost:8765"}, 403),
        ({"Origin": "https://127.0.0.1:8765"}, 403),
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"Origin": "http://127.0.0.1:8765@evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:x"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "http://127.0.0.1:8765", "Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"X-Forwarded-For": "10.0.0.1"}, 403),
        ({"Forwarded": "for=10.0.0.1"}, 403),
        ({"Via": "1.1 proxy"}, 403),
    ],
)
def test_only_this_machine_is_served_without_a_token(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    with serving(tmp_path / "memory.db", clock()) as site:
        for path in ("/v1/stats", "/livez"):
            assert site.send("GET", path, headers=headers).status_code == status
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accept = {"Accept": "application/json, text/event-stream"}
        assert site.send("POST", "/mcp", json=body, headers={**accept, **headers}).status_code == status


@pytest.mark.parametrize("url", ["https://memory.example.org", "https://Memory.example.org:443/"])
@pytest.mark.parametrize("host", ["memory.example.org", "127.0.0.1:8765"])
def test_a_server_behind_a_proxy_serves_its_public_name_to_tokens(tmp_path: Path, url: str, host: str) -> None:
    address = Address(trust_proxy=True, url=url)
    with serving(tmp_path / "memory.db", clock(), address=address) as site:
        headers = {"Host": host, "X-Forwarded-For": "10.0.0.1", "Origin": "https://memory.example.org"}
        assert site.send("GET", "/v1/stats", headers=headers).status_code == 401
        assert site.send("GET", "/v1/stats", site.token("ana"), headers=headers).status_code == 200
        for origin in ("http://memory.example.org", "https://memory.example.org:8443", "http://127.0.0.1:8765"):
            refused = site.send("GET", "/v1/stats", site.token("ana"), headers={**headers, "Origin": origin})
            assert refused.status_code == 403, origin


@pytest.mark.parametrize(
    "address",
    [
        Address(),
        Address(host="localhost"),
        Address(host="::1", tokens=True),
        Address(host="0.0.0.0", trust_proxy=True, url="https://a.example"),  # noqa: S104 - nothing listens
        Address(host="10.0.0.5", tls_cert=CERTIFICATE, tls_key=CERTIFICATE, url="https://a.example:8765"),
    ],
)
def test_an_address_that_exposes_nothing_is_accepted(address: Address) -> None:
    check_address(address)
    assert address.needs_tokens == (address.tokens or not address.is_loopback)


@pytest.mark.parametrize(
    ("address", "fix"),
    [
        (Address(host="0.0.0.0"), "--tls-cert and --tls-key, or --trust-proxy"),  # noqa: S104 - as above
        (Address(host="memory.example.org", url="http://memory.example.org"), "--trust-proxy"),
        (Address(host="10.0.0.5", tls_cert=CERTIFICATE, tls_key=CERTIFICATE), "--url"),
        (Address(host="10.0.0.5", tls_cert=CERTIFICATE, tls_key=CERTIFICATE, url="https://a", tokens=False), "--auth"),
        (Address(trust_proxy=True, url="https://a.example", tokens=False), "--auth"),
        (Address(trust_proxy=True), "--url"),
        (Address(url="memory.example.org"), "--url https://"),
        (Address(trust_proxy=True, url="http://memory.example.org"), "--url https://"),
        (Address(tls_cert=CERTIFICATE), "--tls-key"),
        (Address(tls_cert=Path("/none"), tls_key=Path("/none")), "--tls-cert"),
    ],
)
def test_an_address_that_exposes_a_memory_is_refused_with_the_way_out(address: Address, fix: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_address(address)
    assert fix in str(caught.value)


def test_small_answers_are_sent_at_once() -> None:
    """Asyncio turns off the delay of small packets only on sockets whose protocol is named."""
    with listen(Address(port=0)) as opened:
        assert opened.proto == socket.IPPROTO_TCP


def test_background_work_yields_to_a_whole_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    with serving(tmp_path / "memory.db", clock()) as site:
        calls = site.parts.active_calls

        def stats(_: Credenda) -> None:
            counts.append(calls._calls)  # noqa: SLF001 - what the worker looks at

        monkeypatch.setattr(Credenda, "stats", stats)
        site.send("GET", "/v1/stats")
        counts.append(calls._calls)  # noqa: SLF001 - as above
    assert counts == [1, 0]


def test_an_address_in_use_is_refused() -> None:
    with listen(Address(port=0)) as first, pytest.raises(Unavailable, match="cannot listen"):
        listen(Address(port=first.getsockname()[1]))
    with pytest.raises(Unavailable):
        listen(Address(host="192.0.2.1", port=0))


def test_a_user_who_calls_too_often_waits_and_others_do_not(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", clock(), tokens=True, rate=0.001) as site:
        ana, bob = site.token("ana"), site.token("bob")
        assert site.send("GET", "/v1/stats", ana).status_code == 200
        refused = site.send("GET", "/v1/stats", ana)
        assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
        assert 500 < int(refused.headers["Retry-After"]) <= 1_000
        assert site.send("GET", "/v1/stats", bob).status_code == 200
        assert site.send("GET", "/livez").status_code == 200


def test_permits_come_back_at_a_steady_rate_and_up_to_a_burst() -> None:
    now = 0.0
    rate = RateLimit(2.0, 3.0, now=lambda: now)
    assert [rate.take("ana") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert rate.wait_seconds("ana") == 0.5
    assert rate.take("bob") == 0.0
    now = 0.5
    assert rate.take("ana") == 0.0
    now = 100.0
    assert [rate.take("ana") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert RateLimit(0.0, 1.0).take("ana") == 0.0


@pytest.mark.requirement("D-012")
def test_the_log_has_every_outcome_and_who_called_and_none_of_their_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.DEBUG),
        serving(tmp_path / "memory.db", clock(), tokens=True) as site,
    ):
        token = site.token("ana", name="laptop")
        site.send("POST", "/v1/memories", token, json={"content": "My doctor is in Zanzibar.", "topic": "secretive"})
        site.tool("search_memories", {"query": "Zanzibar"}, token)
        site.send("GET", "/v1/memories/m1-zanzib", token)
        site.send("GET", "/v1/memories?topic=secretive", "credenda_wrong")
        site.send("GET", "/zanzibar", token, headers={"Host": "zanzibar.example"})
    lines = [json.loads(one.getMessage()) for one in caplog.records if one.name == "credenda.server.requests"]
    assert [(one["route"], one["status"]) for one in lines] == [
        ("/v1/memories", 202),
        ("/mcp", 200),
        ("/v1/memories/{id}", 404),
        ("other", 401),
        ("other", 421),
    ]
    assert lines[0]["caller"] == f"token:{token.split('_')[1]}"
    assert "caller" not in lines[3]
    assert not logging.getLogger("mcp").propagate
    ours = [one.getMessage() for one in caplog.records if not one.name.startswith(("httpx2", "mcp"))]
    everything = "\n".join(ours).casefold()
    assert not [word for word in ("zanzib", "secretive", "doctor", token.casefold()) if word in everything]


def test_metrics_count_routes_and_name_nobody(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", clock(), tokens=True) as site:
        token = site.token("zoe")
        site.send("GET", "/v1/memories/m1-000000", token)
        assert site.send("GET", "/metrics", site.token("zoe", ["memory:read"])).status_code == 403
        shown = site.send("GET", "/metrics", token).text
    line = 'credenda_http_requests_total{method="GET",route="/v1/memories/{id}",status="404"} 1'
    assert line in shown.splitlines()
    assert "credenda_memories_open 1" in shown
    assert not [word for word in ("zoe", "m1-000000", token.split("_")[1]) if word in shown]


def test_metrics_show_how_long_the_oldest_message_waits(tmp_path: Path) -> None:
    moving = clock()
    with serving(tmp_path / "memory.db", moving) as site:
        assert "credenda_oldest_unread_seconds 0" in site.send("GET", "/metrics").text.splitlines()
        site.send("POST", "/v1/memories", json={"content": "I live in Linz."})
        moving.advance(timedelta(seconds=90))
        assert "credenda_oldest_unread_seconds 90" in site.send("GET", "/metrics").text.splitlines()
        site.settle()
        assert "credenda_oldest_unread_seconds 0" in site.send("GET", "/metrics").text.splitlines()


def test_durations_are_counted_in_buckets_that_add_up() -> None:
    metrics = Metrics()
    for duration in (0.001, 0.3, 99.0):
        metrics.count_request("GET", "/v1/stats", 200, duration)
    shown = metrics.write({})
    counts = [int(line.split()[-1]) for line in shown.splitlines() if "_bucket" in line]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (1, 3)


def test_life_needs_no_database_and_readiness_does(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", clock(), work=True) as site:
        assert site.send("GET", "/readyz").json() == {"status": "ok"}
        site.parts.store.close()
        assert site.send("GET", "/livez").json() == {"status": "ok"}
        ready = site.send("GET", "/readyz")
        assert (ready.status_code, ready.json()) == (503, {"status": "unavailable"})
        refused = site.send("GET", "/v1/stats")
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        shown = site.send("GET", "/metrics")
        assert shown.status_code == 200
        assert "credenda_ready 0" in shown.text.splitlines()
        assert "credenda_oldest_unread_seconds" not in shown.text


def test_the_worker_inside_reads_what_is_stored(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", clock(), tokens=True, work=True) as site:
        for user in ("ana", "bob"):
            token = site.token(user, SCOPES)
            site.send("POST", "/v1/memories", token, json={"content": f"My name is {user.title()}."})
            listed = partial(site.send, "GET", "/v1/memories", token)
            await_that(lambda listed=listed: listed().json()["items"], "the belief of the worker")
            items = listed().json()["items"]
            assert [one["value"] for one in items] == [user.title()]
