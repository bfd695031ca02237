"""Find out who looks at a page: the person of a login session, the bearer of a token, or on loopback the owner."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Final

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from credenda.clock import Clock
from credenda.errors import Forbidden, Unauthenticated
from credenda.ids import draw_secret
from credenda.interfaces.authorization import SCOPES, Principal, get_principal, make_principal
from credenda.interfaces.server.guard import Identify
from credenda.interfaces.server.oauth.routes import LOGIN, make_page_key
from credenda.interfaces.server.resource import Resource
from credenda.services import access
from credenda.services.access import find_access, list_access
from credenda.storage.store import Store

_CSRF: Final = b"credenda pages"


@dataclass(frozen=True, slots=True)
class _Logins:
    store: Store
    clock: Clock
    resource: Resource
    issuer: str
    """The external issuer that knows the persons; "" for this server."""


class Sessions:
    """Finds out who looks at a page, and that a form comes from a page of ours."""

    def __init__(self, bearer: Identify, secret: str, found: _Logins | None) -> None:
        self._bearer = bearer
        self._secret = secret
        self._found = found

    @classmethod
    def of_owner(cls, identify: Identify) -> Sessions:
        """Make those of a server without tokens: everyone on this machine is the owner."""
        return cls(identify, draw_secret(), None)

    @classmethod
    def of_persons(
        cls, identify: Identify, store: Store, clock: Clock, resource: Resource, *, issuer: str = ""
    ) -> Sessions:
        """Make those of a server at which persons log in; `identify` finds the bearer of a token."""
        return cls(identify, draw_secret(), _Logins(store, clock, resource, issuer))

    @property
    def has_logins(self) -> bool:
        """Whether persons log in."""
        return self._found is not None

    def find_base(self, scope: Scope) -> str:
        """Return the address of this server, as the request named it."""
        if self._found is not None:
            return self._found.resource.find_base(scope)
        return f"{scope['scheme']}://{Headers(scope=scope).get('host', '')}"

    async def identify(self, scope: Scope) -> Principal:
        """Return who calls, and keep in the state of the request the key that its forms must carry.

        Raises `Unauthenticated` where nobody is logged in and no token is sent.
        """
        if self._found is None or "authorization" in Headers(scope=scope):
            scope["state"]["csrf"] = _make_csrf(self._secret) if self._found is None else ""
            return await self._bearer(scope)
        found = self._found
        text = Request(scope).cookies.get(found.resource.name_cookie(scope)[0], "")
        find = partial(access.find_login, found.store.secrets, text, found.clock.now_us(), issuer=found.issuer)
        login = await to_thread.run_sync(find) if text else None
        if login is None:
            raise Unauthenticated("nobody is logged in", why="there is no session, or it has ended", fix="log in")
        scope["state"]["csrf"] = _make_csrf(login.secret)
        scope["state"]["login"] = login
        scope["state"]["logout_key"] = make_page_key(login, LOGIN)
        return await to_thread.run_sync(self._find_principal, self._found, login)

    @staticmethod
    def check_form(scope: Scope, sent: str) -> None:
        """Raise `Forbidden` for a form that no page of ours, shown to this person, has sent.

        Forms of pages of other origins come not so far (`origins.check_sender`).
        """
        expected: str = scope["state"].get("csrf", "")
        if not expected or not hmac.compare_digest(expected.encode(), sent.encode()):
            why = "the login has ended, or another page sent it"
            raise Forbidden("this form is not valid", why=why, fix="load the page anew, and send it once more")

    def list_memories(self, principal: Principal, login: access.Login | None) -> list[str]:
        """Return the users whose memories the person may use; the own one first."""
        if self._found is None or login is None or login.issuer:
            return [principal.tenant]
        return [one.user for one in list_access(self._found.store.members, login.person)]

    async def choose_memory(self, request: Request, memory: str, response: Response) -> None:
        """Let the session of a request go on with the memory of another user, by the cookie of the response.

        Raises `Forbidden` for a memory that the person may not use.
        """
        login: access.Login | None = request.scope["state"].get("login")
        found = self._found
        if found is None or login is None:
            raise Forbidden("this server shows one memory", fix="serve with --auth token to share it")
        if memory not in self.list_memories(get_principal(), login):
            raise Forbidden("you may not use that memory", why="you are no member of it", fix="choose another")
        now_us = found.clock.now_us()
        changed = await to_thread.run_sync(access.choose_memory, found.store.secrets, login, memory, now_us)
        found.resource.set_cookie(request.scope, response, changed.secret)

    @staticmethod
    def _find_principal(found: _Logins, login: access.Login) -> Principal:
        """Return the person as a member of the memory that the session is for: the own one, or another one chosen."""
        if login.issuer:
            member = find_access(found.store.members, login.memory, login.issuer, login.person)
            if member is None:
                raise Unauthenticated("you may not use this memory", why="you are no member of it any more", fix="")
            return make_principal(member, SCOPES, "login")
        memories = list_access(found.store.members, login.person)
        chosen = next((one for one in memories if one.user == login.memory), memories[0])
        return make_principal(chosen, SCOPES, "login")


def _make_csrf(secret: str) -> str:
    return hmac.new(secret.encode(), _CSRF, sha256).hexdigest()
