"""Connections with bounds: on their number, on the time of a request's head, and on readers that do not read."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from credenda import limits

_BODY: Final = b'{"title":"the server has too many connections","status":503,"code":"unavailable","retryable":true}'
_REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
    b"Cache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
)


class BoundedConnection(H11Protocol):
    """A connection that is closed where its client is too slow; the base class waits for ever.

    A head has so many seconds from the first moment of a new connection, or from its first byte on a kept one. Where
    the client does not take what was written, the connection is cut, and with it what the server holds for it. A
    connection beyond the bound is answered with 503 and Retry-After when its request comes.
    """

    def __init__(self, *args: Any, **given: Any) -> None:  # noqa: ANN401 - those of the base class
        """Set no timer yet."""
        super().__init__(*args, **given)
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._is_refused = len(self.connections) > limits.HTTP_CONNECTIONS
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request."""
        if self._is_refused:
            self.transport.write(_REFUSAL)
            self.transport.close()
            return
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timers."""
        for timer in (self._head_timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait a bounded time for a client that does not read."""
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(limits.HTTP_SEND_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, and cut it where the last answer is never read."""
        super().timeout_keep_alive_handler()
        self._write_timer = self._write_timer or self.loop.call_later(limits.HTTP_SEND_SECONDS, self.transport.abort)

    def _watch_head(self) -> None:
        """Keep a timer for as long as the head of a request is awaited."""
        is_waiting = self.cycle is None or self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]
        if is_waiting and self._head_timer is None:
            self._head_timer = self.loop.call_later(limits.HTTP_HEAD_SECONDS, self.transport.abort)
        elif not is_waiting and self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
