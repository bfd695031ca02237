"""A server on this machine that speaks the wire formats of OpenAI's chat completions and Anthropic's messages."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from tests.waiting import PATIENCE_SECONDS

NOTHING: dict[str, object] = {"claims": [], "more": False}


@dataclass
class Answer:
    """What to answer once; `text` stands in place of the document, `ended` is why the model stopped."""

    document: object = None
    text: str | None = None
    ended: str = "stop"
    refusal: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    hold: bool = False
    """Whether to say nothing until the server is closed."""


class ModelServer:
    """Serves until it is closed; `answers` are given first, one a request, and `requests` remembers what came."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.asked = Event()
        self._closing = Event()
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                served.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, asked))
                served.asked.set()
                answer = served.answers.pop(0) if served.answers else Answer(NOTHING)
                if answer.hold:
                    served._closing.wait(PATIENCE_SECONDS)
                    return
                wire = openai_body if self.path.endswith("/chat/completions") else anthropic_body
                content = json.dumps(wire(answer)).encode() if answer.body is None else answer.body
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                """Say nothing: what is printed belongs to the tests."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _written(answer: Answer) -> str:
    return json.dumps(answer.document) if answer.text is None else answer.text


def openai_body(answer: Answer) -> dict[str, object]:
    if answer.status != 200:
        return {"error": {"message": f"no: {answer.text}", "type": "server_error"}}
    message = {"role": "assistant", "content": None if answer.refusal else _written(answer), "refusal": answer.refusal}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [{"index": 0, "finish_reason": answer.ended, "message": message}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940},
    }


def anthropic_body(answer: Answer) -> dict[str, object]:
    if answer.status != 200:
        return {"type": "error", "error": {"type": "api_error", "message": f"no: {answer.text}"}}
    reasons = {"stop": "tool_use", "length": "max_tokens"}
    tool: dict[str, object] = {"type": "tool_use", "id": "toolu_1", "name": "keep", "input": answer.document or {}}
    said: dict[str, object] = {"type": "text", "text": answer.text or answer.refusal or ""}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "stub",
        "content": [said] if answer.text is not None or answer.refusal else [tool],
        "stop_reason": "refusal" if answer.refusal else reasons.get(answer.ended, answer.ended),
        "stop_sequence": None,
        "usage": {"input_tokens": 900, "output_tokens": 40},
    }
