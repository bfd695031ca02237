"""Documents of clients come from public addresses alone, over a connection to the address that was checked."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from credenda.clock import seconds
from credenda.errors import Invalid, Unavailable
from credenda.interfaces.server.oauth.clients import Clients, Fetcher, is_public_address
from credenda.testing import ManualClock
from tests.waiting import PATIENCE_SECONDS

from .certificates import write_certificate

START = "2026-03-01T09:00:00Z"
URL = "https://client.example.com/metadata.json"
DOCUMENT = {"client_id": URL, "client_name": "App", "redirect_uris": ["https://client.example.com/done"]}


Answer = Callable[[ssl.SSLSocket], None]


def resolve_to(*addresses: str) -> Callable[[str, int], list[str]]:
    """Make a resolver that knows one answer."""

    def resolve(_: str, __: int) -> list[str]:
        return list(addresses)

    return resolve


class Host:
    """A TLS server on this machine that answers each connection as told."""

    def __init__(self, folder: Path, answer: Answer) -> None:
        certificate, key = write_certificate(folder, name="client.example.com")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.trusting = ssl.create_default_context(cafile=str(certificate))
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listening.getsockname()[1]
        self.asked: list[bytes] = []
        self._context = context
        self._answer = answer
        self._thread = Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                opened, _ = self.listening.accept()
            except OSError:
                return
            with suppress(OSError), self._context.wrap_socket(opened, server_side=True) as caller:
                self.asked.append(caller.recv(65_536))
                self._answer(caller)

    def close(self) -> None:
        with suppress(OSError):
            self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        self._thread.join()

    def fetcher(self, **changed: Any) -> Fetcher:  # noqa: ANN401 - fields of a fetcher
        given: dict[str, Any] = {"resolve": resolve_to("127.0.0.1"), "may_connect": bool, "context": self.trusting}
        given |= {"ports": frozenset({self.port}), **changed}
        return Fetcher(**given)

    def url(self, path: str = "/metadata.json") -> str:
        return f"https://client.example.com:{self.port}{path}"


@pytest.fixture
def make_host(tmp_path: Path) -> Iterator[Callable[..., Host]]:
    hosts: list[Host] = []

    def make(answer: Answer) -> Host:
        hosts.append(Host(tmp_path, answer))
        return hosts[-1]

    yield make
    for one in hosts:
        one.close()


def send(whole: bytes) -> Answer:
    def answer(caller: ssl.SSLSocket) -> None:
        caller.sendall(whole)

    return answer


def reply(body: bytes, head: str = "HTTP/1.1 200 OK") -> Answer:
    return send(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.9.9.9",
        "0.0.0.0",  # noqa: S104 - it is refused
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
        "2001:db8::1",
        "fec0::1",
        "3fff::1",
        "192.0.0.8",
        "192.88.99.1",
        "localhost",
        "",
    ],
)
def test_an_address_that_is_not_public_is_not_connected_to(address: str) -> None:
    assert not is_public_address(address)
    with pytest.raises(Invalid, match="not public"):
        Fetcher(resolve=resolve_to(address)).fetch_json(URL)


def test_one_private_address_among_others_is_enough_to_refuse() -> None:
    assert is_public_address("9.9.9.9")
    assert is_public_address("2620:fe::fe")
    with pytest.raises(Invalid, match="not public"):
        Fetcher(resolve=resolve_to("9.9.9.9", "10.0.0.1")).fetch_json(URL)
    with pytest.raises(Invalid, match="not public"):
        Fetcher(resolve=resolve_to()).fetch_json(URL)


@pytest.mark.parametrize(
    "url",
    [
        "http://client.example.com/x",
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "https://client.example.com:8443/x",
        "https://user:pass@client.example.com/x",
        "https://client.example.com/x#y",
        "https:///x",
        "ftp://client.example.com/x",
        "https://client.example.com/a b",
        "https://client.example.com\\@127.0.0.1/x",
        "https://client.example.com:port/x",
        "https://[::1/x",
        "https://exämple.com/x",
        "file:///etc/passwd",
        "https://2130706433/x",
        "https://client.example.com/\r\nx",
    ],
)
def test_an_address_of_another_kind_is_not_fetched(url: str) -> None:
    def resolve(host: str, _: int) -> list[str]:
        return ["127.0.0.1"] if host == "2130706433" else ["9.9.9.9"]

    with pytest.raises(Invalid):
        Fetcher(resolve=resolve).fetch_json(url)


def test_a_name_is_resolved_once_and_the_connection_goes_there(make_host: Callable[..., Host]) -> None:
    """A name that changes its answer (DNS rebinding) leads nowhere else."""
    host = make_host(reply(json.dumps(DOCUMENT).encode()))
    answers = [["127.0.0.1"], ["10.0.0.1"]]
    checked: list[str] = []

    def resolve(_: str, __: int) -> list[str]:
        return answers.pop(0)

    def may_connect(address: str) -> bool:
        checked.append(address)
        return True

    fetcher = host.fetcher(resolve=resolve, may_connect=may_connect)
    assert fetcher.fetch_json(host.url("/metadata.json?v=1")) == DOCUMENT
    assert checked == ["127.0.0.1"]
    assert len(answers) == 1
    asked = host.asked[0].decode()
    assert asked.startswith("GET /metadata.json?v=1 HTTP/1.1\r\nHost: client.example.com:")
    assert "cookie" not in asked.casefold()
    assert "authorization" not in asked.casefold()


def test_the_certificate_must_be_that_of_the_name(make_host: Callable[..., Host]) -> None:
    host = make_host(reply(b"{}"))
    with pytest.raises(Unavailable, match="cannot be read"):
        host.fetcher().fetch_json(f"https://other.example.com:{host.port}/x")
    with pytest.raises(Unavailable):
        host.fetcher(context=ssl.create_default_context()).fetch_json(host.url())


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"{}", "HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1/secret"),
        reply(b"{}", "HTTP/1.1 404 Not Found"),
        reply(b"{}", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip"),
        reply(b"not json"),
        reply(b"[" * 10_000),
        reply(b'"' + b"x" * (17 << 10) + b'"'),
        send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFF\r\n" + b"x" * 99_999),
        send(b"\x00\x01 nonsense\r\n\r\n"),
        send(b""),
    ],
)
def test_an_answer_of_another_kind_is_not_read(make_host: Callable[..., Host], answer: Answer) -> None:
    host = make_host(answer)
    with pytest.raises(Unavailable):
        host.fetcher().fetch_json(host.url())
    assert len(host.asked) == 1


def test_a_host_that_sends_slowly_is_left(make_host: Callable[..., Host]) -> None:
    """Each byte comes in time; the whole does not."""
    ended = Event()

    def drip(caller: ssl.SSLSocket) -> None:
        with suppress(OSError):
            caller.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while not ended.wait(0.05):
                caller.sendall(b"x")

    host = make_host(drip)
    begun = seconds()
    with pytest.raises(Unavailable):
        host.fetcher(wait_seconds=0.5).fetch_json(host.url())
    assert seconds() - begun < PATIENCE_SECONDS
    ended.set()


# The documents


def find(document: object, url: str = URL) -> Any:  # noqa: ANN401 - a client
    return Clients(ManualClock(START), lambda _: document).find(url)


def test_a_document_describes_a_client() -> None:
    client = find(DOCUMENT)
    assert (client.id, client.name, client.host) == (URL, "App", "client.example.com")
    assert client.redirect_uris == ("https://client.example.com/done",)


@pytest.mark.parametrize(
    ("document", "url"),
    [
        ({**DOCUMENT, "client_id": "https://evil.example/metadata.json"}, URL),
        ({key: value for key, value in DOCUMENT.items() if key != "client_id"}, URL),
        ({**DOCUMENT, "redirect_uris": ["javascript:x"]}, URL),
        ({**DOCUMENT, "redirect_uris": []}, URL),
        ({**DOCUMENT, "token_endpoint_auth_method": "private_key_jwt"}, URL),
        ([DOCUMENT], URL),
        (None, URL),
        ({**DOCUMENT, "client_id": "https://client.example.com"}, "https://client.example.com"),
        ({**DOCUMENT, "client_id": "https://client.example.com/"}, "https://client.example.com/"),
        ({**DOCUMENT, "client_id": "https://client.example.com/a/../b"}, "https://client.example.com/a/../b"),
    ],
)
def test_a_document_that_does_not_fit_its_address_is_refused(document: object, url: str) -> None:
    with pytest.raises(Invalid, match="cannot be connected"):
        find(document, url)


def test_a_document_is_kept_for_five_minutes() -> None:
    clock, fetched = ManualClock(START), list[str]()

    def fetch(url: str) -> object:
        fetched.append(url)
        return DOCUMENT

    clients = Clients(clock, fetch)
    for minutes in (0, 4, 1):
        clock.advance(timedelta(minutes=minutes))
        clients.find(URL)
    assert len(fetched) == 2
