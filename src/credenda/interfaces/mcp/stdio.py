"""MCP over standard input and output: one client, one tenant, one open memory, until end of input or a signal.

Standard output belongs to the protocol; meanwhile its file descriptor points to standard error.
"""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from mcp.server.stdio import stdio_server

from credenda.errors import Unavailable
from credenda.interfaces.authorization import use_as_owner
from credenda.interfaces.hook_engine.filing import leave_work
from credenda.interfaces.hook_engine.listener import listen_to_hooks
from credenda.interfaces.mcp.server import build_server
from credenda.interfaces.mcp.stdio_transport import Answers, Calls, Lines
from credenda.operations.mcp_tools import Toolset

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from credenda.client import Credenda

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
