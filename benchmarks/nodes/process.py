"""A server or a worker as a process of its own, started again after it was killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event, Lock, Thread
from typing import Final

SERVER: Final = ("serve", "--no-workers", "--port", "0", "--auth", "token")
WORKER: Final = ("worker", "--all-users")
_LISTENING: Final = re.compile(rb"Listening on http://[^:]+:(\d+)")
_STOP_SECONDS: Final = 30.0
_TOLD: Final = 2_000
_USED: Final = slice(11, 13)
"""Processor time of a process in `/proc/PID/stat` after its name, in ticks."""


def read_processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used, from Linux (`/proc/PID/stat`, see proc(5)); 0 elsewhere."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, told[_USED])) / os.sysconf("SC_CLK_TCK")


class Node:
    """One `credenda` process on a database. `port` is 0 until a server answers."""

    def __init__(self, target: str, command: Sequence[str], settings: Mapping[str, str]) -> None:
        """Start the process; `settings` are environment variables."""
        self.command = command
        self.port = 0
        self.kills = 0
        self.problems: list[str] = []
        self._arguments = [sys.executable, "-m", "credenda", "--db", target, *command]
        self._environment = {**os.environ, **settings}
        self._lock = Lock()
        self._ready = Event()
        self._start()

    def _start(self) -> None:
        self.port = 0
        self._ready.clear()
        self._errors = TemporaryFile()  # noqa: SIM115 - read when the process has ended
        self._process = subprocess.Popen(  # noqa: S603 - this very program
            self._arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self._environment
        )
        self._reader = Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        """Keep what the process says, and note the port of a server and the readiness of a worker."""
        assert process.stderr is not None  # noqa: S101 - PIPE was asked for
        with process.stderr as lines:
            for line in lines:
                self._errors.write(line)
                found = _LISTENING.search(line)
                if found:
                    self.port = int(found[1])
                self._ready.set()
        self._ready.set()

    def read_used(self) -> float:
        """Return the processor time of the process in seconds; 0 where the system does not tell."""
        return read_processor_seconds(self._process.pid)

    def wait_ready(self, timeout_seconds: float) -> bool:
        """Wait until the process works; return whether it does."""
        return self._ready.wait(timeout_seconds) and self._process.poll() is None

    def kill(self) -> None:
        """Kill the process without a warning, and start another in its place."""
        with self._lock:
            self._process.kill()
            self._process.wait()
            self._note_errors("was killed", killed=True)
            self.kills += 1
            self._start()

    def stop(self) -> None:
        """Ask the process to end, and note when it does not end well."""
        with self._lock:
            self._process.send_signal(signal.SIGTERM)
            try:
                code = self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                code = self._process.wait()
            self._note_errors(f"ended with {code}", killed=not code)

    def _note_errors(self, how: str, *, killed: bool) -> None:
        self._reader.join()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace")
        self._errors.close()
        if "Traceback" in said or not killed:
            self.problems.append(f"{self.command[0]} {how}: {said[-_TOLD:]}")
