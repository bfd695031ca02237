"""OAuth clients: programs that ask for access, named by a document of theirs or by a registration.

A client id that is an https address names a document with the client's metadata. A registration (RFC 7591) is open to
everyone and therefore proves nothing: its id is the metadata itself, and nothing is stored.
"""

from __future__ import annotations

import json
import unicodedata
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, cast
from urllib.parse import urlsplit

from credenda.clock import SECOND_US, Clock
from credenda.errors import Invalid
from credenda.interfaces.server.address import LOOPBACK_NAMES

__all__ = ["Clients", "OAuthClient", "register_client", "split_redirect"]

_REGISTERED: Final = "dcr-"
_ID_CHARACTERS: Final = 4_096
_URI_CHARACTERS: Final = 2_000
_URIS: Final = 20
_NAME_CHARACTERS: Final = 80
_CACHED: Final = 256
_CACHE_US: Final = 300 * SECOND_US
_UNSAFE_SCHEMES: Final = frozenset(
    {"about", "blob", "chrome", "data", "file", "filesystem", "ftp", "http", "https", "intent", "javascript", "mailto"}
    | {"resource", "tel", "vbscript", "view-source", "ws", "wss"}
)
"""Schemes that are no program's own; http and https have rules of their own."""


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
            return _read_registered(client_id)
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


def _read_registered(client_id: str) -> OAuthClient:
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
        _check_redirect(uri)
    if metadata.get("token_endpoint_auth_method") == "private_key_jwt" and "client_id" in metadata:
        raise _refuse("it wants to sign its requests, which is not supported")
    named = metadata.get("client_name")
    known = tuple(dict.fromkeys(cast("list[str]", uris)))
    return _clean_name(named if isinstance(named, str) else "") or split_redirect(known[0])[1] or "A program", known


def _check_redirect(uri: object) -> None:
    """Raise `Invalid` for an address to which nobody may be sent: its answer carries a code."""
    if not isinstance(uri, str) or not 0 < len(uri) <= _URI_CHARACTERS:
        raise _refuse("a redirect address is no text, or too long", error="invalid_redirect_uri")
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise _refuse("a redirect address cannot be read", error="invalid_redirect_uri") from None
    is_clean = uri.isascii() and uri.isprintable() and not set(uri) & set(" \"'<>\\^`{|};,") and "#" not in uri
    is_web = parts.scheme == "https" and bool(host)
    is_loopback = parts.scheme == "http" and host in LOOPBACK_NAMES
    is_program = parts.scheme not in _UNSAFE_SCHEMES and uri.startswith(f"{parts.scheme}:/") and bool(parts.scheme)
    if not is_clean or "@" in parts.netloc or not (is_web or is_loopback or is_program):
        why = "a redirect address must be https, http on this machine, or a program's own scheme, without a fragment"
        raise _refuse(why, error="invalid_redirect_uri")


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


def _clean_name(name: str) -> str:
    """Return a name without characters that hide, or that turn the direction of a text."""
    kept = "".join(one if unicodedata.category(one)[0] != "C" else " " for one in name[: 4 * _NAME_CHARACTERS])
    return " ".join(kept.split())[:_NAME_CHARACTERS]


def _refuse(why: str, *, error: str = "invalid_client_metadata") -> Invalid:
    return Invalid("this client cannot be connected", why=why, error=error)
