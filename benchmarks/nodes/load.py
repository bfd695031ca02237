"""Callers of several servers: each message is sent until a server acknowledges it."""

from __future__ import annotations

import http.client
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any, Final

from credenda.clock import pause

_TIMEOUT_SECONDS: Final = 20.0
_PAUSE_SECONDS: Final = 0.05
_RETRIED: Final = frozenset({429, 503})
"""Answers that ask for another try."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A message that a server has acknowledged."""

    user: str
    text: str
    event_id: str


@dataclass(slots=True)
class LoadReport:
    """The outcomes of all callers."""

    acknowledged: list[Acknowledged] = field(default_factory=list[Acknowledged])
    retries: Counter[str] = field(default_factory=Counter[str])
    searches: int = 0
    problems: list[str] = field(default_factory=list[str])
    lock: Lock = field(default_factory=Lock)
    over: Event = field(default_factory=Event)
    """Set when no server will answer any more: callers then give up."""


class Caller:
    """One caller, who acts for a user and goes to another server when one does not answer."""

    def __init__(self, user: str, token: str, ports: Callable[[], Sequence[int]], report: LoadReport) -> None:
        """Take the token of the user, and the ports of the servers that answer at a moment."""
        self._user = user
        self._ports = ports
        self._report = report
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._connection: http.client.HTTPConnection | None = None

    def run(self, name: str, seed: int, stop: Event) -> None:
        """Store messages with words of their own, and search for some of them, until `stop` is set."""
        try:
            self._call(name, random.Random(seed), stop)
        finally:
            self._disconnect()

    def _call(self, name: str, draw: random.Random, stop: Event) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            word = f"{name}n{number}z0"
            text = f"Remember that I love {word}."
            answer = self._insist(draw, "/v1/memories", {"content": text, "idempotency_key": word})
            if answer is not None:
                with self._report.lock:
                    self._report.acknowledged.append(Acknowledged(self._user, text, answer["event_ids"][0]))
            if answer is not None and draw.random() < 0.2:  # noqa: PLR2004 - the share of searches
                self._search(draw, word, answer["event_ids"][0])

    def _search(self, draw: random.Random, word: str, event_id: str) -> None:
        """Search for a message that was acknowledged, on any server."""
        found = self._insist(draw, "/v1/search", {"query": word, "limit": 10})
        if found is None:
            return
        reached = {hit["id"] for hit in found["hits"]} | {
            event["id"] for hit in found["hits"] for event in hit.get("evidence") or ()
        }
        with self._report.lock:
            self._report.searches += 1
            if event_id not in reached:
                self._report.problems.append(f"a search does not find {event_id}, which was acknowledged")

    def _insist(self, draw: random.Random, path: str, body: Mapping[str, object]) -> dict[str, Any] | None:
        """Send a request until a server answers it; None for an answer that is no success."""
        while not self._report.over.is_set():
            try:
                status, answer = self._send(draw, path, body)
            except (OSError, http.client.HTTPException) as error:
                self._disconnect()
                self._note(type(error).__name__)
                pause(_PAUSE_SECONDS)
                continue
            if status in _RETRIED:
                self._note(str(status))
                pause(_PAUSE_SECONDS)
                continue
            if status < http.HTTPStatus.MULTIPLE_CHOICES:
                return answer
            with self._report.lock:
                self._report.problems.append(f"{path} answered {status}: {json.dumps(answer)[:300]}")
            return None
        return None

    def _send(self, draw: random.Random, path: str, body: Mapping[str, object]) -> tuple[int, dict[str, Any]]:
        if self._connection is None:
            ports = self._ports()
            if not ports:
                raise ConnectionRefusedError
            self._connection = http.client.HTTPConnection("127.0.0.1", draw.choice(ports), timeout=_TIMEOUT_SECONDS)
        self._connection.request("POST", path, json.dumps(body), self._headers)
        with self._connection.getresponse() as response:
            return response.status, json.loads(response.read() or b"{}")

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _note(self, what: str) -> None:
        with self._report.lock:
            self._report.retries[what] += 1
