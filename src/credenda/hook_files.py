"""The files beside a database that hooks of agents share with the processes that hold the memory open.

Everything of a user lies in one folder, `DATABASE.hooks/HASH` with the hash of the user's name, so that erasing a user
removes it as a whole. A hook is a process for each prompt, so this imports small modules of the standard library alone.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

from credenda.lazy import import_on_use

if TYPE_CHECKING:
    import hashlib
else:
    hashlib = import_on_use("hashlib")

_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_TABLE_BYTES: Final = 4_194_304
_SERVER: Final = "postgresql:"
_SOCKET_BYTES: Final = 100
"""A path of a socket of at most so many bytes works on every system."""


class Places(NamedTuple):
    """Paths: messages that wait to be filed, sessions, the log, the socket of a running engine and its lock."""

    folder: str
    waiting: str
    sessions: str
    log: str
    socket: str
    lock: str


def find_places(database: str, user: str) -> Places:
    """Return the places of a user's hooks; creates nothing."""
    name = hash_bytes(user.encode("utf-8", "surrogateescape"))[:16]
    # Beside the database's file; for an address or its name in the user's data.
    base_name = name_server(database) if is_server(database) else database
    if not base_name.startswith(_SERVER):
        base = f"{os.path.abspath(database)}.hooks"
    else:
        data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        base = os.path.join(data, "credenda", f"{base_name.removeprefix(_SERVER)[:16]}.hooks")
    folder = os.path.join(base, name)
    return Places(
        folder=folder,
        waiting=os.path.join(folder, "waiting"),
        sessions=os.path.join(folder, "sessions"),
        log=os.path.join(folder, "log"),
        socket=_find_socket(folder),
        lock=os.path.join(folder, "lock"),
    )


def hash_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes in hexadecimal, from the interpreter's own module: `hashlib` loads OpenSSL.

    That costs a hook a fifth of its time.
    """
    for name in ("_sha2", "_sha256"):  # of Python 3.12 and later, and before
        with suppress(ImportError):
            return str(import_module(name).sha256(data).hexdigest())
    return hashlib.sha256(data).hexdigest()


def find_mark(places: Places, host: str) -> str:
    """Return the path of the mark that hooks of a host set at each call: its time tells when one ran last."""
    return os.path.join(places.folder, f"ran-{host}")


def find_late_mark(places: Places) -> str:
    """Return the path of the mark that a hook sets whose prompt got no answer in time."""
    return os.path.join(places.folder, "late")


def is_server(database: str) -> bool:
    """Return whether a database is the address of a server; anything else is the path of a file."""
    return database.startswith(("postgresql://", "postgres://"))


def name_server(address: str) -> str:
    """Return the name of a database on a server, `postgresql:HASH`; it tells neither host nor password."""
    return f"{_SERVER}{hashlib.blake2b(address.encode('utf-8', 'surrogateescape'), digest_size=16).hexdigest()}"


def _find_socket(folder: str) -> str:
    """Return the path of the socket: in the folder, or where that is too long in this system user's own folder."""
    path = os.path.join(folder, "engine")
    if sys.platform == "win32" or len(os.fsencode(path)) <= _SOCKET_BYTES:
        return path
    name = hash_bytes(os.fsencode(folder))[:32]
    return os.path.join("/tmp", f"credenda-{os.getuid()}", name)  # noqa: S108 # the listener asks whose folder it is


def create_private(folder: str) -> None:
    """Create a folder and its missing parents for their owner only, which `os.makedirs` does for the last one alone."""
    if folder and not os.path.isdir(folder):
        create_private(os.path.dirname(folder))
        with suppress(FileExistsError):  # another hook did
            os.mkdir(folder, _FOLDER_MODE)


def write_durably(folder: str, name: str, data: bytes, *, flush: bool = True) -> None:
    """Write a file under a name at once; with `flush` it is on disk when this returns.

    The file appears complete or not at all, and only its owner may read it.
    """
    create_private(folder)
    place = os.path.join(folder, name)
    draft = f"{place}.{os.getpid()}.new"
    number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE_MODE)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(number, view) :]
        if flush:
            os.fsync(number)
    finally:
        os.close(number)
    os.replace(draft, place)
    if flush and os.name != "nt":
        above = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(above)
        finally:
            os.close(above)


def list_waiting(places: Places) -> list[str]:
    """Return the paths of the messages that wait, oldest first; the name of each begins with its microsecond."""
    try:
        names = sorted(name for name in os.listdir(places.waiting) if name.endswith(".json"))
    except OSError:
        return []
    return [os.path.join(places.waiting, name) for name in names]


def load_table(path: str) -> dict[str, object]:
    """Return the JSON object of a file; empty for a missing or damaged file."""
    try:
        with open(path, "rb") as file:
            told: object = json.loads(file.read(_TABLE_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def is_recent(mark: str, seconds: float) -> bool:
    """Return whether a mark was set less than some seconds ago; a mark from the future says nothing."""
    try:
        return abs(time.time() - os.stat(mark).st_mtime) < seconds
    except OSError:
        return False


def set_mark(mark: str) -> None:
    """Create an empty file, or set its time to now. Raises OSError."""
    create_private(os.path.dirname(mark))
    os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE_MODE))


# The log of hooks: one line a call, without any words, which `credenda doctor` reads.


_BYTES: Final = 65_536


def add_line(places: Places, line: Mapping[str, object]) -> None:
    """Add a line. Raises OSError."""
    create_private(places.folder)
    told = {"at": int(time.time()), **line}
    number = os.open(places.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(number, json.dumps(told, separators=(",", ":")).encode() + b"\n")
        size = os.fstat(number).st_size
    finally:
        os.close(number)
    if size > _BYTES:
        with open(places.log, "rb") as file:
            kept = file.read()[-_BYTES // 2 :]
        write_durably(places.folder, "log", kept[kept.find(b"\n") + 1 :], flush=False)


def read_lines(places: Places) -> list[dict[str, object]]:
    """Return the lines, oldest first; damaged lines are left out."""
    try:
        with open(places.log, "rb") as file:
            data = file.read(2 * _BYTES)
    except OSError:
        return []
    found: list[dict[str, object]] = []
    for line in data.splitlines():
        try:
            told: object = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict):
            found.append(told)  # pyright: ignore[reportUnknownArgumentType]
    return found


def remove_hook_files(database: str, user: str) -> None:
    """Remove a user's waiting messages, sessions and log; an engine that listens there goes on without its socket.

    Raises OSError if a message stays, because a removal must not be said to be complete then.
    """
    import shutil  # a hook, which is a process for each prompt, has no use for it

    places = find_places(database, user)
    if not os.path.isdir(places.folder):
        return
    shutil.rmtree(places.waiting, ignore_errors=True)
    shutil.rmtree(places.folder, ignore_errors=True)
    if os.path.isdir(places.waiting):
        for name in os.listdir(places.waiting):
            os.unlink(os.path.join(places.waiting, name))
    with suppress(OSError):
        os.rmdir(os.path.dirname(places.folder))
