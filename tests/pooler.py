"""pgbouncer in transaction mode, between the tests and their server, where it is installed.

`CREDENDA_TEST_POOLER=pgbouncer` sends every connection of the owner and of the service through it. It has few
connections to the server, so that the transactions of a client seldom have the same one.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.waiting import PATIENCE_SECONDS

_PORT: Final = 6432
_POLLED_SECONDS: Final = 0.02
_SETTINGS: Final = """
[databases]
* = host={server}
[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 400
max_db_connections = {size}
query_wait_timeout = 30
server_reset_query =
pidfile = {folder}/pid
logfile = {folder}/log
"""


@dataclass(slots=True)
class Pooler:
    """A running pgbouncer, reached through a socket in its folder."""

    folder: Path
    process: subprocess.Popen[bytes]
    port: int = _PORT

    def stop(self) -> None:
        """Stop it at once, and remove its files."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)


def find_pgbouncer() -> str | None:
    """Return the path of the program; None where it is not installed."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def start_pooler(server: Path, system_user: str | None, *, size: int = 8) -> Pooler:
    """Start one before the server whose socket is in a folder, with at most `size` connections to a database."""
    program = find_pgbouncer()
    assert program is not None, "pgbouncer is not installed"
    folder = Path(tempfile.mkdtemp(prefix="credenda-pooler-"))
    (folder / "users").write_text("".join(f'"{name}" ""\n' for name in ("credenda", "credenda_app")))
    (folder / "pgbouncer.ini").write_text(_SETTINGS.format(server=server, folder=folder, port=_PORT, size=size))
    if system_user is not None:
        for path in (folder, *folder.iterdir()):
            os.chown(path, pwd.getpwnam(system_user).pw_uid, -1)
    started = subprocess.Popen(
        [program, str(folder / "pgbouncer.ini")],
        user=system_user,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )
    socket = folder / f".s.PGSQL.{_PORT}"
    while not socket.exists():
        try:
            code = started.wait(timeout=_POLLED_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        raise RuntimeError(f"pgbouncer ended with {code}: {(folder / 'log').read_text()}")
    return Pooler(folder, started)
