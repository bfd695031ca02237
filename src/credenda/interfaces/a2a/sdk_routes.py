"""The routes of the SDK, over our handler; importing this module loads the SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from a2a.server.context import ServerCallContext
from a2a.server.jsonrpc_models import JSONParseError
from a2a.server.request_handlers.response_helpers import agent_card_to_dict, build_error_response
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.error_handlers import build_rest_error_payload
from a2a.utils.errors import A2AError, ContentTypeNotSupportedError
from google.protobuf.json_format import ParseDict, ParseError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from credenda.interfaces.a2a.card import build_card
from credenda.interfaces.a2a.handler import TaskHandler
from credenda.interfaces.a2a.request import FAILURE
from credenda.interfaces.a2a.tasks import AgentTasks
from credenda.interfaces.server.memories import Memories


class _Contexts(DefaultServerCallContextBuilder):
    """Gives the handler a place for the errors that the endpoint answers."""

    def build(self, request: Request) -> ServerCallContext:
        """Build the context of a call."""
        context = super().build(request)

        def fail(error: Exception) -> None:
            request.scope["state"][FAILURE] = error

        context.state[FAILURE] = fail
        return context


def make_sdk_routes(memories: Memories, path: str, *, wait_seconds: float) -> Iterator[Route]:
    """Make the routes below a path: JSON-RPC at the path itself, and HTTP+JSON, of both versions."""
    card = ParseDict(build_card("", tokens=False), AgentCard())
    handler = TaskHandler(AgentTasks(memories), card, memories.active_calls, wait_seconds=wait_seconds)
    contexts = _Contexts()
    made: list[Any] = [
        *create_jsonrpc_routes(handler, path, contexts, enable_v0_3_compat=True),
        *create_rest_routes(handler, contexts, enable_v0_3_compat=True, path_prefix=path),
    ]
    for route in made:
        if isinstance(route, Route):  # the others are the same paths with a tenant before them
            yield route


def show_card(url: str, *, tokens: bool) -> dict[str, Any]:
    """Return the card of version 1.0 with the fields of version 0.3 beside them."""
    return agent_card_to_dict(ParseDict(build_card(url, tokens=tokens), AgentCard()))


def refuse_media_type(*, rpc: bool) -> Response:
    """Make the answer of a binding, JSON-RPC or HTTP+JSON, to a body that is not announced as JSON."""
    error = ContentTypeNotSupportedError("the body has another media type; send application/json")
    return _refuse(error, error, rpc=rpc)


def refuse_body(*, rpc: bool) -> Response:
    """Make the answer of a binding to a body that is no JSON, or nested too deeply."""
    told = "the body is not JSON; send one object in UTF-8"
    return _refuse(JSONParseError(message=told), ParseError(told), rpc=rpc)


def _refuse(error: A2AError | JSONParseError, rest_error: Exception, *, rpc: bool) -> Response:
    if rpc:
        return JSONResponse(build_error_response(None, error))
    payload = build_rest_error_payload(rest_error)
    return JSONResponse(payload, payload["error"]["code"])


def write_stream_error(error: Exception) -> bytes:
    """Write the event of an error in a stream of HTTP+JSON."""
    return f"event: error\ndata: {json.dumps(build_rest_error_payload(error))}\n\n".encode()
