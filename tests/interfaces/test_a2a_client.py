"""The client of the A2A SDK against a server in a process of its own: begin, poll, resume, cancel, stream, restart."""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import A2AError, MethodNotFoundError, TaskNotCancelableError, TaskNotFoundError
from google.protobuf.json_format import ParseDict

from tests.waiting import PATIENCE_SECONDS, limit_waiting

from .test_server_process import Server

WAYS = [(binding, version) for binding in ("JSONRPC", "HTTP+JSON") for version in ("1.0", "0.3")]
PEOPLE = ["sister", "brother", "mother", "father"]
each_way = pytest.mark.parametrize(("binding", "version"), WAYS, ids=["-".join(way) for way in WAYS])
Body = Callable[[Client], Awaitable[None]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    opened = Server("--db", str(tmp_path_factory.mktemp("client") / "memory.db"))
    yield opened
    opened.child.kill()
    opened.child.communicate(timeout=PATIENCE_SECONDS)


@asynccontextmanager
async def connect(url: str, binding: str, version: str, *, streaming: bool = False) -> AsyncGenerator[Client]:
    """Read the card as a client of this version that knows one binding does."""
    async with httpx.AsyncClient(timeout=PATIENCE_SECONDS, trust_env=False) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        offered = [one for one in card.supported_interfaces if one.protocol_version == version]
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(offered)
        config = ClientConfig(streaming=streaming, httpx_client=http, supported_protocol_bindings=[binding])
        if version == "0.3":
            http.headers["A2A-Version"] = version
        yield ClientFactory(config).create(card)


def run(server: Server, binding: str, version: str, body: Body, *, streaming: bool = False) -> None:
    async def call() -> None:
        with limit_waiting("the end of a conversation with a server"):
            async with connect(server.url, binding, version, streaming=streaming) as client:
                await body(client)

    anyio.run(call)


def write(part: str | dict[str, Any], message_id: str, task: str = "") -> pb.SendMessageRequest:
    shown = {"text": part} if isinstance(part, str) else {"data": part}
    message = {"messageId": message_id, "role": "ROLE_USER", "parts": [shown], "taskId": task}
    return ParseDict({"message": message}, pb.SendMessageRequest())


async def send(client: Client, part: str | dict[str, Any], message_id: str, task: str = "") -> pb.Task:
    """Send a message and return the last that is known of its task."""
    found = [event async for event in client.send_message(write(part, message_id, task))]
    return found[-1].task


@pytest.mark.requirement("R-180", "R-181", "R-182", "R-183")
@each_way
def test_a_client_begins_polls_resumes_and_cancels(server: Server, binding: str, version: str) -> None:
    who = PEOPLE[WAYS.index((binding, version))]
    vague = (binding, version) == ("HTTP+JSON", "0.3")  # this client tells the errors apart by their status alone

    async def body(client: Client) -> None:
        first = await send(client, f"My {who} lives in Linz.", f"{who}-1")
        assert first.status.state == pb.TASK_STATE_COMPLETED, first
        asked = await send(client, f"My {who} lives in Vienna.", f"{who}-2")
        assert asked.status.state == pb.TASK_STATE_INPUT_REQUIRED, asked
        polled = await client.get_task(pb.GetTaskRequest(id=asked.id))
        assert polled.status.state == pb.TASK_STATE_INPUT_REQUIRED
        assert "Linz" in polled.status.message.parts[0].text
        done = await send(client, {"resolution": "keep_existing"}, f"{who}-3", asked.id)
        assert (done.id, done.status.state) == (asked.id, pb.TASK_STATE_COMPLETED)
        with pytest.raises((A2AError, A2AClientError)):
            await send(client, {"resolution": "keep_new"}, f"{who}-4", asked.id)
        with pytest.raises(A2AClientError if vague else TaskNotCancelableError):
            await client.cancel_task(pb.CancelTaskRequest(id=asked.id))
        with pytest.raises(MethodNotFoundError if vague else TaskNotFoundError):
            await client.get_task(pb.GetTaskRequest(id="none"))
        other = await send(client, f"My {who} lives in Graz.", f"{who}-5")
        canceled = await client.cancel_task(pb.CancelTaskRequest(id=other.id))
        assert canceled.status.state == pb.TASK_STATE_CANCELED

    run(server, binding, version, body)


@each_way
def test_a_client_follows_a_stream(server: Server, binding: str, version: str) -> None:
    async def body(client: Client) -> None:
        request = write("I like green tea.", f"stream-{binding}-{version}".replace("+", "-"))
        events = [event async for event in client.send_message(request)]
        assert events[0].WhichOneof("payload") == "task"
        kinds = [event.WhichOneof("payload") for event in events]
        last = events[-1].status_update.status if len(events) > 1 else events[-1].task.status
        assert last.state == pb.TASK_STATE_COMPLETED
        assert "artifact_update" in kinds or events[-1].task.artifacts

    run(server, binding, version, body, streaming=True)


@pytest.mark.requirement("D-014")
def test_a_task_that_waits_is_resumed_after_the_server_was_killed(tmp_path: Path) -> None:
    db, asked = tmp_path / "memory.db", list[str]()

    async def begin(client: Client) -> None:
        await send(client, "I live in Linz.", "one")
        asked.append((await send(client, "I live in Vienna.", "two")).id)

    async def resume(client: Client) -> None:
        task = await client.get_task(pb.GetTaskRequest(id=asked[0]))
        assert task.status.state == pb.TASK_STATE_INPUT_REQUIRED
        done = await send(client, "keep both", "three", asked[0])
        assert done.status.state == pb.TASK_STATE_COMPLETED

    first = Server("--db", str(db))
    run(first, "JSONRPC", "1.0", begin)
    first.end(signal.SIGKILL)
    second = Server("--db", str(db))
    run(second, "HTTP+JSON", "0.3", resume)
    assert second.end(signal.SIGTERM)[0] == 0
