"""The directory of a memory as the folder of the tool: nothing lies on disk, and every line is a memory."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING

from credenda.errors import Conflict, CredendaError, NotFound
from credenda.interfaces.anthropic_memory.folder import Item, Kind, Names
from credenda.interfaces.anthropic_memory.paths import Refused

if TYPE_CHECKING:
    from credenda.client import Credenda

__all__ = ["DirectoryFolder"]


class DirectoryFolder:
    """A folder of pages in a memory. A page that another process wrote meanwhile is not overwritten."""

    def __init__(self, memory: Credenda) -> None:
        """Bind an open memory."""
        self._directory = memory.directory
        self._lock = RLock()
        self._versions: dict[Names, str] = {}

    @contextmanager
    def locked(self) -> Generator[None]:
        """Exclude other commands of this folder object."""
        with self._lock, _refuse():
            yield

    def kind(self, names: Names) -> Kind:
        """Return the kind of a path."""
        if not names:
            return Kind(folder=True)
        try:
            found = self._directory.ls("/".join(names))
        except NotFound:
            return Kind()
        if len(found) == 1 and not found[0].folder and found[0].path == "/".join(names):
            return Kind(file=True, size=found[0].size)
        return Kind(folder=True, size=sum(one.size for one in found))

    def items(self, names: Names) -> list[Item]:
        """List a folder by name."""
        found = self._directory.ls("/".join(names))
        return [
            Item(one.path.rpartition("/")[2], Kind(folder=one.folder, file=not one.folder, size=one.size))
            for one in found
        ]

    def read(self, names: Names) -> str:
        """Read a page."""
        page = self._directory.read("/".join(names))
        self._versions[tuple(names)] = page.version
        return page.text

    def write(self, names: Names, text: str, *, new: bool = False) -> bool:
        """Write a page in the version that was read; with `new`, return False if the path is taken."""
        try:
            self._directory.write("/".join(names), text, version="" if new else self._versions.get(tuple(names)))
        except Conflict:
            if new:
                return False
            raise
        return True

    def remove(self, names: Names) -> None:
        """Remove a page, or a folder with its pages."""
        self._directory.remove("/".join(names))

    def move(self, old: Names, new: Names) -> bool:
        """Rename a page or folder; return False if the new path is taken."""
        try:
            self._directory.move("/".join(old), "/".join(new))
        except Conflict:
            return False
        return True


@contextmanager
def _refuse() -> Generator[None]:
    """Turn an error of the memory into a refusal for the model."""
    try:
        yield
    except CredendaError as error:
        raise Refused(f"{error.what}: {error.why}" if error.why else error.what) from error
