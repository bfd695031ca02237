"""Slow down addresses that send wrong secrets, or many requests without a token."""

from __future__ import annotations

import math
from typing import Final, cast
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from credenda import limits
from credenda.interfaces.server.problems import Problem
from credenda.interfaces.server.rate import RateLimit


class Attempts:
    """Counts the wrong secrets that each address has sent, and its requests to pages that need no token."""

    def __init__(self, *, trust_proxy: bool) -> None:
        """Begin without any; `trust_proxy` takes the address of a caller from what the proxy says."""
        self._trust_proxy = trust_proxy
        self._failures = RateLimit(limits.HTTP_FAILED_TOKENS_RATE, limits.HTTP_FAILED_TOKENS)
        self._requests = RateLimit(limits.OAUTH_REQUESTS_RATE, limits.OAUTH_REQUESTS)

    def find_address(self, scope: Scope) -> str:
        """Return the address of the caller; behind a proxy, the one that the proxy itself has added."""
        if self._trust_proxy and (forwarded := Headers(scope=scope).get("x-forwarded-for")):
            return forwarded.rpartition(",")[2].strip()[: limits.NAME_CHARACTERS]
        client = cast("tuple[str, int] | None", scope.get("client"))
        return client[0] if client else ""

    def check(self, address: str) -> None:
        """Raise `Problem` (429) for an address that has sent too many."""
        _check_wait(self._failures.wait_seconds(address), "too many wrong tokens")

    def take_request(self, scope: Scope) -> None:
        """Count a request without a token; raise `Problem` (429) for an address that sends too many."""
        _check_wait(self._requests.take(self.find_address(scope)), "there are too many requests")

    def count(self, address: str) -> None:
        """Count one more."""
        self._failures.take(address)


def _check_wait(wait_seconds: float, title: str) -> None:
    if wait_seconds:
        headers = {"Retry-After": str(math.ceil(wait_seconds))}
        raise Problem(429, title, code="rate_limited", fix="wait", headers=headers)


# Refuse what a page of another origin sends: a browser names that page's origin, and how far it is from this one.


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
