"""A server in the place of the models: it answers by a script, and keeps every request."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any, Final, NamedTuple

from .conversation import READERS, WRITERS, Answer, Conversation, Turn

_LOADERS: Final[Mapping[str, Callable[[str], Mapping[str, Any]]]] = {
    "WaitForMcpServers": lambda _: {},
    "ToolSearch": lambda name: {"query": name.replace("_", " "), "max_results": 5},
    "tool_search": lambda name: {"query": name.replace("_", " "), "max_results": 5},
}
"""Tools by which a host lets its model load others that it does not send: their arguments by the name that is wanted.

The first waits for servers, for a few seconds at each call, and is offered until they are there.
"""
_LOADS: Final = 60
_NOTE: Final = re.compile(r"(?:<|&lt;)(system-reminder|memory)(?:>|&gt;).*?(?:<|&lt;)/\1(?:>|&gt;)", re.DOTALL)
"""What a host itself puts into the user's messages; some write what a hook told with entities."""


class Step(NamedTuple):
    """What the model does where the user's latest prompt has some words: call tools by the ends of their names."""

    words: str
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    text: str = "All right."


class Request(NamedTuple):
    """A request for an answer; `text` is its whole body, without escapes."""

    path: str
    conversation: Conversation
    text: str


class Model:
    """The address of the server, and the requests that it got, oldest first."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.script: list[Step] = []
        self.requests: list[Request] = []
        self.numbers = count(1)

    def list_requests(self, words: str) -> list[Request]:
        """Return the requests with a prompt of the user that has these words, in which tools are offered."""
        return [
            one
            for one in self.requests
            if one.conversation.tools and any(words in _read_prompt(turn) for turn in one.conversation.turns)
        ]

    def answer(self, conversation: Conversation) -> Answer:
        """Return the next call of the step whose words the latest prompt has, or its text after the last call."""
        turns = conversation.turns
        for at in range(len(turns) - 1, -1, -1):
            step = next((one for one in self.script if one.words in _read_prompt(turns[at])), None)
            if step is not None:
                calls = [turn.text for turn in turns[at:] if turn.who == "call"]
                loads = [name for name in calls if name in _LOADERS]
                done = len(calls) - len(loads)
                if not conversation.tools or done >= len(step.calls):
                    return Answer(text=step.text)
                return _call(conversation, *step.calls[done], loads=loads)
        return Answer(text="All right.")


def _read_prompt(turn: Turn) -> str:
    """Return what the user wrote in a turn: some hosts put their notes into the same message."""
    return _NOTE.sub("", turn.text) if turn.who == "user" else ""


def _call(conversation: Conversation, name: str, arguments: Mapping[str, Any], *, loads: Sequence[str]) -> Answer:
    """Return the call of a tool, or of one that loads it; `loads` are earlier calls of those."""
    tools = conversation.tools
    found = next((tool for tool in tools if tool.endswith(name)), None)
    if found is not None:
        return Answer(tool=found, arguments=arguments, namespace=tools[found])
    loader = next((tool for tool in _LOADERS if tool in tools), None)
    if loader is None or len(loads) == _LOADS:
        return Answer(text=f"I was offered no tool {name}.")
    return Answer(tool=loader, arguments=_LOADERS[loader](name), namespace=tools[loader])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the requests are kept."""

    def do_HEAD(self) -> None:
        self._send({})

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        body: dict[str, Any] = json.loads(self._read() or b"{}")
        path = self.path.partition("?")[0]
        kind = _find_kind(path)
        if kind is None:
            self._send({"input_tokens": 10, "totalTokens": 10})
            return
        conversation = READERS[kind](body)
        self.model.requests.append(Request(path, conversation, json.dumps(body, ensure_ascii=False)))
        settings: dict[str, Any] = body.get("generationConfig") or {}
        wants_json = settings.get("responseMimeType") == "application/json"
        answer = Answer(text="{}") if wants_json else self.model.answer(conversation)
        whole, events = WRITERS[kind](answer, next(self.model.numbers))
        if not (body.get("stream") or "streamGenerate" in path):
            self._send(whole)
            return
        lines = [f"{f'event: {name}{chr(10)}' if name else ''}data: {json.dumps(data)}\n\n" for name, data in events]
        lines += ["data: [DONE]\n\n"] if kind == "chat" else []
        self._send_bytes("".join(lines).encode(), "text/event-stream")

    def _read(self) -> bytes:
        data = b""
        if "chunked" in (self.headers.get("transfer-encoding") or "").lower():
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(data) if self.headers.get("content-encoding") == "gzip" else data

    def _send(self, value: object) -> None:
        self._send_bytes(json.dumps(value).encode(), "application/json")

    def _send_bytes(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _find_kind(path: str) -> str | None:
    """Return the protocol of an address where answers are asked for."""
    ends = {"/messages": "messages", "/responses": "responses", "/chat/completions": "chat"}
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return "gemini"
    return next((kind for end, kind in ends.items() if path.endswith(end)), None)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A host that has gone closes its connections as it likes."""


@contextmanager
def serve_model() -> Generator[Model]:
    """Serve on a free port of this machine until the block ends."""
    with _Server(("127.0.0.1", 0), type("_Bound", (_Handler,), {})) as server:
        model = Model(server.server_address[1])
        server.RequestHandlerClass.model = model  # type: ignore[attr-defined]
        thread = Thread(target=server.serve_forever, name="stub-model")
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
