"""A shim below SQLite: every write, truncation, flush and deletion of a file passes an observer first.

The shim is a copy of the default VFS with other functions for opening and deleting; each file that is opened gets a
copy of its own methods with other functions for writing. Reading, locking and shared memory stay as they are. While the
shim is installed it is the default for every new connection of the process.
"""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_void_p
from threading import RLock
from typing import Any, Final, Protocol

from credenda.bench.crash.sqlite_library import (
    Closed,
    Deleted,
    IoMethods,
    Opened,
    Synced,
    Truncated,
    Vfs,
    Written,
    find_library,
)

__all__ = ["DiskObserver", "install_shim"]

_IOERR: Final = 10
_keep_alive: Final[list[object]] = []
"""Functions and structures that SQLite may call until the process ends."""


class DiskObserver(Protocol):
    """Learns of every operation before it happens; an answer other than None is returned to SQLite in its place."""

    def opened(self, path: str) -> None:
        """A file was opened, and perhaps created."""
        ...

    def write(self, path: str, offset: int, data: bytes) -> int | None:
        """Bytes are about to be written."""
        ...

    def truncate(self, path: str, size: int) -> int | None:
        """A file is about to be cut to this size."""
        ...

    def sync(self, path: str) -> int | None:
        """A file is about to be flushed."""
        ...

    def delete(self, path: str) -> int | None:
        """A file is about to be deleted."""
        ...


class _Shim:
    """The functions that SQLite calls."""

    def __init__(self, default: Vfs, observer: DiskObserver) -> None:
        self._default = default
        self._observer = observer
        self._lock = RLock()
        self._files: dict[int, tuple[str, IoMethods]] = {}
        self._tables: dict[int, IoMethods] = {}
        self._calls = (
            Closed(self._close),
            Written(self._write),
            Truncated(self._truncate),
            Synced(self._sync),
        )
        self.vfs = Vfs()
        ctypes.memmove(byref(self.vfs), byref(default), ctypes.sizeof(Vfs))
        self.vfs.name = b"credenda-shim"
        self.vfs.open = Opened(self._open)
        self.vfs.delete = Deleted(self._delete)

    def _open(  # noqa: PLR0917 - the signature of SQLite
        self, vfs: int, name: int | None, file: int, flags: int, flags_out: int | None
    ) -> int:
        result = int(self._default.open(vfs, name, file, flags, flags_out))
        methods = c_void_p.from_address(file)
        if result == 0 and name and methods.value:
            path = ctypes.string_at(name).decode(errors="surrogateescape")
            with self._lock:
                self._files[file] = (path, IoMethods.from_address(methods.value))
            methods.value = ctypes.addressof(self._table(methods.value))
            self._observer.opened(path)
        return result

    def _table(self, address: int) -> IoMethods:
        """Return the copy of a table of methods in which ours replace four."""
        with self._lock:
            table = self._tables.get(address)
            if table is None:
                table = IoMethods()
                ctypes.memmove(byref(table), address, ctypes.sizeof(IoMethods))
                table.close, table.write, table.truncate, table.sync = self._calls
                self._tables[address] = table
                _keep_alive.append(table)
            return table

    def _close(self, file: int) -> int:
        with self._lock:
            _, own = self._files.pop(file)
        c_void_p.from_address(file).value = ctypes.addressof(own)
        return int(own.close(file))

    def _write(self, file: int, data: int, size: int, offset: int) -> int:
        path, own = self._files[file]
        answer = self._observer.write(path, offset, ctypes.string_at(data, size))
        return int(own.write(file, data, size, offset)) if answer is None else answer

    def _truncate(self, file: int, size: int) -> int:
        path, own = self._files[file]
        answer = self._observer.truncate(path, size)
        return int(own.truncate(file, size)) if answer is None else answer

    def _sync(self, file: int, flags: int) -> int:
        path, own = self._files[file]
        answer = self._observer.sync(path)
        return int(own.sync(file, flags)) if answer is None else answer

    def _delete(self, vfs: int, name: bytes, sync_folder: int) -> int:
        answer = self._observer.delete(name.decode(errors="surrogateescape"))
        return int(self._default.delete(vfs, name, sync_folder)) if answer is None else answer


@contextmanager
def install_shim(observer: DiskObserver) -> Generator[None]:
    """Pass the file operations of every connection that opens inside the block by an observer.

    Connections must also be closed inside it. Raises `Unavailable` where this Python's SQLite cannot be reached.
    """
    library: Any = find_library()
    default: Any = library.sqlite3_vfs_find(c_char_p(None))
    shim = _Shim(default.contents, observer)
    _keep_alive.append(shim)
    pointer = POINTER(Vfs)(shim.vfs)
    library.sqlite3_vfs_register(pointer, 1)
    try:
        yield
    finally:
        library.sqlite3_vfs_unregister(pointer)
        library.sqlite3_vfs_register(default, 1)
