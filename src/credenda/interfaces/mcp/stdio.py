"""MCP over standard input and output: one client, one tenant, one open memory, until end of input or a signal.

Standard output belongs to the protocol; meanwhile its file descriptor points to standard error.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from threading import Lock, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, jsonrpc_message_adapter

from credenda import limits
from credenda.errors import Unavailable
from credenda.interfaces.authorization import use_as_owner
from credenda.interfaces.hook_engine.listener import leave_work, listen_to_hooks
from credenda.interfaces.mcp.server import build_server
from credenda.operations import Toolset
from credenda.validation import read_table

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.shared._stream_protocols import WriteStream

    from credenda.client import Credenda


# Line transport over stdin and stdout, which tracks requests without a response.


_READ_BYTES: Final = 1 << 16


class Calls:
    """The requests that have no response yet."""

    def __init__(self) -> None:
        self._waiting: set[str | int] = set()
        self._idle = anyio.Event()

    def heard(self, line: str) -> None:
        """Record the request, or the cancellation, in a line."""
        message = read_table(line)
        request_id = message.get("id")
        if isinstance(request_id, str | int) and isinstance(message.get("method"), str):
            self._waiting.add(request_id)
        elif message.get("method") == "notifications/cancelled":
            self.answered(read_table(message.get("params")).get("requestId"))

    def answered(self, request_id: object) -> None:
        """Record that a request has its response."""
        if isinstance(request_id, str | int):
            self._waiting.discard(request_id)
        if not self._waiting:
            self._idle.set()

    async def wait(self) -> None:
        """Wait until every request has its response, up to a timeout, because a response may never come."""
        if self._waiting:
            self._idle = anyio.Event()
            with anyio.move_on_after(limits.MCP_LAST_ANSWERS_SECONDS):
                await self._idle.wait()


def _refuse_line(line: str) -> JSONRPCError | None:
    """Return the error response to a request that cannot be parsed; the SDK would drop it, and its client would hang.

    Returns None for a line without an id, or that is not a request. The message quotes no input.
    """
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        message = read_table(line)
    else:
        return None
    request_id = message.get("id")
    if "method" not in message or isinstance(request_id, bool) or not isinstance(request_id, str | int):
        return None
    fix = "give jsonrpc, id, method and a table of params, in whole characters (no half of a surrogate pair)"
    error = ErrorData(code=INVALID_REQUEST, message=f"this is not a JSON-RPC 2.0 request; {fix}")
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


class Lines:
    """Lines of a descriptor, read in a separate daemon thread, so that a signal can end the server.

    A thread of a pool would block the exit until the next line, because a blocking read cannot be cancelled. Iteration
    ends when the input has ended and every request has its response. A malformed request gets its error response here.
    """

    answers: Answers
    """The output stream; set before the first line is read."""

    def __init__(self, descriptor: int, calls: Calls) -> None:
        """Bind the descriptor; reading starts later."""
        self._descriptor = descriptor
        self._calls = calls
        self._sending: MemoryObjectSendStream[str]
        self._receiving: MemoryObjectReceiveStream[str]
        self._sending, self._receiving = anyio.create_memory_object_stream[str](0)

    def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        Thread(target=self._read, args=(loop,), name="credenda-stdin", daemon=True).start()
        return self._lines()

    async def _lines(self) -> AsyncGenerator[str]:
        with self._receiving:
            async for line in self._receiving:
                self._calls.heard(line)
                if (refusal := _refuse_line(line)) is None:
                    yield line
                else:
                    await self.answers.send(SessionMessage(refusal))
        await self._calls.wait()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Pass on line by line, each after the previous one was consumed; a line that is too long ends the input."""
        waiting = bytearray()
        try:
            while chunk := os.read(self._descriptor, _READ_BYTES):
                waiting += chunk
                *lines, waiting = waiting.split(b"\n")
                if len(waiting) > limits.MCP_LINE_BYTES:
                    break
                for line in lines:
                    self._hand_over(loop, line.decode("utf-8", "replace"))
            else:
                if waiting:  # the last line may lack its newline
                    self._hand_over(loop, waiting.decode("utf-8", "replace"))
        except (OSError, RuntimeError, CancelledError):  # the descriptor or the loop is closed
            return
        finally:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._sending.close)

    def _hand_over(self, loop: asyncio.AbstractEventLoop, line: str) -> None:
        asyncio.run_coroutine_threadsafe(self._sending.send(line), loop).result()


class Answers:
    """An output stream that records which requests have their response."""

    def __init__(self, writing: WriteStream[SessionMessage], calls: Calls) -> None:
        self._writing = writing
        self._calls = calls

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        await self._writing.send(item)
        message = item.message
        if not hasattr(message, "method"):
            self._calls.answered(getattr(message, "id", None))

    async def aclose(self) -> None:
        """Close the stream."""
        await self._writing.aclose()

    async def __aenter__(self) -> Self:
        await self._writing.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        return await self._writing.__aexit__(exc_type, exc_val, exc_tb)


_log = logging.getLogger(__name__)
_GONE: Final = (BrokenPipeError, anyio.BrokenResourceError, anyio.ClosedResourceError)


def serve(
    open_memory: Callable[[], Credenda],
    *,
    toolset: Toolset = "default",
    read_only: bool = False,
    project: str | None = None,
) -> None:
    """Serve the memory until the client disconnects; then finish running calls and close the memory.

    Raises `Invalid` for descriptions that give orders, and any error of opening the memory.
    """
    logging.getLogger("mcp").addHandler(logging.NullHandler())  # its logs may quote messages
    held = _Held()
    server = build_server(held.use, toolset=toolset, read_only=read_only, project=project)
    with open_memory() as memory, listen_to_hooks(memory):
        held.memory = memory
        try:
            anyio.run(_serve, server)
        finally:
            leave_work(memory)  # first: a host may kill this process a few hundredths of a second after its signal
            held.rest()


class _Held:
    """The open memory; its worker starts with the first call, because clients start many servers without using them."""

    def __init__(self) -> None:
        self.memory: Credenda | None = None
        self._starter = Thread(target=self._start, name="credenda-start")
        self._once = Lock()

    @contextmanager
    def use(self) -> Generator[Credenda]:
        """Lend the memory to its owner, and start its worker concurrently."""
        if self.memory is None:
            raise Unavailable("the memory is not open", why="the server is starting or ending", fix="try again")
        with self._once:
            if self._starter.ident is None:
                self._starter.start()
        with use_as_owner(self.memory) as memory:
            yield memory

    def rest(self) -> None:
        """Wait until the worker has started, so that closing stops it."""
        if self._starter.ident is not None:
            self._starter.join()

    def _start(self) -> None:
        if self.memory is not None:
            self.memory.start_worker()


async def _serve(server: Server[Any]) -> None:
    calls = Calls()
    lines = Lines(sys.stdin.fileno(), calls)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_at_signal, group.cancel_scope)
            async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (reading, writing):
                lines.answers = Answers(writing, calls)
                await server.run(reading, lines.answers, server.create_initialization_options())
            group.cancel_scope.cancel()
    except* _GONE:
        _log.debug("the client closed its end first")


async def _stop_at_signal(scope: anyio.CancelScope) -> None:
    """Wait for the first signal that ends the server."""
    if sys.platform == "win32":
        return
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            scope.cancel()
            return
