"""MCP over standard input and output: one client, one tenant, one open memory, until the input ends or a signal comes.

Standard output belongs to the protocol; while it is served, the descriptor itself leads to standard error.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import CancelledError
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server

from credenda import limits
from credenda.errors import Unavailable
from credenda.interfaces.mcp.server import build_server
from credenda.operations.tools import Toolset

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from credenda.client import Credenda

__all__ = ["serve"]

_log = logging.getLogger(__name__)
_READ_BYTES: Final = 1 << 16
_GONE: Final = (BrokenPipeError, anyio.BrokenResourceError, anyio.ClosedResourceError)


def serve(open_memory: Callable[[], Credenda], *, toolset: Toolset = "default", read_only: bool = False) -> None:
    """Serve the memory until the client goes away; calls under way are finished, and the memory is closed.

    Raises `Invalid` for descriptions that give orders, and whatever opening the memory raises.
    """
    logging.getLogger("mcp").addHandler(logging.NullHandler())  # its logs may quote what was said
    held = _Held()
    server = build_server(held.use, toolset=toolset, read_only=read_only)
    with open_memory() as memory:
        held.memory = memory
        try:
            anyio.run(_serve, server)
        finally:
            held.rest()


class _Held:
    """The open memory; its worker starts with the first call, for many clients start servers that they never ask."""

    def __init__(self) -> None:
        self.memory: Credenda | None = None
        self._starter = Thread(target=self._start, name="credenda-start")
        self._once = Lock()

    def use(self) -> Credenda:
        """Return the memory, and let its worker start beside the call."""
        if self.memory is None:
            raise Unavailable("the memory is not open", why="the server is starting or ending", fix="try again")
        with self._once:
            if self._starter.ident is None:
                self._starter.start()
        return self.memory

    def rest(self) -> None:
        """Wait until the worker has started, so that closing finds it."""
        if self._starter.ident is not None:
            self._starter.join()

    def _start(self) -> None:
        if self.memory is not None:
            self.memory.start_worker()


async def _serve(server: Server[Any]) -> None:
    lines = _Lines(sys.stdin.fileno())
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_at_signal, group.cancel_scope)
            async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())
            group.cancel_scope.cancel()
    except* _GONE:
        _log.debug("the client closed its end first")


async def _stop_at_signal(scope: anyio.CancelScope) -> None:
    """Wait for the first signal that asks to end."""
    if sys.platform == "win32":
        return
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            scope.cancel()
            return


class _Lines:
    """Lines of a descriptor, read in a thread of its own that nobody has to wait for: a signal must end the server.

    A thread of a pool would hold the process until the next line, for a blocking read cannot be called off.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._sending: MemoryObjectSendStream[str]
        self._receiving: MemoryObjectReceiveStream[str]
        self._sending, self._receiving = anyio.create_memory_object_stream[str](0)

    def __aiter__(self) -> MemoryObjectReceiveStream[str]:
        """Begin to read."""
        Thread(target=self._read, args=(asyncio.get_running_loop(),), name="credenda-stdin", daemon=True).start()
        return self._receiving

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hand over line by line, each when the one before it was taken."""
        waiting = bytearray()
        try:
            while chunk := os.read(self._descriptor, _READ_BYTES):
                waiting += chunk
                *lines, rest = waiting.split(b"\n")
                if len(rest) > limits.MCP_LINE_BYTES:
                    break
                waiting = rest
                for line in lines:
                    self._hand_over(loop, line.decode("utf-8", "replace"))
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
