"""Find out who calls by the bearer token of a request."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from threading import Lock
from typing import Final, TypeVar

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.types import Scope as RequestScope

from credenda.clock import SECOND_US, Clock
from credenda.errors import CredendaError, Unauthenticated
from credenda.interfaces.authorization import Principal, make_principal
from credenda.interfaces.server.guard import Attempts
from credenda.interfaces.server.resource import Resource
from credenda.model.server import AccessToken
from credenda.services.access import find_access, verify_token
from credenda.storage.store import Store

# When each token last called, to the second for calls to this process and without a write for each.


_KNOWN: Final = 4_096
_RECORDED_EVERY_US: Final = 60 * SECOND_US


class LastCalls:
    """The last calls of the tokens that this process has seen; any thread may call any method."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._times: OrderedDict[str, int] = OrderedDict()

    def note(self, token: AccessToken, now_us: int) -> bool:
        """Note a call; return whether the database should hear of it, which it does at most once a minute a token."""
        with self._lock:
            self._times[token.id] = now_us
            self._times.move_to_end(token.id)
            if len(self._times) > _KNOWN:
                self._times.popitem(last=False)
        return token.last_used_us is None or now_us - token.last_used_us >= _RECORDED_EVERY_US

    def find(self, token: AccessToken) -> int | None:
        """Return when a token last called: as this process knows it, or another one has recorded it."""
        with self._lock:
            known = self._times.get(token.id)
        times = [one for one in (known, token.last_used_us) if one is not None]
        return max(times) if times else None


# Paths of this server that a request names as the place to go on.


def find_local_path(wanted: str) -> str:
    """Return a path of this server to go on with; the first page for anything that could lead elsewhere."""
    is_local = wanted.startswith("/") and not wanted.startswith("//") and wanted.isprintable() and "\\" not in wanted
    return wanted if is_local else "/"


T = TypeVar("T")

_FIX: Final = "send `Authorization: Bearer TOKEN` with a token of `credenda token create`"


class TokenCheck:
    """Verifies tokens against the database in every call, so that a revoked token is refused at once.

    An address that sends many wrong tokens is answered with 429 for a while, without a look at the token, unless this
    process has seen it valid before: others behind the same proxy are not locked out.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        attempts: Attempts,
        resource: Resource,
        *,
        last_calls: LastCalls,
        external: Callable[[str], Principal] | None = None,
    ) -> None:
        """Verify tokens for a resource; `external` verifies those that an external issuer has signed."""
        self._store = store
        self._clock = clock
        self._attempts = attempts
        self._resource = resource
        self._last_calls = last_calls
        self._external = external
        self._lock = Lock()
        self._known: OrderedDict[bytes, None] = OrderedDict()

    async def identify(self, scope: RequestScope) -> Principal:
        """Return the caller of a request.

        Raises `Unauthenticated` for a missing or wrong token, `Problem` for an address that sends too many wrong ones.
        """
        sent = Headers(scope=scope).getlist("authorization")
        if len(sent) > 1:  # a proxy may have looked at another one
            raise Unauthenticated("one token is needed", why="the request carries several", fix=_FIX)
        kind, _, text = "".join(sent).partition(" ")
        if kind.casefold() != "bearer" or not text.strip():
            raise Unauthenticated("a token is needed", why="the request carries none", fix=_FIX)
        text, address = text.strip(), self._attempts.find_address(scope)
        if self._external is not None and not text.startswith("credenda_"):
            return await to_thread.run_sync(self._verify, text, address, self._external)
        token, principal = self._verify(text, address, partial(self._find_holder, path=scope["path"]))
        now_us = self._clock.now_us()
        if self._last_calls.note(token, now_us):
            await to_thread.run_sync(self._record_use, token, now_us)
        return principal

    def _verify(self, text: str, address: str, find: Callable[[str], T]) -> T:
        """Find the holder of a token, unless its address sends too many wrong ones."""
        digest = sha256(text.encode("utf-8", "replace")).digest()
        with self._lock:
            is_known = digest in self._known
        if not is_known:
            self._attempts.check(address)
        try:
            found = find(text)
        except Unauthenticated:
            self._attempts.count(address)
            raise
        with self._lock:
            self._known[digest] = None
            self._known.move_to_end(digest)
            if len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return found

    def _find_holder(self, text: str, *, path: str) -> tuple[AccessToken, Principal]:
        """Return a token of this server and its holder; raises `Unauthenticated`.

        It runs in the loop of the server: its reads take some 20 µs each, and handing it to a thread ten times that.
        """
        token = verify_token(self._store, text, self._clock.now_us())
        if token is None:
            raise _refuse("it is unknown, expired or revoked")
        if not self._resource.covers(token.resource, path):
            raise _refuse("it was issued for another address")
        member = find_access(self._store.members, token.user, "", token.person)
        if member is None:
            raise _refuse("its holder is no longer a member of this memory")
        credential = f"{'oauth' if token.client else 'token'}:{token.id}"
        return token, make_principal(member, token.scopes, credential, client=token.client)

    def _record_use(self, token: AccessToken, now_us: int) -> None:
        """Record the use of a token; a database that cannot be written does not matter."""
        with suppress(CredendaError):
            self._store.tokens.record_token_use(token.id, now_us)


def _refuse(why: str) -> Unauthenticated:
    return Unauthenticated("the token is not valid", why=why, fix=_FIX, error="invalid_token")
