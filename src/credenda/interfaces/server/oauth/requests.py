"""Authorization requests: what a client asks for, checked before anything is shown or given."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.responses import HTMLResponse

from credenda.errors import CredendaError, Invalid
from credenda.interfaces.authorization import SCOPES
from credenda.interfaces.server.oauth.clients import OAuthClient, split_redirect
from credenda.interfaces.server.resource import MCP_PATH, OFFERED_SCOPES, Resource
from credenda.model.server import Member
from credenda.services.access import CODE_CHALLENGE

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


def find_redirect(fields: Mapping[str, str], client: OAuthClient, issuer: str) -> Redirect:
    """Return where the answer goes; raises `Invalid` for an address that is not the client's own."""
    uri = fields.get("redirect_uri", "")
    if not client.has_redirect(uri):
        raise Invalid("the address for the answer is not one of this client's", error="invalid_request")
    return Redirect(uri=uri, state=fields.get("state", ""), issuer=issuer)


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
def _read(name: str) -> str:
    return (files("credenda.interfaces.server.oauth") / "html" / name).read_text("utf-8")


def make_message_page(title: str, *, what: str, fix: str = "", status: int = 400) -> HTMLResponse:
    """Make a page that tells why something cannot go on."""
    return _make_page(title, "message.html", status=status, what=what, fix=fix)


def make_login_page(
    *, why: str, following: str = "", page: str = "", code: str = "", status: int = 200
) -> HTMLResponse:
    """Make the page that takes a login code; `following` is the authorization request, or `page` the path, to go on."""
    return _make_page("Log in to Credenda", "login.html", status=status, why=why, next=following, page=page, code=code)


def make_logged_in_page(person: str, csrf: str) -> HTMLResponse:
    """Make the page of a person who is logged in."""
    return _make_page("Credenda", "logged_in.html", person=person, csrf=csrf)


def make_consent_page(
    wanted: AuthorizationRequest, *, memories: Iterable[Member], person: str, request: str, csrf: str
) -> HTMLResponse:
    """Make the page on which a person allows a client: it names the client, its host, and the scopes."""
    client, redirect_uri = wanted.client, wanted.target.uri
    source, target = split_redirect(redirect_uri)
    ticked = [(scope, f"{_MEANINGS[scope]} ({scope})", scope not in _GIVEN_ONLY_ON_REQUEST) for scope in wanted.scopes]
    listed = [(one.user, f"{one.user} ({one.role})", one.user == person) for one in memories]
    return _make_page(
        "Allow access?",
        "consent.html",
        form_target=source,
        name=client.name,
        origin=_describe_origin(client, target),
        request=request,
        csrf=csrf,
        memories=_Markup("".join(_make_choice("radio", "memory", one) for one in listed)),
        scopes=_Markup("".join(_make_choice("checkbox", f"scope:{one[0]}", one) for one in ticked)),
        target=target or redirect_uri,
        person=person,
    )


class _Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def _describe_origin(client: OAuthClient, target: str) -> str:
    if client.host:
        return f"The program is described by {client.host}."
    if target in {"", "localhost", "127.0.0.1", "::1"}:
        return "It says that it is a program on your computer. Nobody has checked this: go on only if you started it."
    return f"Nobody has checked its name: go on only if you just asked {target} for this."


def _make_choice(kind: str, name: str, choice: tuple[str, str, bool]) -> str:
    """Write a box for a choice, given as its value, its text, and whether it is chosen."""
    value, text, is_chosen = choice
    chosen = " checked" if is_chosen else ""
    return f'<label><input type="{kind}" name="{name}" value="{escape(value)}"{chosen}> {escape(text)}</label>\n'


def _make_page(title: str, name: str, /, *, status: int = 200, form_target: str = "", **values: str) -> HTMLResponse:
    """Fill a page; every value is escaped. `form_target` is where the answer to its form may lead."""
    style = _read("style.css")
    shown = {key: value if isinstance(value, _Markup) else escape(value) for key, value in values.items()}
    body = Template(_read(name)).substitute(shown)
    page = Template(_read("layout.html")).substitute(title=escape(title), style=style, body=body)
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
