"""A whole server in a thread of this process, with a real socket."""

from __future__ import annotations

import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from credenda.bootstrap import build_parts
from credenda.interfaces.server import process
from credenda.interfaces.server.address import Address
from tests.waiting import PATIENCE_SECONDS


class Running:
    """A server that answers at `url`."""

    def __init__(self, url: str) -> None:
        self.url = url

    def connect(self, receive_bytes: int = 0) -> socket.socket:
        host, port = self.url.removeprefix("http://").split(":")
        caller = socket.socket()
        if receive_bytes:
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        caller.settimeout(PATIENCE_SECONDS)
        caller.connect((host, int(port)))
        return caller


@contextmanager
def running(
    path: Path, patch: pytest.MonkeyPatch, *, workers: bool = False, tokens: bool = False, **settings: object
) -> Generator[Running]:
    """Serve a database of ana until the block ends."""
    made: list[process._Server] = []  # pyright: ignore[reportPrivateUsage] - to be told to end
    make = process._make_server  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - as above
    ready, urls = Event(), list[str]()

    def keep(*args: object) -> object:
        made.append(make(*args))  # type: ignore[arg-type]
        return made[-1]

    def note(url: str) -> None:
        urls.append(url)
        ready.set()

    patch.setattr(process, "_make_server", keep)
    parts = build_parts(path, user="ana", settings={"embedder": "none", **settings})
    plan = process.Plan(address=Address(port=0, tokens=tokens), workers=workers)
    thread = Thread(target=process.serve, args=(parts, plan), kwargs={"ready": note})
    thread.start()
    try:
        assert ready.wait(PATIENCE_SECONDS), "the server does not listen"
        yield Running(urls[0])
    finally:
        made[-1].should_exit = True
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
