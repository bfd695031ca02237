"""MCP over HTTP at one path: requests that stand alone, and sessions for clients that the server may ask back.

In revision 2026-07-28 every request stands alone. So do those of earlier revisions, with one exception: a client that
declares elicitation when it initializes gets a session, because its user's answer arrives as a request of its own and
has to find the call that waits for it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from credenda import limits
from credenda.errors import Forbidden
from credenda.interfaces.authorization import get_principal
from credenda.interfaces.server.problems import make_method_problem, send_problem
from credenda.interfaces.server.rest import read_body, replay_body
from credenda.validation import read_table

_STREAM: Final = "text/event-stream"


class McpEndpoint:
    """The ASGI application of the path `/mcp`.

    An answer is JSON unless something is sent before it, such as progress; then it is a stream of events.
    """

    def __init__(self, server: Server[Any]) -> None:
        body = limits.HTTP_BODY_BYTES
        self._plain = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=body
        )
        self._streams = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=body)
        self._sessions = StreamableHTTPSessionManager(
            server,
            session_idle_timeout=limits.MCP_SESSION_IDLE_SECONDS,
            max_sessions=limits.MCP_SESSIONS,
            max_request_body_size=body,
        )

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        """Serve requests until the block ends, which ends all sessions."""
        async with AsyncExitStack() as stack:
            for manager in (self._plain, self._streams, self._sessions):
                await stack.enter_async_context(manager.run())
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request of the current principal."""
        scope["state"]["route"] = "/mcp"
        headers = Headers(scope=scope)
        in_session = "mcp-session-id" in headers
        if scope["method"] != "POST" and not (scope["method"] == "DELETE" and in_session):
            # nothing is sent outside of an answer, so there is no stream to open
            raise make_method_problem(scope["method"], ["POST"])
        # The SDK refuses a session to everyone but the caller who began it.
        principal = get_principal()
        claims = {"iss": principal.issuer}
        token = AccessToken(
            token="", client_id=principal.tenant, scopes=[], subject=principal.credential, claims=claims
        )
        scope["user"] = AuthenticatedUser(token)
        # The request may name a revision without sessions.
        version = headers.get("mcp-protocol-version")
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            manager = self._streams if _STREAM in headers.get("accept", "") else self._plain
        elif in_session:
            manager = self._sessions
        else:
            body = await read_body(Request(scope, receive))
            receive = replay_body(body, receive)
            request = read_table(body)
            params = read_table(request.get("params"))
            if request.get("method") == "initialize":
                may_ask = "elicitation" in read_table(params.get("capabilities"))
                manager = self._sessions if may_ask else self._plain
            else:
                manager = self._streams if "progressToken" in read_table(params.get("_meta")) else self._plain
        await manager.handle_request(scope, receive, _ask_for_scope(scope, receive, send))


def _ask_for_scope(scope: Scope, receive: Receive, send: Send) -> Send:
    """Answer 403 in place of a tool's error where the client can ask the person for the missing scope (RFC 6750).

    An answer that has begun, such as a stream of progress, is sent to its end.
    """
    is_replaced = False

    async def send_or_ask(message: Message) -> None:
        nonlocal is_replaced
        missing = scope["state"]["note"].missing_scope
        if missing and message["type"] == "http.response.start":
            is_replaced = True
            why = f"it lacks the scope {missing}"
            error = Forbidden("the token does not permit this", why=why, fix="ask the person for it", scope=missing)
            await send_problem(error, scope, receive, send)
        elif not is_replaced:
            await send(message)

    return send_or_ask
