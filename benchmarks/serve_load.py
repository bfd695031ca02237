"""Load for a server and for the library: the same mix of stores and searches, by as many clients, at the same pace."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from threading import Event
from typing import Any, Final
from urllib.request import Request, urlopen

from benchmarks.sentences import make_sentences
from credenda import Credenda
from credenda.clock import seconds

KINDS: Final = ("store (REST)", "search (REST)", "store (MCP)", "search (REST)")
"""What a client does, one after the other."""
OLDEST: Final = "credenda_oldest_unread_seconds"
LIMITED: Final = frozenset({429, 503})
_OK: Final = frozenset({200, 202})
_WAIT_SECONDS: Final = 60.0


@dataclass(slots=True)
class Load:
    """What happened under a load."""

    latencies: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict[str, list[float]](list))
    """Seconds from a request to the end of its answer, by kind; of answers that went well."""
    statuses: Counter[str] = field(default_factory=Counter[str])
    """How often each outcome was met that is neither an answer nor a declared limit."""
    limited: int = 0
    """Answers 429 and 503 with Retry-After."""
    acknowledged: list[str] = field(default_factory=list[str])
    """The ids of stored events."""


class _Connection:
    """A kept connection that sends one request at a time; as little work as possible, because it shares the machine."""

    def __init__(self, host: str, port: int, token: str) -> None:
        self._address = host, port
        self._head = f"Host: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: Mapping[str, Any], accept: str = "") -> tuple[int, Mapping[str, str], Any]:
        """Send a body; returns the status, the headers and the answer. Raises `OSError` where the server is gone."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._address)
        reader, writer = self._streams
        sent = json.dumps(body).encode()
        wanted = f"Accept: {accept}\r\n" if accept else ""
        writer.write(f"POST {path} HTTP/1.1\r\n{self._head}{wanted}Content-Length: {len(sent)}\r\n\r\n".encode() + sent)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.casefold(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        answer = await reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.close()
        return int(head[0].split()[1]), headers, json.loads(answer) if answer else None

    def close(self) -> None:
        """Close the connection; the next request opens one."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def _send(connection: _Connection, kind: str, text: str) -> tuple[int, Mapping[str, str], str]:
    """Send one request; returns the status, the headers, and the id of a stored event."""
    if kind == "search (REST)":
        status, headers, _ = await connection.post("/v1/search", {"query": text, "limit": 5})
        return status, headers, ""
    if kind == "store (REST)":
        status, headers, answer = await connection.post("/v1/memories", {"content": text})
        return status, headers, answer["event_ids"][0] if status in _OK else ""
    call = {"name": "store_memory", "arguments": {"text": text}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accept = "application/json, text/event-stream"
    status, headers, answer = await connection.post("/mcp", body, accept)
    if status not in _OK:
        return status, headers, ""
    result = answer.get("result")
    if not result or result.get("isError"):
        return 0, headers, ""
    return status, headers, str(result["structuredContent"]["data"]["event_ids"][0])


async def _drive(
    connection: _Connection,
    texts: Iterable[str],
    load: Load,
    *,
    until: float,
    wait: Callable[[int], Awaitable[None]],
) -> None:
    """Be one client until a moment, and until each kind was sent once, or until the server is gone."""
    for turn, text in enumerate(texts):
        await wait(turn)
        if seconds() >= until and turn >= len(KINDS):
            break
        kind, began = KINDS[turn % len(KINDS)], seconds()
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                status, headers, event_id = await _send(connection, kind, text)
        except (OSError, asyncio.IncompleteReadError) as error:
            load.statuses[type(error).__name__] += 1
            connection.close()
            return
        if status in _OK:
            load.latencies[kind].append(seconds() - began)
            if event_id:
                load.acknowledged.append(event_id)
        elif status in LIMITED and "retry-after" in headers:
            load.limited += 1
            await asyncio.sleep(float(headers["retry-after"]))
        else:
            load.statuses[str(status)] += 1


def load_server(
    address: tuple[str, int], tokens: Sequence[str], *, clients: int, for_seconds: float, pace: float, seed: int
) -> Load:
    """Load a server; client N has token N modulo their number, and sends `pace` requests a second, 0 without pause."""

    async def run() -> Load:
        load, begun = Load(), seconds()

        async def client(number: int) -> None:
            async def wait(turn: int) -> None:
                if pace:
                    await asyncio.sleep(max(0.0, begun + (turn + number / clients) / pace - seconds()))

            connection = _Connection(*address, tokens[number % len(tokens)])
            with suppress(asyncio.CancelledError):
                await _drive(connection, _make_texts(number, seed), load, until=begun + for_seconds, wait=wait)
            connection.close()

        await asyncio.gather(*(client(number) for number in range(clients)))
        return load

    return asyncio.run(run())


def wait_until_read(address: tuple[str, int], token: str) -> None:
    """Wait until a server has read every message."""
    request = Request(f"http://{address[0]}:{address[1]}/metrics", headers={"Authorization": f"Bearer {token}"})
    pause = Event()
    while True:
        with urlopen(request, timeout=_WAIT_SECONDS) as answer:  # noqa: S310 - our own address
            lines = answer.read().decode().splitlines()
        if f"{OLDEST} 0" in lines:
            return
        pause.wait(0.2)


def load_library(memories: Sequence[Credenda], *, clients: int, for_seconds: float, pace: float, seed: int) -> Load:
    """Load open memories in this process with as many threads."""
    load, begun, never = Load(), seconds(), Event()

    def client(number: int) -> None:
        memory = memories[number % len(memories)]
        for turn, text in enumerate(_make_texts(number, seed)):
            if pace:
                never.wait(max(0.0, begun + (turn + number / clients) / pace - seconds()))
            at = seconds()
            if at >= begun + for_seconds and turn >= len(KINDS):
                return
            kind = KINDS[turn % len(KINDS)]
            if kind.startswith("store"):
                load.acknowledged.extend(memory.remember(text).event_ids)
            else:
                memory.search(text, limit=5)
            load.latencies[kind.split()[0]].append(seconds() - at)

    with ThreadPoolExecutor(clients) as pool:
        for one in [pool.submit(client, number) for number in range(clients)]:
            one.result()
    return load


def _make_texts(number: int, seed: int) -> Iterator[str]:
    """Yield the words of one client without end: every sentence differs from every other."""
    for block in count():
        for place, text in enumerate(make_sentences(100, seed=seed + number + 100_000 * block)):
            yield f"{text} ({number}/{block}/{place})"
