"""A server under load in a process of its own, compared with the library on the same disk, and killed in the middle."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Timer
from typing import IO, Any, Final, cast
from urllib.parse import urlsplit

from benchmarks.serve_load import Load, load_library, load_server, wait_until_read
from benchmarks.stats import Spread, spread_ms
from credenda import Credenda, NotFound
from credenda.bootstrap import build_parts
from credenda.interfaces.authorization import SCOPES
from credenda.services.access import issue_token

_ROUNDS: Final = 3
"""The server and the library take turns, so that both meet the same disturbances of a shared machine."""
_STORES: Final = ("store (REST)", "store (MCP)")
_AIM: Final = 2.0
_SETTLE_SECONDS: Final = 600.0


def run_serve(
    clients: int,
    for_seconds: float,
    *,
    users: int,
    pace: float,
    embedder: str,
    note: Callable[[str], None],
    kill_seconds: float = 10.0,
) -> dict[str, Any]:
    """Load a server and the library in turns, and then a server that is killed in the middle.

    `kept` is whether there was no error beyond declared limits and the kill lost nothing that was acknowledged; `met`
    is whether the 99th percentile of stores over HTTP is at most twice that of the library.
    """
    began_load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="credenda-serve-") as name:
        folder = Path(name)
        served, local, rss = _take_turns(
            folder, clients=clients, for_seconds=for_seconds, users=users, pace=pace, embedder=embedder, note=note
        )
        note("a server that is killed in the middle")
        killed, lost, sound = _kill_in_the_middle(
            folder / "killed.db", clients=clients, for_seconds=kill_seconds, users=users, embedder=embedder
        )
    figures = {kind: spread_ms(times) for kind, times in sorted(served.latencies.items())}
    library = {kind: spread_ms(times) for kind, times in sorted(local.latencies.items())}
    ratios = {kind: _compare(figures[kind], library["store"]) for kind in _STORES if kind in figures}
    return {
        "clients": clients,
        "seconds": for_seconds,
        "users": users,
        "pace": pace,
        "embedder": embedder,
        "cpus": os.cpu_count(),
        "load_before": round(began_load, 1),
        "load_after": round(os.getloadavg()[0], 1),
        "http": figures,
        "library": library,
        "ratios": ratios,
        "limited": served.limited,
        "errors": dict(served.statuses),
        "rss_mb": rss,
        "kill": {"acknowledged": len(killed.acknowledged), "lost": lost, "doctor_ok": sound},
        "kept": bool(figures) and not served.statuses and not lost and sound,
        "met": bool(ratios) and all(one["p99"] <= _AIM for one in ratios.values()),
    }


def _take_turns(
    folder: Path,
    *,
    clients: int,
    for_seconds: float,
    users: int,
    pace: float,
    embedder: str,
    note: Callable[[str], None],
) -> tuple[Load, Load, dict[str, float]]:
    served, local = Load(), Load()
    with ExitStack() as opened:
        tokens = _issue_tokens(folder / "served.db", users, embedder)
        server = opened.enter_context(_serving(folder / "served.db", embedder))
        first = opened.enter_context(Credenda.open(folder / "library.db", user="user0", embedder=embedder))
        memories = [first, *(opened.enter_context(first.for_user(f"user{number}")) for number in range(1, users))]
        warm: dict[str, Any] = {"clients": clients, "for_seconds": 2.0, "pace": 1.0, "seed": 9_000}
        load_server(server.address, tokens, **warm)
        load_library(memories, **warm)
        for memory in memories:
            memory.settle(_SETTLE_SECONDS)
        wait_until_read(server.address, tokens[0])
        rss = {"start": server.read_rss_mb()}
        for turn in range(_ROUNDS):
            given = {"clients": clients, "for_seconds": for_seconds / _ROUNDS, "pace": pace, "seed": turn * 1_000}
            note(f"round {turn + 1} of {_ROUNDS}: the server")
            _add(served, load_server(server.address, tokens, **cast("dict[str, Any]", given)))
            rss[f"round {turn + 1}"] = server.read_rss_mb()
            note(f"round {turn + 1} of {_ROUNDS}: the library")
            _add(local, load_library(memories, **cast("dict[str, Any]", given)))
    return served, local, rss


def _compare(served: Spread, local: Spread) -> dict[str, float]:
    """Return by how much a server is slower than the library."""
    return {
        "median": round(served["median_ms"] / local["median_ms"], 2),
        "p99": round(served["p99_ms"] / local["p99_ms"], 2),
    }


def _add(total: Load, load: Load) -> None:
    for kind, times in load.latencies.items():
        total.latencies[kind] += times
    total.statuses += load.statuses
    total.limited += load.limited
    total.acknowledged += load.acknowledged


def _kill_in_the_middle(
    path: Path, *, clients: int, for_seconds: float, users: int, embedder: str
) -> tuple[Load, int, bool]:
    """Return what was acknowledged, how many of these events are lost, and whether the database is sound."""
    tokens = _issue_tokens(path, users, embedder)
    with _serving(path, embedder) as server:
        timer = Timer(for_seconds / 2, server.child.kill)
        timer.start()
        load = load_server(server.address, tokens, clients=clients, for_seconds=for_seconds, pace=0.0, seed=7)
        timer.cancel()
    with _serving(path, embedder):
        pass  # a restart takes over what the killed one left
    lost, sound = 0, True
    with Credenda.open(path, user="user0", embedder=embedder, workers=False) as first, ExitStack() as opened:
        known = set[str]()
        for number in range(users):
            memory = first if not number else opened.enter_context(first.for_user(f"user{number}", workers=False))
            memory.settle(_SETTLE_SECONDS)
            known |= {event.event.id for one in load.acknowledged if (event := _find_event(memory, one))}
            sound = sound and memory.data.doctor().ok
        lost = len(set(load.acknowledged) - known)
    return load, lost, sound


def _find_event(memory: Credenda, event_id: str) -> Any:  # noqa: ANN401 - the details of an event
    try:
        return memory.event(event_id)
    except NotFound:
        return None


class _Server:
    """A server in a process of its own."""

    def __init__(self, path: Path, embedder: str) -> None:
        line = [sys.executable, "-m", "credenda", "--db", str(path), "serve", "--port", "0", "--auth", "token"]
        environment = {**os.environ, "CREDENDA_EMBEDDER": embedder}
        self.child = subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=environment)  # noqa: S603 - ourselves
        told = cast("IO[str]", self.child.stderr)
        found = re.search(r"http://[0-9.]+:[0-9]+", told.readline())
        if found is None:
            raise RuntimeError(told.read())
        url = urlsplit(found[0])
        self.address = str(url.hostname), int(url.port or 0)

    def read_rss_mb(self) -> float:
        """Return the memory in use; 0 where the system does not tell."""
        try:
            lines = Path(f"/proc/{self.child.pid}/status").read_text("utf-8").splitlines()
        except OSError:
            return 0.0
        return next((round(int(line.split()[1]) / 1_024, 1) for line in lines if line.startswith("VmRSS")), 0.0)

    def end(self) -> None:
        """End it gracefully, unless it was killed."""
        self.child.send_signal(signal.SIGTERM)
        self.child.communicate(timeout=60)


@contextmanager
def _serving(path: Path, embedder: str) -> Generator[_Server]:
    server = _Server(path, embedder)
    try:
        yield server
    finally:
        server.end()


def _issue_tokens(path: Path, users: int, embedder: str) -> list[str]:
    settings: Mapping[str, object] = {"embedder": embedder}
    parts = build_parts(path, user="user0", settings=settings)
    try:
        found: list[str] = []
        for number in range(users):
            view = parts.for_user(f"user{number}")
            found.append(issue_token(view, "load", scopes=list(SCOPES), allowed=SCOPES, expires="never").token)
            view.release()
        return found
    finally:
        parts.release()
