"""Log persons in at an external OpenID Connect issuer: authorization code with PKCE, as a public client.

The state, the nonce and the verifier that the answer must match are in a cookie of the browser that began, for ten
minutes. So nothing is stored for a stranger, and an answer that another browser asked for is refused.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, cast
from urllib.parse import urlencode

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from credenda.clock import SECOND_US, Clock
from credenda.errors import Forbidden, Unauthenticated, Unavailable
from credenda.ids import draw_secret
from credenda.interfaces.server.attempts import Attempts
from credenda.interfaces.server.last_calls import find_local_path
from credenda.interfaces.server.oauth.oidc import OidcCheck, make_check, make_fetcher
from credenda.interfaces.server.oauth.requests import make_message_page
from credenda.interfaces.server.oauth.routes import Endpoint, check_form
from credenda.interfaces.server.resource import Resource
from credenda.services import access
from credenda.storage.store import Store

LOGIN: Final = "/login"
CALLBACK: Final = "/login/callback"
_SECONDS: Final = 600
_METADATA: Final = "/.well-known/openid-configuration"
_SEPARATOR: Final = "."
_PARTS: Final = 4


def make_login_routes(
    store: Store, clock: Clock, resource: Resource, attempts: Attempts, *, issuer: str, client: str
) -> list[Route]:
    """Make the routes: begin, the answer of the issuer, and the end of a session."""
    check = make_check(store, clock, resource, issuer=issuer, audiences=(client,))
    server = _IssuerLogin(store, clock, resource, check, issuer, client)
    handlers = {
        LOGIN: {"GET": server.begin},
        CALLBACK: {"GET": server.finish},
        "/logout": {"POST": server.log_out},
    }
    return [Route(path, Endpoint(path, found, attempts)) for path, found in handlers.items()]


@dataclass(frozen=True, slots=True)
class _IssuerLogin:
    store: Store
    clock: Clock
    resource: Resource
    check: OidcCheck
    issuer: str
    client: str

    async def begin(self, request: Request) -> Response:
        """Send the browser to the issuer."""
        base = self.resource.find_base(request.scope)
        endpoint = await to_thread.run_sync(self._find_endpoint, "authorization_endpoint")
        state, nonce, verifier = draw_secret(), draw_secret(), draw_secret()
        page = urlsafe_b64encode(find_local_path(request.query_params.get("page", "")).encode()).decode()
        asked = {
            "response_type": "code",
            "client_id": self.client,
            "redirect_uri": f"{base}{CALLBACK}",
            "scope": "openid",
            "state": state,
            "nonce": nonce,
            "code_challenge": _make_challenge(verifier),
            "code_challenge_method": "S256",
        }
        response = RedirectResponse(f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}", 303)
        self._set_cookie(request, response, _SEPARATOR.join((state, nonce, verifier, page)))
        return response

    async def finish(self, request: Request) -> Response:
        """Exchange the code of the issuer, and begin a session of the member who it is about."""
        try:
            code, nonce, verifier, page = self._read_answer(request)
            base = self.resource.find_base(request.scope)
            login = await to_thread.run_sync(self._exchange, code, verifier, nonce, base)
        except (Forbidden, Unauthenticated) as error:
            page_of_refusal = make_message_page(
                "The login did not succeed", what=f"{error.what}: {error.why}.", status=error.http_status
            )
            self._drop_cookie(request, page_of_refusal)
            return page_of_refusal
        response = RedirectResponse(find_local_path(page), 303)
        name, is_secure = self._name_cookie(request)
        lifetime = access.SESSION_LIFETIME_US // SECOND_US
        response.set_cookie(
            name, login.secret, max_age=lifetime, path="/", secure=is_secure, httponly=True, samesite="lax"
        )
        self._drop_cookie(request, response)
        return response

    async def log_out(self, request: Request) -> Response:
        """End the session of this browser; only a page of ours may ask for that."""
        check_form(request)
        name, is_secure = self._name_cookie(request)
        login = access.Login("", request.cookies.get(name, ""))
        await to_thread.run_sync(access.end_session, self.store.secrets, login, self.clock.now_us())
        response = make_message_page("You are logged out", what="The session has ended.", status=200)
        response.delete_cookie(name, path="/", secure=is_secure, httponly=True, samesite="lax")
        return response

    def _exchange(self, code: str, verifier: str, nonce: str, base: str) -> access.Login:
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": f"{base}{CALLBACK}",
            "client_id": self.client,
            "code_verifier": verifier,
        }
        answer = make_fetcher().post_form(self._find_endpoint("token_endpoint"), sent)
        token = cast("dict[str, Any]", answer).get("id_token") if isinstance(answer, dict) else None
        if not isinstance(token, str):
            raise Unauthenticated("you are not logged in", why="the issuer sent no id token", fix="try again")
        claims = self.check.read_claims(token)
        if not isinstance(claims.get("nonce"), str) or not hmac.compare_digest(
            claims["nonce"].encode(), nonce.encode()
        ):
            raise Unauthenticated("you are not logged in", why="the id token is for another login", fix="try again")
        member = self.check.find_member(claims["sub"])
        return access.begin_session_of_member(self.store.secrets, member, self.clock.now_us())

    def _find_endpoint(self, name: str) -> str:
        """Return an endpoint that the issuer publishes; raises `Unavailable` without one."""
        described = make_fetcher().fetch_json(f"{self.issuer.rstrip('/')}{_METADATA}")
        found = cast("dict[str, Any]", described) if isinstance(described, dict) else {}
        endpoint = found.get(name)
        if found.get("issuer") != self.issuer or not isinstance(endpoint, str) or not endpoint.startswith("https://"):
            raise Unavailable("the issuer cannot be used", why=f"its metadata name another issuer or no {name}")
        return endpoint

    def _name_cookie(self, request: Request) -> tuple[str, bool]:
        is_secure = self.resource.find_base(request.scope).startswith("https://")
        return ("__Host-credenda" if is_secure else "credenda"), is_secure

    def _read_answer(self, request: Request) -> tuple[str, str, str, str]:
        """Return the code of an answer, with the nonce, the verifier and the page of the login that it belongs to.

        Raises `Forbidden` for the answer to another login, `Unauthenticated` for a refusal of the issuer.
        """
        parts = request.cookies.get(f"{self._name_cookie(request)[0]}-login", "").split(_SEPARATOR)
        state, nonce, verifier, page = parts if len(parts) == _PARTS else ("",) * _PARTS
        query = request.query_params
        if not state or not hmac.compare_digest(state.encode(), query.get("state", "").encode()):
            raise Forbidden("this login is refused", why="another browser began it, or it is too old", fix="try again")
        if query.get("iss", self.issuer) != self.issuer or "code" not in query:
            raise Unauthenticated("you are not logged in", why="the issuer did not allow it", fix="try again")
        return query["code"], nonce, verifier, _decode(page)

    def _set_cookie(self, request: Request, response: Response, text: str) -> None:
        name, is_secure = self._name_cookie(request)
        response.set_cookie(
            f"{name}-login", text, max_age=_SECONDS, path="/", secure=is_secure, httponly=True, samesite="lax"
        )

    def _drop_cookie(self, request: Request, response: Response) -> None:
        name, is_secure = self._name_cookie(request)
        response.delete_cookie(f"{name}-login", path="/", secure=is_secure, httponly=True, samesite="lax")


def _make_challenge(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _decode(text: str) -> str:
    try:
        return urlsafe_b64decode(text.encode()).decode()
    except ValueError:
        return "/"
