"""Find out who calls by the bearer token of a request."""

from __future__ import annotations

import math
from collections import OrderedDict
from contextlib import suppress
from hashlib import sha256
from threading import Lock
from typing import Final, cast

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.types import Scope as RequestScope

from credenda import limits
from credenda.clock import HOUR_US, Clock
from credenda.errors import CredendaError, Unauthenticated
from credenda.interfaces.authorization import SCOPES, Principal
from credenda.interfaces.server.problems import Problem
from credenda.interfaces.server.rate import RateLimit
from credenda.model.access_token import AccessToken
from credenda.services.tokens import verify_token
from credenda.storage.tokens import TokenStore

__all__ = ["TokenCheck"]

_KNOWN: Final = 4_096
_FIX: Final = "send `Authorization: Bearer TOKEN` with a token of `credenda token create`"


class TokenCheck:
    """Verifies tokens against the database in every call, so that a revoked token is refused at once.

    An address that sends many wrong tokens is answered with 429 for a while, without a look at the token, unless this
    process has seen it valid before: others behind the same proxy are not locked out.
    """

    def __init__(self, store: TokenStore, clock: Clock, *, trust_proxy: bool) -> None:
        """Begin without failures; `trust_proxy` takes the address of a caller from what the proxy says."""
        self._store = store
        self._clock = clock
        self._trust_proxy = trust_proxy
        self._failures = RateLimit(limits.HTTP_FAILED_TOKENS_RATE, limits.HTTP_FAILED_TOKENS)
        self._lock = Lock()
        self._known: OrderedDict[bytes, None] = OrderedDict()

    async def identify(self, scope: RequestScope) -> Principal:
        """Return the caller of a request.

        Raises `Unauthenticated` for a missing or wrong token, `Problem` for an address that sends too many wrong ones.
        """
        headers = Headers(scope=scope)
        kind, _, text = headers.get("authorization", "").partition(" ")
        if kind.casefold() != "bearer" or not text.strip():
            raise Unauthenticated("a token is needed", why="the request carries none", fix=_FIX)
        now_us = self._clock.now_us()
        token = self._verify(text.strip(), self._find_address(scope, headers), now_us)
        if token.last_used_us is None or now_us - token.last_used_us >= HOUR_US:
            await to_thread.run_sync(self._record_use, token, now_us)
        return Principal(
            issuer="token",
            subject=token.id,
            tenant=token.user,
            scopes=frozenset(scope for scope in SCOPES if scope in token.scopes),
        )

    def _find_address(self, scope: RequestScope, headers: Headers) -> str:
        """Return the address of the caller; behind a proxy, the one that the proxy itself has added."""
        if self._trust_proxy and (forwarded := headers.get("x-forwarded-for")):
            return forwarded.rpartition(",")[2].strip()[: limits.NAME_CHARACTERS]
        client = cast("tuple[str, int] | None", scope.get("client"))
        return client[0] if client else ""

    def _verify(self, text: str, address: str, now_us: int) -> AccessToken:
        """Look a token up in the loop of the server: the read takes 20 µs, and handing it to a thread ten times that."""
        digest = sha256(text.encode("utf-8", "replace")).digest()
        wait = self._failures.wait_seconds(address)
        if wait and not self._is_known(digest):
            headers = {"Retry-After": str(math.ceil(wait))}
            raise Problem(429, "too many wrong tokens", code="rate_limited", fix="wait", headers=headers)
        token = verify_token(self._store, text, now_us)
        if token is None:
            self._failures.take(address)
            raise Unauthenticated(
                "the token is not valid", why="it is unknown, expired or revoked", fix=_FIX, error="invalid_token"
            )
        self._note_known(digest)
        return token

    def _is_known(self, digest: bytes) -> bool:
        with self._lock:
            return digest in self._known

    def _note_known(self, digest: bytes) -> None:
        with self._lock:
            self._known[digest] = None
            self._known.move_to_end(digest)
            if len(self._known) > _KNOWN:
                self._known.popitem(last=False)

    def _record_use(self, token: AccessToken, now_us: int) -> None:
        """Record the use of a token, at most once an hour; a database that cannot be written does not matter."""
        with suppress(CredendaError):
            self._store.record_token_use(token.id, now_us)
