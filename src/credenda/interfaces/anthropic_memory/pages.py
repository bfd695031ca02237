"""The six commands of the tool `memory_20250818` over pages, with the messages of the reference.

Messages match the reference implementation in Anthropic's library (2.12). In addition, ambiguous names are refused,
sizes are bounded, and Credenda's own files are read-only. A `Taker` stores every text before it is written to disk, and
may refuse it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from credenda import limits
from credenda.errors import Invalid
from credenda.interfaces.anthropic_memory.folder import Folder, Item, Kind, encode_text
from credenda.interfaces.anthropic_memory.paths import ROOT, Refused, is_kept, split_path

__all__ = ["PageFolder", "Pages", "Taken", "Taker"]

_NUMBER_WIDTH: Final = 6
_LINES_MAX: Final = 999_999
_DEPTH: Final = 2
_AROUND: Final = 2
"""Lines shown before and after a change."""
_SIZES: Final = "BKMG"
_RANGE: Final = 2
Names = tuple[str, ...]


class Taken(Protocol):
    """A page that was stored in the memory, before it is written to disk."""

    @property
    def text(self) -> str:
        """Return the text to write: secrets masked, deleted statements left out."""
        ...

    def finish(self) -> None:
        """Call after the page was written: forget the memories of removed lines."""
        ...

    def undo(self) -> None:
        """Call when the page could not be written: forget its new memories."""
        ...


class Taker(Protocol):
    """Stores changed pages in a memory. All methods are called while the folder is locked."""

    def take(self, path: str, text: str, *, writing: bool) -> Taken:
        """Store a page: before it is written (`writing`; raises `Refused` for unfit lines), or as it was found."""
        ...

    def drop(self, path: str) -> None:
        """Forget the lines of a removed page, or of all pages of a removed folder."""
        ...

    def move(self, old: str, new: str) -> None:
        """Note the new name of a page or folder."""
        ...


@dataclass(frozen=True, slots=True)
class _AsItIs:
    """A page without a memory behind it."""

    text: str

    def finish(self) -> None:
        """Do nothing."""

    def undo(self) -> None:
        """Do nothing."""


class PageFolder(Protocol):
    """A folder of pages, on disk or in the directory of a memory; its methods raise `Refused`."""

    def locked(self) -> AbstractContextManager[None]:
        """Exclude other commands."""
        ...

    def kind(self, names: Names) -> Kind:
        """Return the kind of a path."""
        ...

    def items(self, names: Names) -> list[Item]:
        """List a folder by name."""
        ...

    def read(self, names: Names) -> str:
        """Read a page."""
        ...

    def write(self, names: Names, text: str, *, new: bool = False) -> bool:
        """Write a page; with `new`, return False if the page exists."""
        ...

    def remove(self, names: Names) -> None:
        """Remove a page, or a folder with its contents."""
        ...

    def move(self, old: Names, new: Names) -> bool:
        """Rename a page or folder; return False if the new name exists."""
        ...


class Pages:
    """Pages below `/memories`. Safe to use from several threads and processes."""

    def __init__(self, folder: str | Path | PageFolder, *, taker: Taker | None = None, kept: bool = True) -> None:
        """Open a folder; with `kept`, Credenda's own files in it are read-only."""
        self._folder: PageFolder = Folder(folder) if isinstance(folder, str | Path) else folder
        self._taker = taker
        self._kept = kept

    @property
    def folder(self) -> Folder:
        """The folder on disk; raises `Invalid` for pages in a memory."""
        if isinstance(self._folder, Folder):
            return self._folder
        raise Invalid("these pages are in no folder", why="they are in a memory", fix="use its directory")

    def version(self, path: str) -> str:
        """Return the version of a page: the SHA-256 of its text, in hex."""
        with self._folder.locked():
            return _hash_version(self._text(path, split_path(path)))

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """Show a folder two levels deep, or a page with line numbers."""
        names = split_path(path)
        with self._folder.locked():
            kind = self._folder.kind(names)
            if kind.folder:
                return self._listing(path, names, kind)
            if not kind.file and not kind.other:
                raise Refused(f"The path {path} does not exist. Please provide a valid path.")
            lines = self._text(path, names).split("\n")
        if len(lines) > _LINES_MAX:
            raise Refused(f"File {path} exceeds maximum line limit of 999,999 lines.")
        first, shown = 1, lines
        if view_range and len(view_range) == _RANGE:
            start = max(1, view_range[0]) - 1
            first, shown = start + 1, lines[start : len(lines) if view_range[1] == -1 else view_range[1]]
        return f"Here's the content of {path} with line numbers:\n{_number_lines(shown, first)}"

    def _listing(self, path: str, names: Names, kind: Kind) -> str:
        rows = [f"{_format_size(kind.size)}\t{path}", *self._rows(path, names, 1)]
        head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        return "\n".join([head, *rows])

    def _rows(self, shown: str, names: Names, depth: int) -> list[str]:
        rows: list[str] = []
        for name, kind in self._folder.items(names):
            if kind.folder:
                rows.append(f"{_format_size(kind.size)}\t{shown}/{name}/")
                rows += self._rows(f"{shown}/{name}", (*names, name), depth + 1) if depth < _DEPTH else []
            elif kind.file:
                rows.append(f"{_format_size(kind.size)}\t{shown}/{name}")
        return rows

    def create(self, path: str, file_text: str) -> str:
        """Create a page; never overwrite an existing page."""
        names = self._writable(path)
        with self._folder.locked():
            kind = self._folder.kind(names)
            if kind != Kind():
                raise Refused(f"File {path} already exists")
            if not self._write(names, file_text, new=True):
                raise Refused(f"File {path} already exists")
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str = "", *, version: str | None = None) -> str:
        """Replace a text that occurs once; if `version` is given, the page must still have that version."""
        names = self._writable(path)
        with self._folder.locked():
            content = self._page(path, names, version)
            count = content.count(old_str)
            if count == 0:
                raise Refused(f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.")
            if count > 1:
                raise Refused(
                    f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: "
                    f"{_find_lines(content, old_str)}. Please ensure it is unique"
                )
            self._write(names, content.replace(old_str, new_str))
            text = self._folder.read(names)
        lines, changed = text.split("\n"), content[: content.find(old_str)].count("\n")
        first = max(0, changed - _AROUND)
        around = lines[first : changed + _AROUND + 1]
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return f"{head}\n{_number_lines(around, first + 1)}"

    def insert(self, path: str, insert_line: int, insert_text: str, *, version: str | None = None) -> str:
        """Insert a text after a line; line 0 is the beginning."""
        names = self._writable(path)
        with self._folder.locked():
            lines = self._page(path, names, version).split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= insert_line <= len(lines):
                within = f"It should be within the range [0, {len(lines)}]."
                raise Refused(f"Invalid `insert_line` parameter: {insert_line}. {within}")
            lines.insert(insert_line, insert_text.rstrip("\n"))
            text = "\n".join(lines)
            text = text if text.endswith("\n") else f"{text}\n"
            self._write(names, text)
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Delete a page, or a folder with all its pages."""
        names = split_path(path)
        if not names:
            raise Refused(f"Cannot delete the {ROOT} directory itself")
        self._writable(path)
        with self._folder.locked():
            kind = self._folder.kind(names)
            if not (kind.file or kind.folder):
                raise Refused(f"The path {path} does not exist")
            self._folder.remove(names)
            self._dropped(names)
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Rename a page or folder; never overwrite."""
        old, new = split_path(old_path), split_path(new_path)
        if not old:
            raise Refused(f"Cannot rename the {ROOT} directory itself")
        if not new:
            raise Refused(f"The destination {new_path} already exists")
        self._writable(old_path)
        self._writable(new_path)
        with self._folder.locked():
            if self._folder.kind(new) != Kind():
                raise Refused(f"The destination {new_path} already exists")
            kind = self._folder.kind(old)
            if not (kind.file or kind.folder):
                raise Refused(f"The path {old_path} does not exist")
            if not self._folder.move(old, new):
                raise Refused(f"The destination {new_path} already exists")
            if self._taker is not None:
                self._taker.move(_join_path(old), _join_path(new))
        return f"Successfully renamed {old_path} to {new_path}"

    def clear_all_memory(self) -> str:
        """Delete every page that a model may write."""
        with self._folder.locked():
            for name, _ in self._folder.items(()):
                if not (self._kept and is_kept((name,))):
                    self._folder.remove((name,))
                    self._dropped((name,))
        return "All memory cleared"

    def _writable(self, path: str) -> Names:
        names = split_path(path)
        if self._kept and is_kept(names):
            raise Refused(f"{path} is kept by Credenda and cannot be changed here. Please write to another path.")
        return names

    def _page(self, path: str, names: Names, version: str | None) -> str:
        """Read a page that a command will change."""
        kind = self._folder.kind(names)
        if kind == Kind():
            raise Refused(f"The path {path} does not exist. Please provide a valid path.")
        if not kind.file:
            raise Refused(f"The path {path} is not a file.")
        text = self._text(path, names)
        if version is not None and _hash_version(text) != version:
            raise Refused(f"The file {path} has changed since. Please view it again.")
        return text

    def _text(self, path: str, names: Names) -> str:
        """Read a page, after removing statements that were deleted from the memory since."""
        kind = self._folder.kind(names)
        if not kind.file:
            raise Refused(f"Unsupported file type for {path}" if kind.other else f"The path {path} does not exist")
        text = self._folder.read(names)
        if self._kept and is_kept(names):
            return text
        taken = self._take(names, text, writing=False)
        if taken.text != text:
            self._folder.write(names, taken.text)
        taken.finish()
        return taken.text

    def _take(self, names: Names, text: str, *, writing: bool) -> Taken:
        return _AsItIs(text) if self._taker is None else self._taker.take(_join_path(names), text, writing=writing)

    def _write(self, names: Names, text: str, *, new: bool = False) -> bool:
        """Store a page and write it; if either fails, revert the other. Return False if a new page exists already."""
        encode_text(text)
        taken = self._take(names, text, writing=True)
        written = False
        try:
            written = self._folder.write(names, taken.text, new=new)
        finally:
            (taken.finish if written else taken.undo)()
        return written

    def _dropped(self, names: Names) -> None:
        if self._taker is not None:
            self._taker.drop(_join_path(names))


def _join_path(names: Names) -> str:
    return "/".join([ROOT, *names])


def _hash_version(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _number_lines(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{_NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _find_lines(content: str, text: str) -> str:
    """List the lines in which a text begins, overlapping occurrences included, up to a limit."""
    found: list[str] = []
    line, counted = 1, 0
    place = content.find(text)
    while place != -1:
        if len(found) == limits.PAGE_MATCHES_NAMED:
            return ", ".join([*found, "…"])
        line += content.count("\n", counted, place)
        counted = place
        found.append(str(line))
        place = content.find(text, place + 1)
    return ", ".join(found)


def _format_size(count: int) -> str:
    """Format a size as the reference does: 0B, 12B, 1.5K.

    >>> [_format_size(count) for count in (0, 12, 1536, 4096)]
    ['0B', '12B', '1.5K', '4K']
    """
    power = min(max(count.bit_length() - 1, 0) // 10, len(_SIZES) - 1)
    size = count / 1024**power
    return f"{int(size) if size == int(size) else format(size, '.1f')}{_SIZES[power]}"
