"""OAuth clients: programs that ask for access, named by a document of theirs or by a registration.

A client id that is an https address names a document with the client's metadata. A registration (RFC 7591) is open to
everyone and therefore proves nothing: its id is the metadata itself, and nothing is stored.
"""

from __future__ import annotations

import json
import socket
import ssl
import unicodedata
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from threading import Lock, Timer
from typing import Any, Final, cast
from urllib.parse import SplitResult, urlencode, urlsplit

from credenda.clock import SECOND_US, Clock
from credenda.errors import Invalid, Unavailable
from credenda.interfaces.server.address import LOOPBACK_NAMES

_REGISTERED: Final = "dcr-"
_ID_CHARACTERS: Final = 4_096
_URI_CHARACTERS: Final = 2_000
_URIS: Final = 20
_NAME_CHARACTERS: Final = 80
_CACHED: Final = 256
_CACHE_US: Final = 300 * SECOND_US
_UNSAFE_SCHEMES: Final = frozenset(
    {"about", "blob", "chrome", "data", "file", "filesystem", "ftp", "http", "https", "intent", "javascript", "mailto"}
    | {"resource", "tel", "vbscript", "view-source", "ws", "wss", "x-javascript"}
    | {"hcp", "jar", "ldap", "mhtml", "search", "search-ms", "shell", "sms", "ssh", "telnet"}
)
"""Schemes that are no program's own; http and https have rules of their own. `ms-…` are Windows'."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """A client, as its metadata describe it."""

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    host: str
    """The host whose document names it; "" for a registration, whose name nobody has checked."""

    def has_redirect(self, uri: str) -> bool:
        """Return whether it may be sent to an address: exactly as named, but for the port on this machine (RFC 8252).

        >>> client = OAuthClient(id="x", name="x", redirect_uris=("http://127.0.0.1/done",), host="")
        >>> client.has_redirect("http://127.0.0.1:5123/done"), client.has_redirect("http://127.0.0.1:5123/other")
        (True, False)
        """
        return uri in self.redirect_uris or (
            (bare := _drop_port(uri)) is not None and any(bare == _drop_port(one) for one in self.redirect_uris)
        )


class Clients:
    """Finds clients by their ids, and keeps the documents of some for a few minutes."""

    def __init__(self, clock: Clock, fetch: Callable[[str], object]) -> None:
        """Fetch documents with `fetch`, which raises `Invalid` or `Unavailable`."""
        self._clock = clock
        self._fetch = fetch
        self._lock = Lock()
        self._cache: OrderedDict[str, tuple[int, OAuthClient]] = OrderedDict()

    def find(self, client_id: str) -> OAuthClient:
        """Return a client; raises `Invalid` for one that is unknown or whose metadata cannot be used."""
        if len(client_id) > _ID_CHARACTERS:
            raise _refuse("its id is too long")
        if client_id.startswith(_REGISTERED):
            packed = client_id.removeprefix(_REGISTERED)
            try:
                found: object = json.loads(urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))
            except (ValueError, RecursionError):
                raise _refuse("its id is not from a registration here") from None
            if not isinstance(found, list) or not found:
                raise _refuse("its id is not from a registration here")
            name, *uris = cast("list[Any]", found)
            known_name, known_uris = _read_metadata({"client_name": name, "redirect_uris": uris})
            return OAuthClient(id=client_id, name=known_name, redirect_uris=known_uris, host="")
        if not client_id.startswith("https://"):
            raise _refuse("its id is neither an https address nor from a registration here")
        now_us = self._clock.now_us()
        with self._lock:
            cached = self._cache.get(client_id)
        if cached is not None and now_us < cached[0]:
            return cached[1]
        client = _read_document(client_id, self._fetch(client_id))
        with self._lock:
            self._cache[client_id] = (now_us + _CACHE_US, client)
            if len(self._cache) > _CACHED:
                self._cache.popitem(last=False)
        return client


def register_client(sent: object) -> Mapping[str, object]:
    """Register a client: return its metadata as they are understood, with its id (RFC 7591); raises `Invalid`."""
    name, uris = _read_metadata(sent)
    packed = json.dumps([name, *uris], ensure_ascii=False, separators=(",", ":")).encode()
    client_id = _REGISTERED + urlsafe_b64encode(packed).rstrip(b"=").decode()
    if len(client_id) > _ID_CHARACTERS:
        raise _refuse("its metadata are too long")
    return {
        "client_id": client_id,
        "client_name": name,
        "redirect_uris": list(uris),
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


def split_redirect(uri: str) -> tuple[str, str]:
    """Return the source expression of an address for a Content-Security-Policy, and its host, "" for a program's."""
    parts = urlsplit(uri)
    if parts.scheme in {"http", "https"}:
        return f"{parts.scheme}://{parts.netloc}", parts.hostname or ""
    return f"{parts.scheme}:", ""


def _read_document(url: str, document: object) -> OAuthClient:
    path = urlsplit(url).path
    if path in {"", "/"} or any(part in {".", ".."} for part in path.split("/")):
        raise _refuse("the address of its document has no path")
    if not isinstance(document, dict) or cast("dict[str, Any]", document).get("client_id") != url:
        raise _refuse("its document names another client id")
    name, uris = _read_metadata(cast("dict[str, Any]", document))
    return OAuthClient(id=url, name=name, redirect_uris=uris, host=urlsplit(url).hostname or "")


def _read_metadata(sent: object) -> tuple[str, tuple[str, ...]]:
    """Return name and redirect addresses of a client; raises `Invalid`."""
    if not isinstance(sent, dict):
        raise _refuse("its metadata are not a JSON object")
    metadata = cast("dict[str, Any]", sent)
    uris = metadata.get("redirect_uris")
    if not isinstance(uris, list) or not 0 < len(cast("list[Any]", uris)) <= _URIS:
        raise _refuse(f"it needs 1 to {_URIS} redirect addresses", error="invalid_redirect_uri")
    for uri in cast("list[Any]", uris):
        # Raise `Invalid` for an address to which nobody may be sent: its answer carries a code.
        if not isinstance(uri, str) or not 0 < len(uri) <= _URI_CHARACTERS:
            raise _refuse("a redirect address is no text, or too long", error="invalid_redirect_uri")
        try:
            parts = urlsplit(uri)
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise _refuse("a redirect address cannot be read", error="invalid_redirect_uri") from None
        is_clean = uri.isascii() and uri.isprintable() and not set(uri) & set(" \"'<>\\^`{|};,") and "#" not in uri
        is_web = parts.scheme == "https" and bool(host) and "*" not in host
        is_loopback = parts.scheme == "http" and host in LOOPBACK_NAMES
        is_own = parts.scheme not in _UNSAFE_SCHEMES and not parts.scheme.startswith("ms-")
        is_program = is_own and uri.startswith(f"{parts.scheme}:/") and bool(parts.scheme)
        if not is_clean or "@" in parts.netloc or not (is_web or is_loopback or is_program):
            why = (
                "a redirect address must be https, http on this machine, or a program's own scheme, without a fragment"
            )
            raise _refuse(why, error="invalid_redirect_uri")
    if metadata.get("token_endpoint_auth_method") == "private_key_jwt" and "client_id" in metadata:
        raise _refuse("it wants to sign its requests, which is not supported")
    named = metadata.get("client_name")
    known = tuple(dict.fromkeys(cast("list[str]", uris)))
    kept = "".join(
        one if unicodedata.category(one)[0] != "C" else " "
        for one in (named if isinstance(named, str) else "")[: 4 * _NAME_CHARACTERS]
    )
    return " ".join(kept.split())[:_NAME_CHARACTERS] or split_redirect(known[0])[1] or "A program", known


def _drop_port(uri: str) -> str | None:
    """Return an http address on this machine without its port; None for any other."""
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    if parts.scheme != "http" or parts.hostname not in LOOPBACK_NAMES or "@" in parts.netloc:
        return None
    return parts._replace(netloc=parts.hostname).geturl()


def _refuse(why: str, *, error: str = "invalid_client_metadata") -> Invalid:
    return Invalid("this client cannot be connected", why=why, error=error)


# Fetch a small JSON document from an address that a stranger has named.


_OK: Final = 200
_FORM: Final = "application/x-www-form-urlencoded"
_HTTPS_PORT: Final = 443
_TRANSLATED: Final = tuple(IPv6Network(one) for one in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))
"""Ranges that lead to an IPv4 address inside them: NAT64, 6to4 and Teredo."""
_SPECIAL: Final = tuple(ip_network(one) for one in ("fec0::/10", "3fff::/20", "192.0.0.0/24", "192.88.99.0/24"))
"""Ranges that Python counts as global and that are none: of a site, of documentation, of protocols, of relays."""


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
    if any(address in network for network in _SPECIAL):
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
            raise _refuse_fetch(url, "the port is not that of https")
        host = parts.hostname or ""
        try:
            addresses = [host] if _is_literal(host) else list(self.resolve(host, port))
        except (OSError, UnicodeError):
            raise _fail(url, "the name is unknown") from None
        if not addresses or not all(self.may_connect(one) for one in addresses):
            raise _refuse_fetch(url, "it leads to an address that is not public")
        connection = _Connection(host, port, addresses[0], self)
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
        raise _refuse_fetch(url, "it is not an address") from None
    is_clean = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if parts.scheme != "https" or not parts.hostname or not port_is_number or not is_clean:
        raise _refuse_fetch(url, "it is no https address")
    if "@" in parts.netloc or parts.fragment or "#" in url:
        raise _refuse_fetch(url, "it has a user or a fragment")
    return parts


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _refuse_fetch(url: str, why: str) -> Invalid:
    return Invalid(f"{url[:200]} is not fetched", why=why, fix="give a public https address")


def _fail(url: str, why: str) -> Unavailable:
    return Unavailable(f"{url[:200]} cannot be read", why=why, fix="try again later")
