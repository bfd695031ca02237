"""Slow down addresses that send wrong secrets."""

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
    """Counts the wrong secrets that each address has sent."""

    def __init__(self, *, trust_proxy: bool) -> None:
        """Begin without any; `trust_proxy` takes the address of a caller from what the proxy says."""
        self._trust_proxy = trust_proxy
        self._failures = RateLimit(limits.HTTP_FAILED_TOKENS_RATE, limits.HTTP_FAILED_TOKENS)

    def find_address(self, scope: Scope) -> str:
        """Return the address of the caller; behind a proxy, the one that the proxy itself has added."""
        if self._trust_proxy and (forwarded := Headers(scope=scope).get("x-forwarded-for")):
            return forwarded.rpartition(",")[2].strip()[: limits.NAME_CHARACTERS]
        client = cast("tuple[str, int] | None", scope.get("client"))
        return client[0] if client else ""

    def check(self, address: str) -> None:
        """Raise `Problem` (429) for an address that has sent too many."""
        wait = self._failures.wait_seconds(address)
        if wait:
            headers = {"Retry-After": str(math.ceil(wait))}
            raise Problem(429, "too many wrong tokens", code="rate_limited", fix="wait", headers=headers)

    def count(self, address: str) -> None:
        """Count one more."""
        self._failures.take(address)
