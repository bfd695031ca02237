"""The routes of the pages: read one, its twin in JSON, or carry out an action; and the files that pages load."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from credenda.errors import Conflict, CredendaError
from credenda.interfaces.authorization import authorize, get_principal
from credenda.interfaces.json_schema import EVENTS_PATH
from credenda.interfaces.server.memories import Memories
from credenda.interfaces.server.problems import (
    READING,
    Problem,
    ReadPage,
    make_method_problem,
    make_problem,
    send_problem,
)
from credenda.interfaces.server.rest import make_folder, make_stale_problem
from credenda.interfaces.web.languages import choose_language
from credenda.interfaces.web.registry import PAGES
from credenda.interfaces.web.render import ASSETS, POLICY, read_asset, render_bare, render_page
from credenda.interfaces.web.sessions import Sessions
from credenda.interfaces.web.view import (
    Done,
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

_COOKIE: Final = "credenda-language"
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
_LOGIN: Final = "/login"
_FILE: Final = "application/octet-stream"
_CHOICE: Final = "/memory-choice"
_MACHINES: Final = ("/v1/", "/mcp", "/a2a", "/.well-known/")
"""What the paths of programs begin with."""
_EVENTS: Final = EVENTS_PATH.partition("{id}")[::2]


class Web:
    """The pages of a server, for the application that serves them."""

    def __init__(self, memories: Memories, sessions: Sessions, pages: Sequence[Page] = PAGES) -> None:
        """Serve these pages to the persons whom `sessions` knows."""
        self.sessions = sessions
        self.routes = [route for page in pages for route in _make_routes(page, memories, sessions)]
        self.slow_paths = [f"{page.path}/{action}" for page in pages for action in page.with_files | page.slow]
        """The paths whose calls may take longer than others."""
        self.routes.append(Route(_CHOICE, _MemoryChoice(sessions)))
        self.assets = [Route(f"/static/{name}", _make_asset(name, media)) for name, media in ASSETS.items()]

    def owns(self, scope: Scope) -> bool:
        """Return whether a request is for a page, or for the events of a job, which pages show."""
        path = scope["path"]
        if path.startswith(_MACHINES):
            return path.startswith(_EVENTS[0]) and path.endswith(_EVENTS[1])
        return any(route.path_regex.match(path) for route in self.routes)

    def show_problems(self, app: ASGIApp) -> ASGIApp:
        """Wrap an application so that a browser gets its refusals as pages, or is sent to log in."""

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            if self._is_for_person(scope):
                scope["state"]["show_problem"] = self._show_problem
            await app(scope, receive, send)

        return serve

    def _is_for_person(self, scope: Scope) -> bool:
        accepted = next((value for name, value in scope["headers"] if name == b"accept"), b"")
        return b"text/html" in accepted and not scope["path"].startswith(_MACHINES)

    def _show_problem(self, problem: Problem, scope: Scope) -> Response:
        if problem.status == _UNAUTHENTICATED and self.sessions.has_logins and self.owns(scope):
            wanted = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
            followed = {"page": wanted} if scope["method"] in READING and wanted != "/" else {}
            return RedirectResponse(_LOGIN + (f"?{urlencode(followed)}" if followed else ""), 303)
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
        """Answer a request; every failure becomes a problem."""
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
            except (CredendaError, Problem) as error:
                await send_problem(error, scope, receive, send)
                return
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
                memory_names=self._sessions.list_memories(get_principal(), state.get("login")),
            )
            if self._action:
                return self._act(view)
            data = self._page.load(view)
            if request.url.path.endswith(".json"):
                # Make the twin of a page: the same data, as REST writes it.
                body = json.dumps(view.to_json(dict(data)), ensure_ascii=False, indent=2, allow_nan=False)
                return Response(body.encode("utf-8", "replace"), media_type="application/json")
            response = self._render(view, data)
        if view.get("lang"):
            response.set_cookie(_COOKIE, view.language, max_age=_YEAR_SECONDS, httponly=True, samesite="lax")
        return response

    def _act(self, view: View) -> Response:
        """Carry out the action, and send the browser on; a person who was overtaken sees both versions."""
        try:
            done = self._page.actions[self._action](view)
        except Conflict as error:
            if make_stale_problem(error) is None:
                raise
            # Render the words of the person beside those that are there now.
            named = view.get("id")
            is_contest = named.startswith("k")
            present = view.call("contest" if is_contest else "get", id=named)
            kept = [(name, value) for name, value in view.form if name not in {"csrf", "version"}]
            data = {
                "problem": {"detail": "", **make_problem(error).body},
                "present": present,
                "version": error.ids["version"],
                "mine": kept,
                "back": view.place.rpartition("/")[0] or "/",
            }
            page = replace(view.page, name="conflict", title="Changed by someone else")
            return _make_html(render_page(page, view, data, menu=_list_menu(view), notes=()), 412)
        if isinstance(done, Download):
            return FileResponse(done.path, media_type=_FILE, filename=done.name, headers=_HEADERS)
        if isinstance(done, Shown):
            return self._render(view, {**self._page.load(view), **done.data})
        return RedirectResponse(_find_target(done), 303, headers=_HEADERS)

    def _render(self, view: View, data: Mapping[str, object]) -> Response:
        if self._page.draw is not None:
            data = {**data, **self._page.draw(view, data)}
        return _make_html(render_page(self._page, view, data, menu=_list_menu(view), notes=list_notes(view)))


class _MemoryChoice:
    """Lets a person who is a member of several memories choose the one that pages show."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Go on with another memory; every failure becomes a problem."""
        scope["state"]["route"] = _CHOICE
        scope["state"]["note"].door, scope["state"]["note"].operation = "web", "choose memory"
        request, response = Request(scope, receive), RedirectResponse("/", 303, headers=_HEADERS)
        try:
            if request.method != "POST":
                raise make_method_problem(request.method, ("POST",))
            fields = dict((await read_form(request, None)).fields)
            self._sessions.check_form(scope, fields.get("csrf", ""))
            await self._sessions.choose_memory(request, fields.get("memory", ""), response)
        except (CredendaError, Problem) as error:
            await send_problem(error, scope, receive, send)
            return
        await response(scope, receive, send)


def _make_asset(name: str, media: str) -> ReadPage:
    """Make the page of a file of ours, to be kept by the browser: its address changes with it."""

    async def show(request: Request) -> Response:
        request.scope["state"] |= {"cache": _FOREVER, "is_asset": True}
        return Response(read_asset(name), media_type=media)

    return ReadPage(show)


def _make_routes(page: Page, memories: Memories, sessions: Sessions) -> list[Route]:
    """Make the routes of a page: its twin first, because a parameter of the path would take its ending."""
    shown = _Endpoint(page, memories, sessions)
    base = "" if page.path == "/" else page.path
    acting = [Route(f"{base}/{name}", _Endpoint(page, memories, sessions, action=name)) for name in page.actions]
    return [*acting, Route(page.twin_path, shown), Route(page.path, shown)]


def _choose_language(request: Request) -> str:
    wanted = request.query_params.get("lang") or request.cookies.get(_COOKIE, "")
    return choose_language(wanted, request.headers.get("accept-language", ""))


def _list_menu(view: View) -> list[tuple[str, list[Page]]]:
    """Return the groups of the menu, each with the pages that this person may see."""
    groups = ((title, [page for page in PAGES if page.group == group]) for group, title in _MENU)
    return [(title, shown) for title, pages in groups if (shown := [one for one in pages if view.may(one.operation)])]


def _make_html(body: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(body.encode("utf-8", "replace"), status, headers=_HEADERS)


def _find_target(done: Done) -> str:
    """Return the path to go to, with what to say there."""
    told = [("changed", write_mark(mark)) for mark in done.changes]
    told += [("note", done.note)] if done.note else []
    if not told:
        return done.to
    path, mark, fragment = done.to.partition("#")
    return f"{path}{'&' if '?' in path else '?'}{urlencode(told)}{mark}{fragment}"
