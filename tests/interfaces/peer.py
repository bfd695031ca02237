"""Another agent that speaks A2A without an SDK: both bindings and both versions, as raw requests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from httpx2 import Response

from .served import Site

NUMBERS = count(1)
CARD = "/.well-known/agent-card.json"


@dataclass(frozen=True)
class Way:
    """A binding and a version of the protocol."""

    rpc: bool
    version: str

    @property
    def headers(self) -> dict[str, str]:
        return {"A2A-Version": "1.0"} if self.version == "1.0" else {}

    def __str__(self) -> str:
        return f"{'rpc' if self.rpc else 'rest'}-{self.version}"


WAYS = [Way(rpc, version) for rpc in (True, False) for version in ("1.0", "0.3")]
METHODS = {
    "send": ("SendMessage", "message/send", "POST", "/message:send"),
    "stream": ("SendStreamingMessage", "message/stream", "POST", "/message:stream"),
    "get": ("GetTask", "tasks/get", "GET", "/tasks/{id}"),
    "cancel": ("CancelTask", "tasks/cancel", "POST", "/tasks/{id}:cancel"),
    "subscribe": ("SubscribeToTask", "tasks/resubscribe", "POST", "/tasks/{id}:subscribe"),
}


class Peer:
    """An agent with a token, at one way of calling."""

    def __init__(self, site: Site, way: Way, token: str = "") -> None:
        self.site = site
        self.way = way
        self.token = token

    def call(self, name: str, params: Mapping[str, Any]) -> Response:
        """Call a method and return the answer as it came."""
        new, old, verb, path = METHODS[name]
        if self.way.rpc:
            method = new if self.way.version == "1.0" else old
            body = {"jsonrpc": "2.0", "id": next(NUMBERS), "method": method, "params": dict(params)}
            return self.site.send("POST", "/a2a", self.token, json=body, headers=self.way.headers)
        base = "/a2a" if self.way.version == "1.0" else "/a2a/v1"
        given = dict(params)
        path = path.format(id=given.pop("id", ""))
        sent = {"json": given} if verb == "POST" else {"params": given}
        return self.site.send(verb, base + path, self.token, headers=self.way.headers, **sent)

    def message(self, parts: Sequence[str | Mapping[str, Any]], **more: Any) -> dict[str, Any]:  # noqa: ANN401
        """Write the parameters of a message of texts and objects, to be answered at once."""
        message: dict[str, Any] = {"messageId": f"message-{next(NUMBERS)}", **more}
        if self.way.version == "1.0":
            message |= {
                "role": "ROLE_USER",
                "parts": [{"text": p} if isinstance(p, str) else {"data": p} for p in parts],
            }
            return {"message": message, "configuration": {"returnImmediately": True}}
        if self.way.rpc:
            shown = [{"kind": "text", "text": p} if isinstance(p, str) else {"kind": "data", "data": p} for p in parts]
            message |= {"role": "user", "parts": shown, "kind": "message"}
        else:
            shown = [{"text": p} if isinstance(p, str) else {"data": {"data": p}} for p in parts]
            message |= {"role": "ROLE_USER", "content": shown}
        return {"message": message, "configuration": {"blocking": False}}

    def send(self, *parts: str | Mapping[str, Any], **more: Any) -> Response:  # noqa: ANN401
        return self.call("send", self.message(parts, **more))

    def begin(self, *parts: str | Mapping[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401
        return read_task(self.send(*parts, **more))

    def get(self, task_id: str) -> dict[str, Any]:
        return read_task(self.call("get", {"id": task_id}))


def read_task(response: Response) -> dict[str, Any]:
    """Return the task of an answer in either form, with its state as one word."""
    assert response.status_code == 200, response.text
    body = response.json()
    found = body.get("result", body)
    found = found.get("task", found)
    return {**found, "state": name_state(found["status"]["state"])}


def name_state(state: str) -> str:
    return state.removeprefix("TASK_STATE_").lower().replace("_", "-").replace("cancelled", "canceled")


def read_error(response: Response) -> tuple[int, str]:
    """Return the HTTP status and the code of an error of the protocol, or of a problem."""
    body: dict[str, Any] = response.json()
    error: dict[str, Any] = body.get("error", body)
    details: list[dict[str, Any]] = error.get("data") or error.get("details") or []
    return response.status_code, str(details[0]["reason"] if details else error["code"])


def list_questions(task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the questions of a task that waits for an answer."""
    message = task["status"]["message"]
    for part in message.get("parts") or message.get("content"):
        data: dict[str, Any] = part.get("data") or {}
        data = data.get("data", data)
        if "questions" in data:
            return json.loads(json.dumps(data["questions"]))
    return []
