"""The endpoints of the authorization server: metadata, registration, consent, tokens, and the login of a person."""

from __future__ import annotations

import hmac
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import Final
from urllib.parse import parse_qsl, urlencode

from anyio import to_thread
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from credenda import limits
from credenda.clock import Clock
from credenda.errors import CredendaError, Forbidden, Invalid, Unauthenticated
from credenda.interfaces.authorization import ROLE_SCOPES, SCOPES, make_principal
from credenda.interfaces.server.credentials import find_local_path
from credenda.interfaces.server.guard import Attempts, is_from_own_page
from credenda.interfaces.server.oauth import clients as fetch
from credenda.interfaces.server.oauth.clients import Clients, OAuthClient, register_client, split_redirect
from credenda.interfaces.server.problems import Endpoint, Handler
from credenda.interfaces.server.resource import MCP_PATH, OFFERED_SCOPES, RESOURCE_METADATA, Resource
from credenda.interfaces.server.rest import read_body
from credenda.model.server import Member
from credenda.services import access
from credenda.services.access import CODE_CHALLENGE, find_access, list_access
from credenda.storage.store import Store

# Authorization requests: what a client asks for, checked before anything is shown or given.


_FIELDS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """Where a client gets its answer."""

    uri: str
    state: str
    issuer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """A request that may be shown to a person."""

    client: OAuthClient
    target: Redirect
    scopes: tuple[str, ...]
    challenge: str
    resource: str


def read_fields(text: str) -> dict[str, str]:
    """Return the fields of a query or form; raises `Invalid` for a field that comes twice (RFC 6749, 3.1)."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_FIELDS, errors="strict")
    except ValueError:
        raise Invalid("the request cannot be read", error="invalid_request") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Invalid("a field comes twice", fix="send each once", error="invalid_request")
    return fields


def read_request(
    fields: Mapping[str, str], client: OAuthClient, target: Redirect, resource: Resource
) -> AuthorizationRequest:
    """Read the rest of a request; raises `Invalid`, whose id `error` is the OAuth error to answer with."""
    if fields.get("response_type") != "code":
        raise Invalid("only codes are issued", error="unsupported_response_type")
    if fields.get("code_challenge_method") != "S256" or not CODE_CHALLENGE.fullmatch(fields.get("code_challenge", "")):
        raise Invalid("a code challenge of the method S256 is needed", error="invalid_request")
    wanted = fields.get("scope", "").split() or list(OFFERED_SCOPES)
    scopes = tuple(scope for scope in SCOPES if scope in wanted)
    if not scopes:
        raise Invalid("none of these scopes exists here", error="invalid_scope")
    path = resource.find_path(fields["resource"]) if fields.get("resource") else MCP_PATH
    return AuthorizationRequest(
        client=client,
        target=target,
        scopes=scopes,
        challenge=fields["code_challenge"],
        resource=resource.bases[0] + path,
    )


def choose_scopes(asked: Sequence[str], ticked: Sequence[str], allowed: frozenset[str]) -> tuple[str, ...]:
    """Return the scopes that a person gives: those asked for, ticked, and within the role of the person."""
    return tuple(scope for scope in asked if scope in ticked and scope in allowed)


def make_redirect(target: Redirect, *, code: str = "", error: CredendaError | None = None) -> str:
    """Return the address with the answer, which names the issuer (RFC 9207)."""
    answer = {"code": code} if error is None else {"error": error.ids.get("error", "server_error")}
    if error is not None:
        answer["error_description"] = error.what
    answer |= {"state": target.state} if target.state else {}
    separator = "&" if "?" in target.uri else "?"
    return f"{target.uri}{separator}{urlencode({**answer, 'iss': target.issuer})}"


# The pages that a person sees: log in, and allow a client. Without scripts, and closed to frames.


_MEANINGS: Final[Mapping[str, str]] = {
    "memory:read": "Search and read the memory",
    "memory:write": "Add to the memory, correct, forget and delete",
    "memory:review": "Resolve contests, pin, and undo changes",
    "memory:admin": "Maintain the memory, and read its audit",
    "memory:erase": "Delete by conditions, and erase the whole memory",
}
_GIVEN_ONLY_ON_REQUEST: Final = frozenset({"memory:admin", "memory:erase"})
"""Scopes that a person must tick."""


@cache
def _open_pages() -> tuple[Environment, Markup]:
    """Open the templates of the pages, and read their style, which is ours and so needs no escaping."""
    pages = Environment(
        loader=PackageLoader("credenda.interfaces.server.oauth", "html"), autoescape=True, undefined=StrictUndefined
    )
    return pages, Markup((files("credenda.interfaces.server.oauth") / "html" / "style.css").read_text("utf-8"))  # noqa: S704 - as said


def make_message_page(title: str, *, what: str, status: int = 400) -> HTMLResponse:
    """Make a page that tells why something cannot go on."""
    return _make_page(title, "message.html", status=status, what=what)


def make_login_page(
    *, why: str, following: str = "", page: str = "", code: str = "", status: int = 200
) -> HTMLResponse:
    """Make the page that takes a login code; `following` is the authorization request, or `page` the path, to go on."""
    return _make_page("Log in to Credenda", "login.html", status=status, why=why, next=following, page=page, code=code)


def make_consent_page(
    wanted: AuthorizationRequest, *, memories: Iterable[Member], person: str, request: str, csrf: str
) -> HTMLResponse:
    """Make the page on which a person allows a client: it names the client, its host, and the scopes."""
    client, redirect_uri = wanted.client, wanted.target.uri
    source, target = split_redirect(redirect_uri)
    ticked = [(scope, f"{_MEANINGS[scope]} ({scope})", scope not in _GIVEN_ONLY_ON_REQUEST) for scope in wanted.scopes]
    listed = [(one.user, f"{one.user} ({one.role})", one.user == person) for one in memories]
    if client.host:
        origin = f"The program is described by {client.host}."
    elif target in {"", "localhost", "127.0.0.1", "::1"}:
        origin = "It says that it is a program on your computer. Nobody has checked this: go on only if you started it."
    else:
        origin = f"Nobody has checked its name: go on only if you just asked {target} for this."
    return _make_page(
        "Allow access?",
        "consent.html",
        form_target=source,
        name=client.name,
        origin=origin,
        request=request,
        csrf=csrf,
        memories=listed,
        scopes=ticked,
        target=target or redirect_uri,
        person=person,
    )


def _make_page(title: str, name: str, /, *, status: int = 200, form_target: str = "", **values: object) -> HTMLResponse:
    """Fill a page; every value is escaped. `form_target` is where the answer to its form may lead."""
    pages, style = _open_pages()
    page = pages.get_template(name).render(title=title, style=style, **values)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self' {form_target}".rstrip()
        + "; frame-ancestors 'none'; base-uri 'none'"
    )
    headers = {
        "Content-Security-Policy": policy,
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",  # with no-referrer, a form would be sent without its origin
        "Cross-Origin-Opener-Policy": "same-origin",
    }
    return HTMLResponse(page, status, headers=headers)


AUTHORIZE: Final = "/authorize"
LOGIN: Final = "/login"
_FORM: Final = "application/x-www-form-urlencoded"
_UNAUTHENTICATED: Final = 401


def make_oauth_routes(handlers: Mapping[str, Mapping[str, Handler]], attempts: Attempts) -> list[Route]:
    """Make routes without a caller; `attempts` bounds how often an address may call."""
    check = attempts.take_request
    return [Route(path, Endpoint(path, found, door="oauth", check=check)) for path, found in handlers.items()]


def make_resource_routes(resource: Resource, attempts: Attempts, issuer: str = "") -> list[Route]:
    """Make the routes of the resource's metadata; `issuer` is the external issuer, "" for this server itself."""

    def make(path: str) -> Handler:
        async def show(request: Request) -> Response:
            return JSONResponse(resource.describe(resource.find_base(request.scope), path, issuer))

        return show

    return make_oauth_routes({RESOURCE_METADATA + path: {"GET": make(path)} for path in ("", MCP_PATH)}, attempts)


def make_authorization_routes(store: Store, clock: Clock, resource: Resource, attempts: Attempts) -> list[Route]:
    """Make the routes of the authorization server and of the login."""
    clients = Clients(clock, fetch.fetch_public_json)
    server = _AuthorizationServer(store, clock, resource, attempts, clients)
    handlers: Mapping[str, Mapping[str, Handler]] = {
        "/.well-known/oauth-authorization-server": {"GET": server.show_metadata},
        "/register": {"POST": server.register},
        AUTHORIZE: {"GET": server.ask_person, "POST": server.take_decision},
        "/token": {"POST": server.issue},
        "/revoke": {"POST": server.revoke},
        LOGIN: {"GET": server.show_login, "POST": server.log_in},
        "/logout": {"POST": server.log_out},
    }
    return make_oauth_routes(handlers, attempts)


@dataclass(frozen=True, slots=True)
class _AuthorizationServer:
    store: Store
    clock: Clock
    resource: Resource
    attempts: Attempts
    clients: Clients

    async def show_metadata(self, request: Request) -> Response:
        """Describe the authorization server (RFC 8414)."""
        base = self.resource.find_base(request.scope)
        return JSONResponse(
            {
                "issuer": base,
                "authorization_endpoint": f"{base}{AUTHORIZE}",
                "token_endpoint": f"{base}/token",
                "registration_endpoint": f"{base}/register",
                "revocation_endpoint": f"{base}/revoke",
                "scopes_supported": list(SCOPES),
                "response_types_supported": ["code"],
                "response_modes_supported": ["query"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "revocation_endpoint_auth_methods_supported": ["none"],
                "client_id_metadata_document_supported": True,
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def register(self, request: Request) -> Response:
        """Register a client (RFC 7591)."""
        try:
            body = await read_body(request, limits.OAUTH_BODY_BYTES)
            try:
                sent: object = json.loads(body)
            except (ValueError, RecursionError):
                raise Invalid("the body is not JSON", error="invalid_client_metadata") from None
            known = register_client(sent)
        except Invalid as error:
            return _make_error(error)
        return JSONResponse(dict(known), 201)

    # The person

    async def show_login(self, request: Request) -> Response:
        """Show who is logged in, or ask for a login code; a link brings the code along."""
        login = await self._find_login(request)
        code = request.query_params.get("code", "")[: limits.NAME_CHARACTERS]
        page = find_local_path(request.query_params.get("page", ""))
        if login is not None and not code:
            return _make_page("Credenda", "logged_in.html", person=login.person, csrf=make_page_key(login, LOGIN))
        return make_login_page(why="Enter a login code, or open a login link.", code=code, page=page)

    async def log_in(self, request: Request) -> Response:
        """Begin a session, and go on where the person wanted to go."""
        check_form(request)
        fields = await _read_form(request)
        following, page = fields.get("next", ""), find_local_path(fields.get("page", ""))
        address = self.attempts.find_address(request.scope)
        self.attempts.check(address)
        try:
            login = await to_thread.run_sync(self._begin_session, fields)
        except Unauthenticated as error:
            self.attempts.count(address)
            why = f"{error.what}: {error.why}."
            return make_login_page(why=why, following=following, page=page, status=_UNAUTHENTICATED)
        self._note_person(request, login)
        response = RedirectResponse(f"{AUTHORIZE}?{following}" if following else page, 303)
        self.resource.set_cookie(request.scope, response, login.secret)
        return response

    def _begin_session(self, fields: Mapping[str, str]) -> access.Login:
        """Begin a session with a login code, or with a name and its password; raises `Unauthenticated`."""
        now_us, secrets = self.clock.now_us(), self.store.secrets
        if "password" in fields:
            return access.log_in_by_password(secrets, fields.get("person", "").strip(), fields["password"], now_us)
        return access.log_in(secrets, fields.get("code", "").strip(), now_us)

    async def log_out(self, request: Request) -> Response:
        """End the session."""
        login, _ = await self._read_own_form(request, LOGIN)
        await to_thread.run_sync(access.end_session, self.store.secrets, login, self.clock.now_us())
        response = RedirectResponse(LOGIN, 303)
        self.resource.drop_cookie(request.scope, response)
        return response

    async def ask_person(self, request: Request) -> Response:
        """Show the person what a client asks for."""
        asked = request.url.query
        login = await self._find_login(request)
        if login is None:  # a client's document is fetched for people of this server alone
            why = "A program wants access to a memory on this server. Log in to see what it asks for."
            return make_login_page(why=why, following=asked)
        self._note_person(request, login)
        return await self._answer_client(request, asked, partial(self._show_consent, login, asked))

    async def take_decision(self, request: Request) -> Response:
        """Send the client its code, or that it was denied."""
        login, fields = await self._read_own_form(request, AUTHORIZE)
        self._note_person(request, login)

        def decide(wanted: AuthorizationRequest) -> Response:
            if fields.get("decision") != "allow":
                raise Forbidden("the person denied access", error="access_denied")
            member = self._find_memory(login, fields.get("memory", ""))
            ticked = [name.removeprefix("scope:") for name in fields if name.startswith("scope:")]
            scopes = choose_scopes(wanted.scopes, ticked, frozenset[str](ROLE_SCOPES[member.role]))
            if not scopes:
                raise Forbidden("the person gave no permission", error="access_denied")
            consent = access.Consent(
                person=login.person,
                user=member.user,
                client=wanted.client.id,
                client_name=wanted.client.name,
                redirect_uri=wanted.target.uri,
                challenge=wanted.challenge,
                scopes=scopes,
                resource=wanted.resource,
            )
            code = access.issue_code(self.store, consent, self.clock.now_us())
            self._note_caller(request, member, scopes, "login")
            return RedirectResponse(make_redirect(wanted.target, code=code), 303)

        return await self._answer_client(request, fields.get("request", ""), decide)

    async def _answer_client(
        self, request: Request, asked: str, answer: Callable[[AuthorizationRequest], Response]
    ) -> Response:
        """Check a request, and answer it: on a page until it is known where the client gets its answer."""
        issuer = self.resource.find_base(request.scope)

        def check() -> Response:
            try:
                fields = read_fields(asked)
                client = self.clients.find(fields.get("client_id", ""))
                uri = fields.get("redirect_uri", "")
                if not client.has_redirect(uri):
                    raise Invalid("the address for the answer is not one of this client's", error="invalid_request")
                target = Redirect(uri=uri, state=fields.get("state", ""), issuer=issuer)
            except CredendaError as error:
                return make_message_page("This client cannot be connected", what=f"{error}.")
            try:
                return answer(read_request(fields, client, target, self.resource))
            except (Invalid, Forbidden) as error:
                return RedirectResponse(make_redirect(target, error=error), 303)

        return await to_thread.run_sync(check)

    def _show_consent(self, login: access.Login, asked: str, wanted: AuthorizationRequest) -> Response:
        memories = list_access(self.store.members, login.person)
        csrf = make_page_key(login, f"{AUTHORIZE}\n{asked}")
        return make_consent_page(wanted, memories=memories, person=login.person, request=asked, csrf=csrf)

    def _find_memory(self, login: access.Login, user: str) -> Member:
        for member in list_access(self.store.members, login.person):
            if member.user == user:
                return member
        raise Forbidden("the person may not use that memory", error="access_denied")

    # Tokens

    async def issue(self, request: Request) -> Response:
        """Exchange a code or a refresh token."""
        return await self._serve_client(request, partial(self._issue, request))

    def _issue(self, request: Request, fields: Mapping[str, str]) -> Response:
        now_us, client = self.clock.now_us(), fields.get("client_id", "")
        asked = fields.get("resource")
        resource = self.resource.bases[0] + self.resource.find_path(asked) if asked else None
        match fields.get("grant_type"):
            case "authorization_code":
                granted = access.accept_code(
                    self.store,
                    fields.get("code", ""),
                    client=client,
                    redirect_uri=fields.get("redirect_uri", ""),
                    verifier=fields.get("code_verifier", ""),
                    resource=resource,
                    now_us=now_us,
                )
            case "refresh_token":
                scopes = fields["scope"].split() if fields.get("scope") else None
                granted = access.refresh(
                    self.store,
                    fields.get("refresh_token", ""),
                    client=client,
                    scopes=scopes,
                    resource=resource,
                    now_us=now_us,
                )
            case _:
                raise Invalid("only codes and refresh tokens are exchanged", error="unsupported_grant_type")
        token = granted.token
        member = find_access(self.store.members, token.user, "", token.person)
        if member is not None:
            self._note_caller(request, member, granted.scopes, f"oauth:{token.id}")
        return JSONResponse(
            {
                "access_token": granted.access,
                "token_type": "Bearer",
                "expires_in": granted.lifetime_seconds,
                "refresh_token": granted.refresh,
                "scope": " ".join(granted.scopes),
            },
            headers={"Pragma": "no-cache"},
        )

    async def revoke(self, request: Request) -> Response:
        """End a connection (RFC 7009)."""

        def end(fields: Mapping[str, str]) -> Response:
            access.revoke(
                self.store, fields.get("token", ""), client=fields.get("client_id", ""), now_us=self.clock.now_us()
            )
            return Response(status_code=200)

        return await self._serve_client(request, end)

    async def _serve_client(self, request: Request, serve: Callable[[Mapping[str, str]], Response]) -> Response:
        """Answer a client in the form of RFC 6749, and slow down one that sends wrong secrets."""
        address = self.attempts.find_address(request.scope)
        self.attempts.check(address)
        try:
            fields = await _read_form(request)
            return await to_thread.run_sync(serve, fields)
        except Invalid as error:
            if error.ids.get("error") == "invalid_grant":
                self.attempts.count(address)
            return _make_error(error)

    # Sessions

    async def _find_login(self, request: Request) -> access.Login | None:
        text = request.cookies.get(self.resource.name_cookie(request.scope)[0], "")
        if not text:
            return None
        return await to_thread.run_sync(access.find_login, self.store.secrets, text, self.clock.now_us())

    async def _read_own_form(self, request: Request, page: str) -> tuple[access.Login, dict[str, str]]:
        """Read a form of a page of ours, sent by the person who is logged in; raises `Forbidden`."""
        check_form(request)
        login = await self._find_login(request)
        fields = await _read_form(request)
        shown = f"{page}\n{fields['request']}" if "request" in fields else page
        sent = fields.get("csrf", "").encode()
        if login is None or not hmac.compare_digest(make_page_key(login, shown).encode(), sent):
            raise Forbidden("this form is not valid", why="the login has ended, or another page sent it", fix="log in")
        return login, fields

    def _note_person(self, request: Request, login: access.Login) -> None:
        """Note for the record of this call who is logged in."""
        self._note_caller(request, list_access(self.store.members, login.person)[0], (), "login")

    def _note_caller(self, request: Request, member: Member, scopes: Sequence[str], credential: str) -> None:
        """Note for the record of this call whose memory it concerns, and the scopes that were given."""
        state = request.scope["state"]
        state["principal"] = make_principal(member, scopes, credential)
        state["note"].scope = " ".join(scopes)


def check_form(request: Request) -> None:
    """Raise `Forbidden` for a form of a browser that does not say that a page of this server sent it."""
    if not is_from_own_page(request.headers):
        raise Forbidden("this form is refused", why="it does not come from a page of this server")


def make_page_key(login: access.Login, page: str) -> str:
    """Return the token that a form of this session, for exactly this page and request, must carry."""
    return hmac.new(login.secret.encode(), page.encode(), sha256).hexdigest()


async def _read_form(request: Request) -> dict[str, str]:
    """Read the fields of a form."""
    if request.headers.get("content-type", "").partition(";")[0].strip().casefold() != _FORM:
        raise Invalid("the body is not a form", fix=f"send {_FORM}", error="invalid_request")
    body = await read_body(request, limits.OAUTH_BODY_BYTES)
    return read_fields(body.decode("utf-8", "replace"))


def _make_error(error: Invalid) -> Response:
    """Make the answer of RFC 6749 (5.2) to a client."""
    told = {"error": error.ids.get("error", "invalid_request"), "error_description": error.what}
    return JSONResponse(told, 400, headers={"Pragma": "no-cache"})
