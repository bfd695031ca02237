"""The pages: their routes, twins in JSON, actions and files, and who looks at them."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from credenda.clock import Clock
from credenda.errors import Conflict, CredendaError, Forbidden, Invalid, Unauthenticated
from credenda.ids import draw_secret
from credenda.interfaces.authorization import SCOPES, Principal, authorize, get_principal, make_principal
from credenda.interfaces.json_schema import EVENTS_PATH
from credenda.interfaces.server.guard import Identify
from credenda.interfaces.server.memories import Memories
from credenda.interfaces.server.oauth.routes import LOGIN, make_page_key
from credenda.interfaces.server.problems import (
    READING,
    Endpoint,
    Problem,
    make_method_problem,
    make_problem,
    make_read_route,
)
from credenda.interfaces.server.resource import Resource
from credenda.interfaces.server.rest import make_folder, make_stale_problem
from credenda.interfaces.web.languages import choose_language
from credenda.interfaces.web.pages import memory_pages, question_pages, server_pages, upkeep_pages
from credenda.interfaces.web.render import ASSETS, POLICY, read_asset, render_bare, render_page
from credenda.interfaces.web.view import (
    Download,
    Page,
    Sent,
    Shown,
    View,
    list_notes,
    read_form,
    write_mark,
)
from credenda.operations import OPERATIONS
from credenda.private import cut_private
from credenda.services import access
from credenda.services.access import find_access, list_access
from credenda.services.browse import name_version
from credenda.storage.store import Store

_COOKIE: Final = "credenda-language"
_ZONE_COOKIE: Final = "credenda-zone"
_ZONE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")
_YEAR_SECONDS: Final = 365 * 86_400
_FOREVER: Final = f"public, max-age={_YEAR_SECONDS}, immutable"
_UNAUTHENTICATED: Final = 401
_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Vary": "Cookie, Accept-Language",
}
_MENU: Final = (("memory", "Memory"), ("upkeep", "Upkeep"), ("server", "Server"))
_FILE: Final = "application/octet-stream"
_CHOICE: Final = "/memory-choice"
_OF_CURRENT: Final = frozenset({"correct", "pin", "promote"})
"""Actions that a replaced memory refuses: they go on to the one in its place."""
_MACHINES: Final = ("/v1/", "/mcp", "/a2a", "/metrics", "/.well-known/")
"""What the paths of programs begin with."""
_EVENTS: Final = EVENTS_PATH.partition("{id}")[::2]


class Web:
    """The pages of a server, for the application that serves them."""

    def __init__(self, memories: Memories, sessions: Sessions) -> None:
        """Serve the pages to the persons whom `sessions` knows."""
        self.sessions = sessions
        self.routes = [route for page in PAGES for route in _make_routes(page, memories, sessions)]
        self.slow_paths = [f"{page.path}/{action}" for page in PAGES for action in page.with_files | page.slow]
        """The paths whose calls may take longer than others."""
        self.routes.append(Route(_CHOICE, Endpoint(_CHOICE, {"POST": self._choose_memory}, door="web")))
        self.assets = [_make_asset(name, media) for name, media in ASSETS.items()]

    def owns(self, scope: Scope) -> bool:
        """Return whether a request is for a page, or for the events of a job, which pages show.

        A browser that needs a caller and asks for no program's path asks for a page, also for one that is not there.
        """
        path = scope["path"]
        if path.startswith(_MACHINES):
            return path.startswith(_EVENTS[0]) and path.endswith(_EVENTS[1])
        return "show_problem" in scope["state"] or any(route.path_regex.match(path) for route in self.routes)

    async def _choose_memory(self, request: Request) -> Response:
        """Let a person who is a member of several memories go on with another one."""
        response = RedirectResponse("/", 303, headers=_HEADERS)
        fields = dict((await read_form(request, None)).fields)
        self.sessions.check_form(request.scope, fields.get("csrf", ""))
        await self.sessions.choose_memory(request, fields.get("memory", ""), response)
        return response

    def show_problems(self, app: ASGIApp) -> ASGIApp:
        """Wrap an application so that a browser gets its refusals as pages, or is sent to log in."""

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            accepted = next((value for name, value in scope["headers"] if name == b"accept"), b"")
            if b"text/html" in accepted and not scope["path"].startswith(_MACHINES):
                scope["state"]["show_problem"] = self._show_problem
            await app(scope, receive, send)

        return serve

    def _show_problem(self, problem: Problem, scope: Scope) -> Response:
        if problem.status == _UNAUTHENTICATED and self.sessions.has_logins and "is_page" in scope["state"]:
            wanted = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
            followed = {"page": wanted} if scope["method"] in READING and wanted != "/" else {}
            return RedirectResponse(LOGIN + (f"?{urlencode(followed)}" if followed else ""), 303)
        language = _choose_language(Request(scope))
        body = render_bare("problem.html", language=language, problem={"detail": "", "fix": "", **problem.body})
        return HTMLResponse(body, problem.status, headers={**problem.headers, **_HEADERS})


class _Endpoint:
    """An ASGI application for one path of a page."""

    def __init__(self, page: Page, memories: Memories, sessions: Sessions, *, action: str = "") -> None:
        self._page = page
        self._memories = memories
        self._sessions = sessions
        self._action = action

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        state = scope["state"]
        state["route"] = f"{self._page.path}/{self._action}" if self._action else self._page.path
        request = Request(scope, receive)
        allowed = ("POST",) if self._action else READING
        with_files = self._action in self._page.with_files
        with make_folder(wanted=with_files) as made:
            folder = made if with_files else None
            try:
                if request.method not in allowed:
                    raise make_method_problem(request.method, allowed)
                authorize(OPERATIONS[self._page.operation])
                sent = Sent()
                if self._action:
                    sent = await read_form(request, folder)
                    self._sessions.check_form(request.scope, dict(sent.fields).get("csrf", ""))
                response = await to_thread.run_sync(self._serve, request, sent, folder, abandon_on_cancel=True)
            finally:
                state["note"].door, state["note"].operation = "web", f"{self._page.name} {self._action}".strip()
            await response(scope, receive, send)

    def _serve(self, request: Request, sent: Sent, folder: Path | None) -> Response:
        """Load and render, or act; in a thread."""
        state = request.scope["state"]
        with self._memories.lend() as memory:
            view = View(
                page=self._page,
                memory=memory,
                memories=self._memories,
                principal=get_principal(),
                language=_choose_language(request),
                now_us=self._memories.clock.now_us(),
                csrf=state.get("csrf", ""),
                place=request.url.path,
                path=request.path_params,
                query=tuple(request.query_params.multi_items()),
                form=sent.fields,
                folder=folder,
                upload=sent.file,
                base=self._sessions.find_base(request.scope),
                logout_key=state.get("logout_key", ""),
                local_zone=_find_zone(request),
                memory_names=self._sessions.list_memories(get_principal(), state.get("login")),
            )
            if self._action:
                return self._act(view, shown="show_problem" in state)
            data = self._page.load(view)
            if request.url.path.endswith(".json"):
                # Make the twin of a page: the same data, as REST writes it.
                body = json.dumps(view.to_json(dict(data)), ensure_ascii=False, indent=2, allow_nan=False)
                return Response(body.encode("utf-8", "replace"), media_type="application/json")
            response = self._render(view, data)
        if view.get("lang"):
            response.set_cookie(_COOKIE, view.language, max_age=_YEAR_SECONDS, httponly=True, samesite="lax")
        return response

    def _act(self, view: View, *, shown: bool) -> Response:
        """Carry out the action, and send the browser on; a person who was overtaken sees both versions.

        With `shown`, an invalid form is answered by its page, with the reason.
        """
        try:
            done = self._page.actions[self._action](view)
        except Invalid as error:
            if not shown:
                raise
            return self._show_again(view, error)
        except Conflict as error:
            if make_stale_problem(error) is None:
                raise
            # Render the words of the person beside those that are there now.
            named = view.get("id")
            is_contest = named.startswith("k")
            present = view.call("contest" if is_contest else "get", id=named)
            while self._action in _OF_CURRENT and (later := view.find_memory(present.superseded_by)):
                present = later
            place = view.place.replace(named, present.id)
            data = {
                "problem": {"detail": "", **make_problem(error).body},
                "present": present,
                "version": name_version(present),
                "mine": [(name, value) for name, value in view.form if name not in {"csrf", "version"}],
                "action": place,
                "back": place.rpartition("/")[0] or "/",
            }
            page = replace(view.page, name="conflict", title="Changed by someone else")
            return _make_html(render_page(page, view, data, menu=_list_menu(view), notes=()), 412)
        if isinstance(done, Download):
            return FileResponse(done.path, media_type=_FILE, filename=done.name, headers=_HEADERS)
        if isinstance(done, Shown):
            return self._render(view, {**self._page.load(view), **done.data})
        told = [("changed", write_mark(mark)) for mark in done.changes]
        told += [("note", done.note)] if done.note else []
        if not told:
            target = done.to
        else:
            path, mark, fragment = done.to.partition("#")
            target = f"{path}{'&' if '?' in path else '?'}{urlencode(told)}{mark}{fragment}"
        return RedirectResponse(target, 303, headers=_HEADERS)

    def _show_again(self, view: View, error: Invalid) -> Response:
        """Show the page of an invalid form again, with the reason; raises the error if that page cannot be loaded."""
        problem, place = make_problem(error), view.place.rpartition("/")[0] or "/"
        again = replace(view, form=(), place=place)
        try:
            data = self._page.load(again)
        except CredendaError:
            raise error from None
        sent = {name: cut_private(value) for name, value in view.form}
        refused = {"detail": "", "fix": "", **problem.body, "action": self._action, "fields": sent}
        return self._render(again, {**data, "refused": refused}, problem.status)

    def _render(self, view: View, data: Mapping[str, object], status: int = 200) -> Response:
        if self._page.draw is not None:
            data = {**data, **self._page.draw(view, data)}
        body = render_page(self._page, view, data, menu=_list_menu(view), notes=list_notes(view))
        return _make_html(body, status)


def _make_asset(name: str, media: str) -> Route:
    """Make the route of a file of ours, to be kept by the browser: its address changes with it."""

    async def show(request: Request) -> Response:
        request.scope["state"] |= {"cache": _FOREVER, "is_asset": True}
        return Response(read_asset(name), media_type=media)

    return make_read_route(f"/static/{name}", show)


def _make_routes(page: Page, memories: Memories, sessions: Sessions) -> list[Route]:
    """Make the routes of a page: its twin first, because a parameter of the path would take its ending."""
    shown = _Endpoint(page, memories, sessions)
    base = "" if page.path == "/" else page.path
    acting = [Route(f"{base}/{name}", _Endpoint(page, memories, sessions, action=name)) for name in page.actions]
    return [*acting, Route(page.twin_path, shown), Route(page.path, shown)]


def _choose_language(request: Request) -> str:
    wanted = request.query_params.get("lang") or request.cookies.get(_COOKIE, "")
    return choose_language(wanted, request.headers.get("accept-language", ""))


def _find_zone(request: Request) -> tzinfo | None:
    """Return the time zone that the browser has named; None for one that is unknown here."""
    name = request.cookies.get(_ZONE_COOKIE, "")[:64]
    try:
        return ZoneInfo(name) if _ZONE.fullmatch(name) else None
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return None


def _list_menu(view: View) -> list[tuple[str, list[Page]]]:
    """Return the groups of the menu, each with the pages that this person may see."""
    groups = ((title, [page for page in PAGES if page.group == group]) for group, title in _MENU)
    return [(title, shown) for title, pages in groups if (shown := [one for one in pages if view.may(one.operation)])]


def _make_html(body: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(body.encode("utf-8", "replace"), status, headers=_HEADERS)


# Find out who looks at a page: the person of a login session, the bearer of a token, or on loopback the owner.


_CSRF: Final = b"credenda pages"


@dataclass(frozen=True, slots=True)
class Logins:
    """The parts with which persons log in."""

    store: Store
    clock: Clock
    resource: Resource
    issuer: str
    """The external issuer that knows the persons; "" for this server."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """Finds out who looks at a page, and that a form comes from a page of ours.

    Without logins, as on loopback, everyone on this machine is the owner.
    """

    bearer: Identify
    """Finds the bearer of a token."""
    logins: Logins | None = None
    secret: str = field(default_factory=draw_secret, repr=False)

    @property
    def has_logins(self) -> bool:
        """Whether persons log in."""
        return self.logins is not None

    def find_base(self, scope: Scope) -> str:
        """Return the address of this server, as the request named it."""
        if self.logins is not None:
            return self.logins.resource.find_base(scope)
        return f"{scope['scheme']}://{Headers(scope=scope).get('host', '')}"

    async def identify(self, scope: Scope) -> Principal:
        """Return who calls, and keep in the state of the request the key that its forms must carry.

        Raises `Unauthenticated` where nobody is logged in and no token is sent.
        """
        scope["state"]["is_page"] = True
        if self.logins is None or "authorization" in Headers(scope=scope):
            scope["state"]["csrf"] = _make_csrf(self.secret) if self.logins is None else ""
            return await self.bearer(scope)
        found = self.logins
        text = Request(scope).cookies.get(found.resource.name_cookie(scope)[0], "")
        find = partial(access.find_login, found.store.secrets, text, found.clock.now_us(), issuer=found.issuer)
        login = await to_thread.run_sync(find) if text else None
        if login is None:
            raise Unauthenticated("nobody is logged in", why="there is no session, or it has ended", fix="log in")
        scope["state"]["csrf"] = _make_csrf(login.secret)
        scope["state"]["login"] = login
        scope["state"]["logout_key"] = make_page_key(login, LOGIN)
        return await to_thread.run_sync(self._find_principal, self.logins, login)

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
        if self.logins is None or login is None or login.issuer:
            return [principal.tenant]
        return [one.user for one in list_access(self.logins.store.members, login.person)]

    async def choose_memory(self, request: Request, memory: str, response: Response) -> None:
        """Let the session of a request go on with the memory of another user, by the cookie of the response.

        Raises `Forbidden` for a memory that the person may not use.
        """
        login: access.Login | None = request.scope["state"].get("login")
        found = self.logins
        if found is None or login is None:
            raise Forbidden("this server shows one memory", fix="serve with --auth token to share it")
        if memory not in self.list_memories(get_principal(), login):
            raise Forbidden("you may not use that memory", why="you are no member of it", fix="choose another")
        now_us = found.clock.now_us()
        changed = await to_thread.run_sync(access.choose_memory, found.store.secrets, login, memory, now_us)
        found.resource.set_cookie(request.scope, response, changed.secret)

    @staticmethod
    def _find_principal(found: Logins, login: access.Login) -> Principal:
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


# Every page, in the order of the menu.


PAGES: Final[tuple[Page, ...]] = (
    question_pages.OVERVIEW_PAGE,
    question_pages.AGENT_PAGE,
    question_pages.INBOX_PAGE,
    memory_pages.MEMORIES_PAGE,
    question_pages.SEARCH_PAGE,
    question_pages.SESSIONS_PAGE,
    question_pages.SESSION,
    memory_pages.ENTITIES_PAGE,
    upkeep_pages.CODE_PAGE,
    upkeep_pages.RETENTION_PAGE,
    upkeep_pages.CONSOLIDATION_PAGE,
    upkeep_pages.JOBS_PAGE,
    upkeep_pages.JOB_PAGE,
    server_pages.DATA_PAGE,
    server_pages.CONNECT_PAGE,
    server_pages.AUDIT_PAGE,
    memory_pages.MEMORY_PAGE,
    memory_pages.DELETION_PAGE,
    memory_pages.UNDO_PAGE,
)
