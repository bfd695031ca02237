"""A server on this machine that answers like an embedding endpoint, from a script or with hashed vectors."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from credenda.providers.embed.hashed import HashedEmbedder

_ENGINE = HashedEmbedder(64)


@dataclass
class Answer:
    """What to answer once: a status with headers, or a body in place of vectors."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: object = None


class EndpointServer:
    """Serves until it is closed; `answers` are given first, one a request, and `requests` remembers what came."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                served.requests.append((self.path, dict(self.headers), asked))
                answer = served.answers.pop(0) if served.answers else Answer()
                body = vectors(asked["input"]) if answer.body is None else answer.body
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(answer.status)
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
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def vectors(texts: list[str]) -> dict[str, object]:
    """Answer as an endpoint does: in any order, each with its index, not of unit length."""
    rows = [
        {"object": "embedding", "index": index, "embedding": [3 * number for number in row]}
        for index, row in enumerate(_ENGINE.embed(texts).tolist())
    ]
    return {"object": "list", "data": rows[::-1], "model": "stub"}
