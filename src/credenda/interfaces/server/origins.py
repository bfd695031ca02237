"""Refuse what a page of another origin sends: a browser names that page's origin, and how far it is from this one.

Only some requests make a browser ask first (CORS preflight): a form, a file or an empty body reach a server unasked.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from credenda.interfaces.server.problems import Problem

__all__ = ["check_sender", "is_from_own_page"]

_OWN: Final = frozenset({"same-origin", "none"})
"""What a browser says of a request by a page of the same origin, and of one by the person alone."""
_READING: Final = frozenset({"GET", "HEAD"})
_PORTS: Final = {"http": 80, "https": 443}


def check_sender(scope: Scope, url: str) -> None:
    """Raise `Problem` for the request of another origin's page; one that leads a person here by a link is none.

    The origin of this server is that of `url`, or where that is empty the address that the request was sent to, whose
    host the caller has checked. Programs send neither header.
    """
    headers = Headers(scope=scope)
    own = _read_origin(url or f"{scope['scheme']}://{headers.get('host', '')}")
    if any(_read_origin(one) != own for one in headers.getlist("origin")):
        detail = "it comes from a page of another origin: scheme, host and port are compared"
        raise Problem(403, "this origin may not call", code="forbidden", detail=detail)
    is_link = scope["method"] in _READING and headers.get("sec-fetch-mode") == "navigate"
    if headers.get("sec-fetch-site", "none") not in _OWN and not is_link:
        detail = "the browser says that a page of another origin sent it"
        raise Problem(403, "this request is refused", code="forbidden", detail=detail)


def is_from_own_page(headers: Headers) -> bool:
    """Return whether a browser says that a page of this server sent a request; those of other pages came not so far."""
    return "origin" in headers or headers.get("sec-fetch-site") == "same-origin"


def _read_origin(address: str) -> tuple[str, str, int | None] | None:
    """Return scheme, host and port of an address; None for one without a host, such as the origin `null`."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port or _PORTS.get(parts.scheme)) if parts.hostname else None
