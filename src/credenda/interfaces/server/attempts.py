"""Slow down addresses that send wrong secrets, or many requests without a token."""

from __future__ import annotations

import math
from typing import cast

from starlette.datastructures import Headers
from starlette.types import Scope

from credenda import limits
from credenda.interfaces.server.problems import Problem
from credenda.interfaces.server.rate import RateLimit

__all__ = ["Attempts"]


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
