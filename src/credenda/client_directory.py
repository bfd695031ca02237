"""The verbs of `mem.directory` and `mem.items`. No logic lives here."""

from __future__ import annotations

from collections.abc import Sequence

from credenda.model.browse import DirectoryEntry, DirectoryMatch, DirectoryPage
from credenda.model.core import ANY_VERSION, Item, ItemFilter, ItemRemoval
from credenda.runtime import Parts
from credenda.services import directory, items
from credenda.services.items import Words
from credenda.write.forget.item_words import sweep_items


class Directory:
    """The memory as a directory of pages: `mem.directory`.

    `MEMORY.md`, `index.md`, `consolidated/` and `archive/` show beliefs and messages; an edit there corrects, forgets
    or remembers. Below `@2026-03-01/` they are as they were believed at the end of that day. Any other path
    is a page of a program: each line with a statement is a memory. Names are separated by `/`.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def ls(self, path: str = "", *, depth: int = 1) -> Sequence[DirectoryEntry]:
        """List the pages and folders below a path, `depth` levels deep; raise `NotFound` for an unknown path."""
        return directory.list_entries(self._parts, path, depth=depth)

    def read(self, path: str) -> DirectoryPage:
        """Return a page with its version; raise `NotFound` for an unknown path, `Invalid` for a bad one."""
        return directory.read_page(self._parts, path)

    def grep(
        self, pattern: str, path: str = "", *, ignore_case: bool = True, regex: bool = False, limit: int = 100
    ) -> Sequence[DirectoryMatch]:
        """Return at most `limit` lines below a path that contain a text, or with `regex` match an expression."""
        return directory.search_lines(
            self._parts, pattern, path=path, ignore_case=ignore_case, regex=regex, limit=limit
        )

    def write(self, path: str, text: str, *, version: str | None = None) -> DirectoryPage:
        """Write a page, and return it as it stands then.

        `version` is the one that was read, "" for a page that must be new, None for any; with another one it raises
        `Conflict`. Raises `Invalid` for a line that was deleted from the memory or has orders to its reader, and for a
        page that cannot be changed, `LimitExceeded` for one that is too long. Then nothing changes.
        """
        return directory.write_text(self._parts, path, text, version=version)

    def remove(self, path: str, *, version: str | None = None) -> None:
        """Remove a page, or a folder with its pages: its statements are forgotten, which `restore` takes back."""
        directory.remove_page(self._parts, path, version=version)

    def move(self, old_path: str, new_path: str) -> None:
        """Move a page, or a folder with its pages; raises `Conflict` if the new path is in use."""
        directory.move_page(self._parts, old_path, new_path)


class Items:
    """Values that a program keeps beside the beliefs, under a space and a key: `mem.items`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def put(
        self,
        space: str,
        key: str,
        value: object,
        *,
        words: Words | None = None,
        ttl_us: int | None = None,
        version: int = ANY_VERSION,
    ) -> Item:
        """Store a JSON value; its words become a memory with the trust of a model's text, in place of the old value's.

        It expires after `ttl_us` microseconds, and its words with it, unless they `stay` until a sweep. Raises
        `Conflict` for words that were deleted from the memory, and unless `version` is the present one.
        """
        item = Item(space=space, key=key, value=items.dump_value(value), version=version, updated_us=0)
        return items.put_item(self._parts, item, words, ttl_us=ttl_us)

    def append(self, space: str, entries: Sequence[tuple[object, str | None]]) -> None:
        """Add values under the next numbers of a space, each with the id of the event that has its words."""
        items.append_items(self._parts, space, entries)

    def get(self, space: str, key: str) -> Item | None:
        """Return an item; None if there is none, or if its memory was forgotten."""
        found = items.find_items(self._parts, ItemFilter(space=space, key=key))
        return found[0] if found else None

    def find(self, wanted: ItemFilter) -> Sequence[Item]:
        """Return the items that match a filter."""
        return items.find_items(self._parts, wanted)

    def renew(self, renewed: Sequence[tuple[Item, int]]) -> None:
        """Let items that were read expire so many microseconds from now, but for those that were written since."""
        items.renew_items(self._parts, renewed)

    def sweep(self, space: str = "") -> int:
        """Delete expired items of the spaces that begin with a name, with their words; return how many there were.

        Background workers do the same with all items. Raises `Conflict` under a legal hold.
        """
        return sweep_items(self._parts, space)

    def remove(self, space: str, key: str | None = None, *, version: int = ANY_VERSION) -> Sequence[Item]:
        """Remove an item, or all items of a space, and forget their words; return the items that were there."""
        return items.remove_items(self._parts, ItemRemoval(space=space, key=key, version=version))
