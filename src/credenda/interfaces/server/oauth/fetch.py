"""Fetch a small JSON document from an address that a stranger has named.

Such an address could lead into the network of the server. The name is resolved once; every address that it has must be
public; and the connection goes to the address that was checked, so that a second answer of the name changes nothing.
Only https on its own port, no redirection, and bounds on size and time.
"""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import Timer
from typing import Final
from urllib.parse import SplitResult, urlencode, urlsplit

from credenda.errors import Invalid, Unavailable

__all__ = ["Fetcher", "fetch_public_json", "is_public_address", "resolve_name"]

_OK: Final = 200
_FORM: Final = "application/x-www-form-urlencoded"
_HTTPS_PORT: Final = 443
_TRANSLATED: Final = tuple(IPv6Network(one) for one in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))
"""Ranges that lead to an IPv4 address inside them: NAT64, 6to4 and Teredo."""


def is_public_address(text: str) -> bool:
    """Return whether an address is reached over the public internet alone.

    >>> [is_public_address(one) for one in ("9.9.9.9", "10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "64:ff9b::1")]
    [True, False, False, False, False]
    """
    try:
        address: IPv4Address | IPv6Address = ip_address(text)
    except ValueError:  # with a zone, such as fe80::1%eth0
        return False
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        elif any(address in network for network in _TRANSLATED):
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def resolve_name(host: str, port: int) -> list[str]:
    """Return the addresses of a name; raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetcher:
    """How documents are fetched; the defaults are for addresses that strangers name."""

    resolve: Callable[[str, int], Iterable[str]] = resolve_name
    may_connect: Callable[[str], bool] = is_public_address
    ports: frozenset[int] = frozenset({_HTTPS_PORT})
    context: ssl.SSLContext = field(default_factory=ssl.create_default_context)
    bytes_max: int = 16 << 10
    wait_seconds: float = 5.0

    def fetch_json(self, url: str) -> object:
        """Fetch a document; raises `Invalid` for an address that is not allowed, `Unavailable` where none came."""
        return self._fetch(url, None)

    def post_form(self, url: str, fields: Mapping[str, str]) -> object:
        """Send a form, and return the document that is the answer; raises as `fetch_json` does."""
        return self._fetch(url, urlencode(fields))

    def _fetch(self, url: str, form: str | None) -> object:
        parts = _split(url)
        port = parts.port or _HTTPS_PORT
        if port not in self.ports:
            raise _refuse(url, "the port is not that of https")
        host = parts.hostname or ""
        connection = _Connection(host, port, self._choose_address(url, host, port), self)
        end = Timer(self.wait_seconds, connection.abort)  # a server that sends slowly would reset every other bound
        end.daemon = True
        end.start()
        try:
            body = self._read(connection, f"{parts.path}{'?' if parts.query else ''}{parts.query}", form)
        except (OSError, HTTPException) as error:
            raise _fail(url, type(error).__name__) from None
        finally:
            end.cancel()
            connection.close()
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise _fail(url, "the answer is not JSON") from None

    def _choose_address(self, url: str, host: str, port: int) -> str:
        try:
            addresses = [host] if _is_literal(host) else list(self.resolve(host, port))
        except (OSError, UnicodeError):
            raise _fail(url, "the name is unknown") from None
        if not addresses or not all(self.may_connect(one) for one in addresses):
            raise _refuse(url, "it leads to an address that is not public")
        return addresses[0]

    def _read(self, connection: _Connection, target: str, form: str | None) -> bytes:
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "credenda"}
        if form is None:
            connection.request("GET", target, headers=headers)
        else:
            connection.request("POST", target, body=form, headers={**headers, "Content-Type": _FORM})
        response = connection.getresponse()
        if response.status != _OK or response.getheader("content-encoding", "identity") != "identity":
            raise HTTPException
        body = response.read(self.bytes_max + 1)
        if len(body) > self.bytes_max:
            raise HTTPException
        return body


def fetch_public_json(url: str) -> object:
    """Fetch a document from an address that a stranger has named, as `Fetcher` does by default."""
    return Fetcher().fetch_json(url)


class _Connection(HTTPSConnection):
    """A connection to one address, whose certificate must be that of the host."""

    def __init__(self, host: str, port: int, address: str, fetcher: Fetcher) -> None:
        super().__init__(host, port, timeout=fetcher.wait_seconds, context=fetcher.context)
        self._address = address
        self._tls = fetcher.context

    def connect(self) -> None:
        """Connect to the address that was checked."""
        opened = socket.create_connection((self._address, self.port), self.timeout)
        self.sock = self._tls.wrap_socket(opened, server_hostname=self.host, do_handshake_on_connect=False)
        self.sock.do_handshake()

    def abort(self) -> None:
        """Let every wait for it end, from another thread."""
        if self.sock is not None:
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port_is_number = parts.port is None or parts.port > 0
    except ValueError:
        raise _refuse(url, "it is not an address") from None
    is_clean = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if parts.scheme != "https" or not parts.hostname or not port_is_number or not is_clean:
        raise _refuse(url, "it is no https address")
    if "@" in parts.netloc or parts.fragment or "#" in url:
        raise _refuse(url, "it has a user or a fragment")
    return parts


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _refuse(url: str, why: str) -> Invalid:
    return Invalid(f"{url[:200]} is not fetched", why=why, fix="give a public https address")


def _fail(url: str, why: str) -> Unavailable:
    return Unavailable(f"{url[:200]} cannot be read", why=why, fix="try again later")
