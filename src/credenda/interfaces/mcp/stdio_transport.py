"""The two ends of a pipe: lines that come in, answers that go out, and the calls between them."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator
from concurrent.futures import CancelledError
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, jsonrpc_message_adapter

from credenda import limits

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import WriteStream

__all__ = ["Answers", "Calls", "Lines"]

_READ_BYTES: Final = 1 << 16


class Calls:
    """The requests that came in and are not answered yet."""

    def __init__(self) -> None:
        """Begin with none."""
        self._waiting: set[str | int] = set()
        self._idle = anyio.Event()

    def heard(self, line: str) -> None:
        """Note the request that a line holds, or that one was called off."""
        message = _parse_table(line)
        request_id = message.get("id")
        if isinstance(request_id, str | int) and isinstance(message.get("method"), str):
            self._waiting.add(request_id)
        elif message.get("method") == "notifications/cancelled":
            self.answered(_parse_table(message.get("params")).get("requestId"))

    def answered(self, request_id: object) -> None:
        """Note that a request has had its answer."""
        if isinstance(request_id, str | int):
            self._waiting.discard(request_id)
        if not self._waiting:
            self._idle.set()

    async def wait(self) -> None:
        """Wait until every request has had its answer, but not for long: an answer may never come."""
        if self._waiting:
            self._idle = anyio.Event()
            with anyio.move_on_after(limits.MCP_LAST_ANSWERS_SECONDS):
                await self._idle.wait()


def _parse_table(written: object) -> dict[str, Any]:
    """Read a table, given as such or as JSON; anything else is an empty one."""
    if isinstance(written, str):
        try:
            written = json.loads(written)
        except (ValueError, RecursionError):
            return {}
    return cast("dict[str, Any]", written) if isinstance(written, dict) else {}


def _refuse_line(line: str) -> JSONRPCError | None:
    """Return the answer to a request that cannot be read: the library would drop it, and its client wait for ever.

    What has no id, or is no request, is nothing that anybody waits for. The message quotes nothing.
    """
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        message = _parse_table(line)
    else:
        return None
    request_id = message.get("id")
    if "method" not in message or isinstance(request_id, bool) or not isinstance(request_id, str | int):
        return None
    fix = "give jsonrpc, id, method and a table of params, in whole characters (no half of a surrogate pair)"
    error = ErrorData(code=INVALID_REQUEST, message=f"this is no request of JSON-RPC 2.0; {fix}")
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


class Lines:
    """Lines of a descriptor, read in a thread of its own that nobody has to wait for: a signal must end the server.

    A thread of a pool would hold the process until the next line, for a blocking read cannot be called off. The lines
    end when the descriptor has ended and what was asked is answered. A request that cannot be read is answered here.
    """

    answers: Answers
    """The way out; set before the first line is read."""

    def __init__(self, descriptor: int, calls: Calls) -> None:
        """Read nothing yet."""
        self._descriptor = descriptor
        self._calls = calls
        self._sending: MemoryObjectSendStream[str]
        self._receiving: MemoryObjectReceiveStream[str]
        self._sending, self._receiving = anyio.create_memory_object_stream[str](0)

    def __aiter__(self) -> AsyncIterator[str]:
        """Begin to read."""
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
        """Hand over line by line, each when the one before it was taken; a line that is too long ends it all."""
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
                if waiting:  # a script need not end its last line
                    self._hand_over(loop, waiting.decode("utf-8", "replace"))
        except (OSError, RuntimeError, CancelledError):  # the descriptor, or the loop, is gone
            return
        finally:
            self._end(loop)

    def _hand_over(self, loop: asyncio.AbstractEventLoop, line: str) -> None:
        asyncio.run_coroutine_threadsafe(self._sending.send(line), loop).result()

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.call_soon_threadsafe(self._sending.close)
        except RuntimeError:
            return


class Answers:
    """A way out that notes which requests have had their answer."""

    def __init__(self, writing: WriteStream[SessionMessage], calls: Calls) -> None:
        """Write to a stream."""
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
        """Enter the stream."""
        await self._writing.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        """Leave the stream."""
        return await self._writing.__aexit__(exc_type, exc_val, exc_tb)
