"""The pages that a person sees: log in, and allow a client. Without scripts, and closed to frames."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from starlette.responses import HTMLResponse

from credenda.interfaces.server.oauth.clients import OAuthClient, split_redirect
from credenda.interfaces.server.oauth.requests import AuthorizationRequest
from credenda.model.member import Member

__all__ = ["make_consent_page", "make_logged_in_page", "make_login_page", "make_message_page"]

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
