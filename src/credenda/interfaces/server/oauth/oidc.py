"""Verify the tokens of an external OpenID Connect issuer: the server is then a resource server only.

A token must be a JWT that a published key of the issuer has signed by an algorithm of our list, for our audience,
within its time, and about a subject. The subject uses the memory of which an administrator made it a member.
"""

from __future__ import annotations

import hmac
import math
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import Any, Final, cast
from urllib.parse import urlencode

import jwt
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from credenda.clock import HOUR_US, SECOND_US, Clock
from credenda.errors import Forbidden, Invalid, Unauthenticated, Unavailable
from credenda.ids import draw_secret
from credenda.interfaces.authorization import Principal, make_principal
from credenda.interfaces.server.credentials import find_local_path
from credenda.interfaces.server.guard import Attempts
from credenda.interfaces.server.oauth.clients import Fetcher
from credenda.interfaces.server.oauth.routes import check_form, make_message_page, make_oauth_routes
from credenda.interfaces.server.resource import MCP_PATH, Resource
from credenda.model.server import Member
from credenda.services import access
from credenda.storage.store import Store
from credenda.validation import read_table

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by a private key; none with a shared secret, and not `none`."""
_KEYS_US: Final = HOUR_US
_RETRY_US: Final = 60 * SECOND_US
"""How soon the keys are read again for a token that names an unknown one."""
_SKEW_SECONDS: Final = 30
_TOKEN_CHARACTERS: Final = 16_384
_KEYS_BYTES: Final = 256 << 10
_KEYS: Final = 100
_WAIT_SECONDS: Final = 10.0
_DECODE: Final[Any] = {
    "verify_signature": True,
    "verify_exp": False,  # below, by the clock of the server
    "verify_nbf": False,
    "verify_iat": False,
    "verify_aud": True,
    "verify_iss": True,
    "require": ["exp", "iss", "aud", "sub"],
}


class SigningKeys:
    """The published keys of an issuer, read when one is needed and kept for an hour."""

    def __init__(self, issuer: str, clock: Clock, fetch: Callable[[str], object]) -> None:
        """Read nothing yet; `fetch` reads a JSON document."""
        self._issuer = issuer
        self._clock = clock
        self._fetch = fetch
        self._lock = Lock()
        self._keys: Mapping[str, Any] = {}
        self._read_us: int | None = None

    def find(self, key_id: str, algorithm: str) -> Any:  # noqa: ANN401 - a key of any algorithm
        """Return the key that a token names; None for an unknown one. Raises `Unavailable`."""
        with self._lock:
            age_us = None if self._read_us is None else self._clock.now_us() - self._read_us
            if age_us is None or age_us >= _KEYS_US or (key_id not in self._keys and age_us >= _RETRY_US):
                self._keys, self._read_us = self._read(), self._clock.now_us()
            key = self._keys.get(key_id)
        return key.key if key is not None and key.algorithm_name == algorithm else None

    def _read(self) -> Mapping[str, Any]:
        listed = read_table(self._fetch(find_endpoint(self._fetch, self._issuer, "jwks_uri"))).get("keys")
        if not isinstance(listed, list) or len(cast("list[Any]", listed)) > _KEYS:
            raise Unavailable("the keys of the issuer cannot be read")
        return {key.key_id: key for key in map(_read_key, cast("list[Any]", listed)) if key is not None}


def find_endpoint(fetch: Callable[[str], object], issuer: str, name: str) -> str:
    """Return an address that an issuer publishes; raises `Unavailable` without one."""
    found = read_table(fetch(f"{issuer.rstrip('/')}/.well-known/openid-configuration"))
    endpoint = found.get(name)
    if found.get("issuer") != issuer or not isinstance(endpoint, str) or not endpoint.startswith("https://"):
        raise Unavailable("the issuer cannot be used", why=f"its metadata name another issuer or no {name}")
    return endpoint


def _read_key(given: Any) -> Any:  # noqa: ANN401 - foreign JSON, and a key of any algorithm
    """Return a key for signatures; None for another one, or one that cannot be read."""
    if not isinstance(given, dict):
        return None
    described = cast("dict[str, Any]", given)
    signs = described.get("use", "sig") == "sig" and described.get("kty") != "oct"
    if not signs or not isinstance(described.get("kid"), str):
        return None
    try:
        return jwt.PyJWK(described)
    except (jwt.exceptions.PyJWKError, jwt.exceptions.InvalidKeyError, ValueError, TypeError):
        return None


class OidcCheck:
    """Verifies tokens of an issuer. May be called from any thread."""

    def __init__(
        self, store: Store, clock: Clock, keys: SigningKeys, *, issuer: str, audiences: tuple[str, ...]
    ) -> None:
        self._store = store
        self._clock = clock
        self._keys = keys
        self._issuer = issuer
        self._audiences = audiences

    def __call__(self, text: str) -> Principal:
        """Return the holder of a token; raises `Unauthenticated`, and `Unavailable` without the keys of the issuer."""
        claims = self.read_claims(text)
        member = self.find_member(claims["sub"])
        found = claims.get("scope", claims.get("scp", ""))
        if isinstance(found, str):
            scopes = found.split()
        else:
            scopes = (
                [one for one in cast("list[Any]", found) if isinstance(one, str)] if isinstance(found, list) else []
            )
        return make_principal(member, scopes, f"oidc:{member.id}")

    def read_claims(self, text: str) -> dict[str, Any]:
        """Return the claims of a token that is valid now, with a subject; raises as a call does."""
        claims = self._decode(text)
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise _refuse("it has no subject")
        now = self._clock.now_us() / SECOND_US
        ends, begins = claims["exp"], claims.get("nbf", 0)
        if not _is_number(ends) or not _is_number(begins):
            raise _refuse("its times are no numbers")
        if now >= ends + _SKEW_SECONDS or now < begins - _SKEW_SECONDS:
            raise _refuse("it has expired, or is not valid yet")
        return claims

    def find_member(self, subject: str) -> Member:
        """Return the member of a memory that a subject is; raises `Unauthenticated` for someone else."""
        found = self._store.members.list_memberships(self._issuer, subject)
        if not found:
            raise _refuse("its subject is no member of a memory; see `credenda member add`")
        return found[0]

    def _decode(self, text: str) -> dict[str, Any]:
        """Return the claims of a token whose signature, issuer and audience are right."""
        try:
            if len(text) > _TOKEN_CHARACTERS:
                raise _refuse("it is too long")
            header = jwt.get_unverified_header(text)
            key_id, algorithm = header.get("kid"), header.get("alg")
            if algorithm not in ALGORITHMS or not isinstance(key_id, str) or "crit" in header:
                raise _refuse("it is signed in a way that is not accepted")
            key = self._keys.find(key_id, str(algorithm))
            if key is None:
                raise _refuse("its key is unknown")
            return jwt.decode(
                text,
                key,
                algorithms=[str(algorithm)],
                audience=list(self._audiences),
                issuer=self._issuer,
                options=_DECODE,
            )
        except (jwt.exceptions.PyJWTError, ValueError, TypeError) as error:
            raise _refuse(type(error).__name__) from None


def make_fetcher() -> Fetcher:
    """Make what fetches from an issuer whom the administrator has named, who may be in the own network."""
    return Fetcher(
        may_connect=lambda _: True,
        ports=frozenset(range(1, 1 << 16)),
        bytes_max=_KEYS_BYTES,
        wait_seconds=_WAIT_SECONDS,
    )


def make_check(store: Store, clock: Clock, resource: Resource, *, issuer: str, audiences: tuple[str, ...]) -> OidcCheck:
    """Make the check of an issuer whom the administrator has named."""
    fetcher = make_fetcher()

    def fetch(url: str) -> object:
        try:
            return fetcher.fetch_json(url)
        except Invalid as error:
            raise Unavailable("the issuer cannot be used", why=error.why) from error

    own = tuple(f"{base}{path}{end}" for base in resource.bases for path in ("", MCP_PATH) for end in ("", "/"))
    return OidcCheck(store, clock, SigningKeys(issuer, clock, fetch), issuer=issuer, audiences=audiences or own)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _refuse(why: str) -> Unauthenticated:
    return Unauthenticated("the token is not valid", why=why, fix="get another from the issuer", error="invalid_token")


# Log persons in at an external OpenID Connect issuer: authorization code with PKCE, as a public client.


LOGIN: Final = "/login"
CALLBACK: Final = "/login/callback"
_COOKIE: Final = "-login"
"""The ending of the cookie that a login has until the issuer answers."""
_COOKIE_US: Final = 600 * SECOND_US
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
    return make_oauth_routes(handlers, attempts)


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
            "code_challenge": urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        response = RedirectResponse(f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}", 303)
        text = _SEPARATOR.join((state, nonce, verifier, page))
        self.resource.set_cookie(request.scope, response, text, _COOKIE, lifetime_us=_COOKIE_US)
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
            self.resource.drop_cookie(request.scope, page_of_refusal, _COOKIE)
            return page_of_refusal
        response = RedirectResponse(find_local_path(page), 303)
        self.resource.set_cookie(request.scope, response, login.secret)
        self.resource.drop_cookie(request.scope, response, _COOKIE)
        return response

    async def log_out(self, request: Request) -> Response:
        """End the session of this browser; only a page of ours may ask for that."""
        check_form(request)
        login = access.Login("", request.cookies.get(self.resource.name_cookie(request.scope)[0], ""))
        await to_thread.run_sync(access.end_session, self.store.secrets, login, self.clock.now_us())
        response = make_message_page("You are logged out", what="The session has ended.", status=200)
        self.resource.drop_cookie(request.scope, response)
        return response

    def _exchange(self, code: str, verifier: str, nonce: str, base: str) -> access.Login:
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": f"{base}{CALLBACK}",
            "client_id": self.client,
            "code_verifier": verifier,
        }
        token = read_table(make_fetcher().post_form(self._find_endpoint("token_endpoint"), sent)).get("id_token")
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
        return find_endpoint(make_fetcher().fetch_json, self.issuer, name)

    def _read_answer(self, request: Request) -> tuple[str, str, str, str]:
        """Return the code of an answer, with the nonce, the verifier and the page of the login that it belongs to.

        Raises `Forbidden` for the answer to another login, `Unauthenticated` for a refusal of the issuer.
        """
        parts = request.cookies.get(self.resource.name_cookie(request.scope, _COOKIE)[0], "").split(_SEPARATOR)
        state, nonce, verifier, page = parts if len(parts) == _PARTS else ("",) * _PARTS
        query = request.query_params
        if not state or not hmac.compare_digest(state.encode(), query.get("state", "").encode()):
            raise Forbidden("this login is refused", why="another browser began it, or it is too old", fix="try again")
        if query.get("iss", self.issuer) != self.issuer or "code" not in query:
            raise Unauthenticated("you are not logged in", why="the issuer did not allow it", fix="try again")
        return query["code"], nonce, verifier, _decode(page)


def _decode(text: str) -> str:
    try:
        return urlsafe_b64decode(text.encode()).decode()
    except ValueError:
        return "/"
