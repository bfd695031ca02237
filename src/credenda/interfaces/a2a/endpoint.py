"""The A2A endpoint of a server: the card, and the routes of the SDK, which loads with the first request."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final, cast

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from credenda import __version__
from credenda.errors import NotFound
from credenda.interfaces import a2a
from credenda.interfaces.a2a.tasks import FAILURE
from credenda.interfaces.authorization import current_note, note_failure
from credenda.interfaces.server.memories import Memories
from credenda.interfaces.server.problems import READING, make_method_problem, make_read_route, send_problem
from credenda.interfaces.server.rest import read_body, replay_body
from credenda.model.server import Skill

PATH: Final = "/a2a"
CARD_PATH: Final = "/.well-known/agent-card.json"
_CACHE: Final = "public, max-age=3600"
_MEDIA: Final = frozenset({"application/json", "application/a2a+json"})


def make_a2a_routes(memories: Memories, *, url: str, tokens: bool, wait_seconds: float) -> list[BaseRoute]:
    """Make the routes; the card names `url`, or the address of its request where that is empty."""
    endpoint = _Endpoint(memories, wait_seconds)
    return [
        Route(PATH, endpoint),
        Route(f"{PATH}/{{rest:path}}", endpoint),
        _make_card_route(url, tokens=tokens),
    ]


def _make_card_route(url: str, *, tokens: bool) -> Route:
    """Make the route of the agent card, which everybody may read."""

    def write(place: str) -> bytes:
        return json.dumps(a2a.handler.show_card(place, tokens=tokens), sort_keys=True).encode()

    async def show(request: Request) -> Response:
        body = await to_thread.run_sync(write, (url or str(request.base_url)).rstrip("/") + PATH)
        headers = {"ETag": f'"{sha256(body).hexdigest()[:32]}"', "Vary": "Host"}
        request.scope["state"]["cache"] = _CACHE
        if headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type="application/json")

    return make_read_route(CARD_PATH, show)


class _Endpoint:
    """The methods of the protocol; bounds their bodies, and answers errors for which the protocol has no word."""

    def __init__(self, memories: Memories, wait_seconds: float) -> None:
        self._memories = memories
        self._wait_seconds = wait_seconds
        self._routes: Sequence[Route] = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["route"] = PATH
        note = current_note.get()
        if note is not None:
            note.door = "a2a"
        route, found = await self._find_route(scope)
        request = Request(scope, receive)
        body = b"" if request.method in READING else await read_body(request)
        scope["state"]["route"] = route.path
        scope.update(found)
        refuse = _find_refusal(request, body)
        if refuse is not None:
            note_failure("invalid")
            await refuse(rpc=route.path == PATH)(scope, receive, send)
            return
        await _answer(route, scope, replay_body(body, receive), _Answer(scope, receive, send))

    async def _find_route(self, scope: Scope) -> tuple[Route, Scope]:
        if not self._routes:
            # The SDK is loaded here, once.
            self._routes = await to_thread.run_sync(
                lambda: list(a2a.handler.make_sdk_routes(self._memories, PATH, wait_seconds=self._wait_seconds))
            )
        methods: set[str] = set()
        for route in self._routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                return route, found
            if match is Match.PARTIAL:
                methods |= route.methods or set()
        if methods:
            raise make_method_problem(scope["method"], methods - {"HEAD"})
        raise NotFound("there is no such page", fix="see the agent card")


def _find_refusal(request: Request, body: bytes) -> Callable[..., Response] | None:
    """Return what answers a body that is no JSON; the SDK would call some of them errors of the server."""
    if not body and request.url.path != PATH:
        return None
    if request.headers.get("content-type", "").partition(";")[0].strip().casefold() not in _MEDIA:
        return a2a.handler.refuse_media_type
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return a2a.handler.refuse_body
    return None


async def _answer(route: Route, scope: Scope, receive: Receive, answer: _Answer) -> None:
    app = cast("ASGIApp", route.app)
    try:
        await app(scope, receive, answer.send)
    except Exception as error:  # noqa: BLE001 - every failure becomes an answer
        if scope["state"]["started"]:  # a stream of version 0.3 may fail at its first event
            scope["state"]["failure"] = error
            await answer.end_stream(a2a.handler.write_stream_error(error))
        else:
            await answer.fail(error)


class _Answer:
    """The answer of the SDK; one about an error for which the protocol has no word is replaced by ours."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._replaced = False

    async def fail(self, error: Exception) -> None:
        self._replaced = True
        await send_problem(error, self._scope, self._receive, self._send)

    async def end_stream(self, event: bytes) -> None:
        """Send a last event."""
        await self._send({"type": "http.response.body", "body": event, "more_body": False})

    async def send(self, message: Message) -> None:
        if self._replaced:
            return
        failure = self._scope["state"].get(FAILURE)
        if message["type"] == "http.response.start" and failure is not None:
            await self.fail(failure)
            return
        if message["type"] == "http.response.body":
            _note_error(message.get("body", b""))
        await self._send(message)


def _note_error(body: bytes) -> None:
    """Note the failure of a call that JSON-RPC answers with status 200."""
    note = current_note.get()
    if note is None or note.code or not body.startswith(b"{") or b'"error"' not in body:
        return
    answer: object = json.loads(body)
    if isinstance(answer, dict) and "error" in answer:
        note_failure("invalid")


# The agent card: what another agent may ask for, and where.


INPUT_MODES: Final = ("text/plain", "application/json")
_BINDINGS: Final = ("JSONRPC", "HTTP+JSON")
_VERSIONS: Final = ("1.0", "0.3")
_SKILLS: Final[tuple[dict[str, Any], ...]] = (
    {
        "id": Skill.CONSOLIDATE.value,
        "name": "Consolidate memories",
        "description": "Store text or messages, extract beliefs from them, and ask about each value that contradicts an"
        " earlier one: keep the existing value, the new one, or both, with a scope for each.",
        "tags": ["memory", "extraction", "contradictions"],
        "examples": ["I live in Vienna.", '{"messages": [{"role": "user", "content": "I live in Vienna."}]}'],
    },
    {
        "id": Skill.RESOLVE.value,
        "name": "Resolve conflicts",
        "description": "Ask the open questions of the memory about values that exclude each other, and store the"
        " answers.",
        "tags": ["memory", "contradictions"],
        "examples": ['{"skill": "resolve_conflicts"}'],
    },
)


def build_card(url: str, *, tokens: bool) -> dict[str, Any]:
    """Build the card of an agent that is reached at a URL, in the JSON form of version 1.0."""
    card: dict[str, Any] = {
        "name": "Credenda",
        "description": "The memory of an agent's user, kept as beliefs with their evidence and history.",
        "version": __version__,
        "supportedInterfaces": [
            {"url": url, "protocolBinding": binding, "protocolVersion": version}
            for version in _VERSIONS
            for binding in _BINDINGS
        ],
        "capabilities": {"streaming": True, "pushNotifications": False, "extendedAgentCard": False},
        "defaultInputModes": list(INPUT_MODES),
        "defaultOutputModes": list(INPUT_MODES),
        "skills": list(_SKILLS),
    }
    if tokens:
        card["securitySchemes"] = {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}}
        card["securityRequirements"] = [{"schemes": {"bearer": {"list": []}}}]
    return card
