"""The six commands of the tool `memory_20250818` over the directory of a memory, with the messages of the reference.

Messages match the reference implementation in Anthropic's library (2.12). In addition, ambiguous names are refused,
sizes are bounded, and pages of beliefs are read-only. Nothing lies on disk; every line with a statement is a memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any, Concatenate, Final, NamedTuple, ParamSpec, cast

from credenda import limits
from credenda.errors import Conflict, CredendaError, Invalid, NotFound, Unavailable, format_install
from credenda.services.directory import is_reserved, split_page_path

if TYPE_CHECKING:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool

    from credenda.client import Credenda


_NUMBER_WIDTH: Final = 6
_LINES_MAX: Final = 999_999
_DEPTH: Final = 2
_AROUND: Final = 2
"""Lines shown before and after a change."""
_SIZES: Final = "BKMG"
_RANGE: Final = 2
Names = tuple[str, ...]
P = ParamSpec("P")


class _Kind(NamedTuple):
    """The kind of a path; neither when nothing is there."""

    folder: bool = False
    file: bool = False
    size: int = 0


class _Page(NamedTuple):
    """A page as it was read."""

    text: str
    version: str


def _exclude_others(command: Callable[Concatenate[Pages, P], str]) -> Callable[Concatenate[Pages, P], str]:
    """Exclude other commands of the same object, and turn an error of the memory into a refusal for the model."""

    @wraps(command)
    def run(pages: Pages, *args: P.args, **given: P.kwargs) -> str:
        with pages.lock:
            try:
                return command(pages, *args, **given)
            except CredendaError as error:
                raise Refused(f"{error.what}: {error.why}" if error.why else error.what) from error

    return run


class Pages:
    """Pages below `/memories`. Safe to use from several threads and processes.

    A page that another process wrote meanwhile is not overwritten: the command is refused.
    """

    def __init__(self, memory: Credenda) -> None:
        self.lock = RLock()
        self._directory = memory.directory

    @_exclude_others
    def version(self, path: str) -> str:
        """Return the version of a page: the SHA-256 of its text, in hex."""
        return self._read(path, split_path(path)).version

    @_exclude_others
    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """Show a folder two levels deep, or a page with line numbers."""
        names = split_path(path)
        kind = self._find_kind(names)
        if kind.folder:
            shown = path.rstrip("/")
            rows = [f"{_format_size(kind.size)}\t{path}"]
            for one in self._directory.ls("/".join(names), depth=_DEPTH):
                below = "/".join(one.path.split("/")[len(names) :])
                rows.append(f"{_format_size(one.size)}\t{shown}/{below}{'/' if one.folder else ''}")
            head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
            return "\n".join([head, *rows])
        if not kind.file:
            raise Refused(f"The path {path} does not exist. Please provide a valid path.")
        lines = self._read(path, names).text.split("\n")
        if len(lines) > _LINES_MAX:
            raise Refused(f"File {path} exceeds maximum line limit of 999,999 lines.")
        first, shown = 1, lines
        if view_range and len(view_range) == _RANGE:
            start = max(1, view_range[0]) - 1
            first, shown = start + 1, lines[start : len(lines) if view_range[1] == -1 else view_range[1]]
        return f"Here's the content of {path} with line numbers:\n{_number_lines(shown, first)}"

    @_exclude_others
    def create(self, path: str, file_text: str) -> str:
        """Create a page; never overwrite an existing page."""
        names = _split_writable(path)
        if self._find_kind(names) != _Kind():
            raise Refused(f"File {path} already exists")
        try:
            self._directory.write("/".join(names), file_text, version="")
        except Conflict as error:
            raise Refused(f"File {path} already exists") from error
        return f"File created successfully at: {path}"

    @_exclude_others
    def str_replace(self, path: str, old_str: str, new_str: str = "", *, version: str | None = None) -> str:
        """Replace a text that occurs once; if `version` is given, the page must still have that version."""
        page = self._read_to_change(path, _split_writable(path), version)
        count = page.text.count(old_str)
        if count == 0:
            raise Refused(f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.")
        if count > 1:
            raise Refused(
                f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: "
                f"{_find_lines(page.text, old_str)}. Please ensure it is unique"
            )
        written = self._overwrite(path, page, page.text.replace(old_str, new_str))
        lines, changed = written.split("\n"), page.text[: page.text.find(old_str)].count("\n")
        first = max(0, changed - _AROUND)
        around = lines[first : changed + _AROUND + 1]
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return f"{head}\n{_number_lines(around, first + 1)}"

    @_exclude_others
    def insert(self, path: str, insert_line: int, insert_text: str, *, version: str | None = None) -> str:
        """Insert a text after a line; line 0 is the beginning."""
        page = self._read_to_change(path, _split_writable(path), version)
        lines = page.text.split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= insert_line <= len(lines):
            within = f"It should be within the range [0, {len(lines)}]."
            raise Refused(f"Invalid `insert_line` parameter: {insert_line}. {within}")
        lines.insert(insert_line, insert_text.rstrip("\n"))
        text = "\n".join(lines)
        self._overwrite(path, page, text if text.endswith("\n") else f"{text}\n")
        return f"The file {path} has been edited."

    @_exclude_others
    def delete(self, path: str) -> str:
        """Delete a page, or a folder with all its pages."""
        if not split_path(path):
            raise Refused(f"Cannot delete the {ROOT} directory itself")
        names = _split_writable(path)
        try:
            self._directory.remove("/".join(names))
        except NotFound as error:
            raise Refused(f"The path {path} does not exist") from error
        return f"Successfully deleted {path}"

    @_exclude_others
    def rename(self, old_path: str, new_path: str) -> str:
        """Rename a page or folder; never overwrite."""
        if not split_path(old_path):
            raise Refused(f"Cannot rename the {ROOT} directory itself")
        if not split_path(new_path):
            raise Refused(f"The destination {new_path} already exists")
        old, new = _split_writable(old_path), _split_writable(new_path)
        if self._find_kind(new) != _Kind():
            raise Refused(f"The destination {new_path} already exists")
        try:
            self._directory.move("/".join(old), "/".join(new))
        except NotFound as error:
            raise Refused(f"The path {old_path} does not exist") from error
        except Conflict as error:
            raise Refused(f"The destination {new_path} already exists") from error
        return f"Successfully renamed {old_path} to {new_path}"

    @_exclude_others
    def clear_all_memory(self) -> str:
        """Delete every page that a model may write."""
        for one in self._directory.ls():
            if not is_reserved((one.path,)):
                self._directory.remove(one.path)
        return "All memory cleared"

    def _find_kind(self, names: Names) -> _Kind:
        if not names:
            return _Kind(folder=True, size=sum(one.size for one in self._directory.ls()))
        path = "/".join(names)
        try:
            found = self._directory.ls(path)
        except NotFound:
            return _Kind()
        if [one.path for one in found if not one.folder] == [path]:
            return _Kind(file=True, size=found[0].size)
        return _Kind(folder=True, size=sum(one.size for one in found))

    def _read(self, path: str, names: Names) -> _Page:
        try:
            page = self._directory.read("/".join(names))
        except NotFound as error:
            raise Refused(f"The path {path} does not exist") from error
        return _Page(page.text, page.version)

    def _read_to_change(self, path: str, names: Names, version: str | None) -> _Page:
        kind = self._find_kind(names)
        if kind == _Kind():
            raise Refused(f"The path {path} does not exist. Please provide a valid path.")
        if not kind.file:
            raise Refused(f"The path {path} is not a file.")
        page = self._read(path, names)
        if version is not None and page.version != version:
            raise _make_changed_error(path)
        return page

    def _overwrite(self, path: str, page: _Page, text: str) -> str:
        """Write a page in the version that was read, and return its text as it stands then."""
        try:
            return self._directory.write("/".join(split_path(path)), text, version=page.version).text
        except Conflict as error:
            raise _make_changed_error(path) from error


def _make_changed_error(path: str) -> Refused:
    return Refused(f"The file {path} has changed since. Please view it again.")


def _split_writable(path: str) -> Names:
    """Return the names of a path that a model may write."""
    names = split_path(path)
    if is_reserved(names):
        raise Refused(f"{path} is kept by Credenda and cannot be changed here. Please write to another path.")
    return names


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


# The tool for Anthropic's library, which is imported on first use because its import takes seconds.


_FIELDS: Final = {
    "view": ("path", "view_range"),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str", "new_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}
_OPTIONAL: Final = frozenset({"view_range", "new_str"})
_NUMBERS: Final = frozenset({"insert_line"})


def open_pages(memory: Credenda) -> Pages:
    """Open the pages of a memory's directory; needs no library of Anthropic's."""
    return Pages(memory)


def memory_tool(
    memory: Credenda,
    *,
    cache_control: Any = None,  # noqa: ANN401 - the library's own table
) -> BetaAbstractMemoryTool:
    """Make the tool for `client.beta.messages.run_tools(tools=[…])`; its pages are those of `open_pages`.

    Raises `Unavailable` where Anthropic's library is not installed (the extra `adapters`).
    """
    tools = _import_library()
    methods = _make_methods(memory, tools.ToolError)
    made: type[BetaAbstractMemoryTool] = type("CredendaMemoryTool", (tools.BetaAbstractMemoryTool,), methods)
    return made(cache_control=cache_control)


def async_memory_tool(
    memory: Credenda,
    *,
    cache_control: Any = None,  # noqa: ANN401 - the library's own table
) -> BetaAsyncAbstractMemoryTool:
    """Make the tool for an asynchronous client; the work runs in threads.

    Raises `Unavailable` where Anthropic's library is not installed (the extra `adapters`).
    """
    tools = _import_library()
    methods = {name: _run_in_thread(work) for name, work in _make_methods(memory, tools.ToolError).items()}
    made: type[BetaAsyncAbstractMemoryTool] = type(
        "AsyncCredendaMemoryTool", (tools.BetaAsyncAbstractMemoryTool,), methods
    )
    return made(cache_control=cache_control)


def _import_library() -> Any:  # noqa: ANN401 - a module
    try:
        return import_module("anthropic.lib.tools")
    except ImportError as error:
        raise Unavailable(
            "the memory tool needs Anthropic's library", why=str(error), fix=format_install("adapters")
        ) from error


def _make_methods(memory: Credenda, tool_error: type[Exception]) -> dict[str, Callable[..., str]]:
    pages = open_pages(memory)

    def clear_all_memory(_: object) -> str:
        return pages.clear_all_memory()

    return {"clear_all_memory": clear_all_memory, **{name: _make_method(pages, name, tool_error) for name in _FIELDS}}


def _make_method(pages: Pages, name: str, tool_error: type[Exception]) -> Callable[[object, object], str]:
    """Make the method of a command; a refusal becomes the library's own error, with the same message."""

    def run(_: object, command: object) -> str:
        try:
            return getattr(pages, name)(**_read_fields(name, command))
        except Refused as refused:
            raise tool_error(str(refused)) from None

    run.__name__ = name
    return run


def _read_fields(name: str, command: object) -> dict[str, Any]:
    """Read the fields of a command, which come unchecked from a model."""
    given: dict[str, Any] = {}
    for field in _FIELDS[name]:
        value = getattr(command, field, None)
        if value is None:
            if field in _OPTIONAL:
                continue
            raise Refused(f"Missing required parameter `{field}` for command {name}.")
        if not _is_valid_field(field, value):
            raise Refused(f"Invalid `{field}` parameter: {value!r}.")
        given[field] = value
    return given


def _is_valid_field(field: str, value: object) -> bool:
    if field == "view_range":
        return isinstance(value, list) and all(type(one) is int for one in cast("list[object]", value))
    return type(value) is int if field in _NUMBERS else isinstance(value, str)


def _run_in_thread(work: Callable[..., str]) -> Callable[..., Any]:
    async def run(*arguments: object) -> str:
        return await asyncio.to_thread(work, *arguments)

    run.__name__ = getattr(work, "__name__", "run")
    return run


# Paths below `/memories`, as the tool names the pages of the directory. Pure.


ROOT: Final = "/memories"
_UP: Final = ".."


class Refused(Exception):  # noqa: N818 - named for what happened, as the errors of the contract are
    """A command was refused; the message goes to the model."""


def split_path(path: object) -> tuple[str, ...]:
    """Return the names of a path, () for the root; raise `Refused` for an invalid path.

    >>> split_path("/memories/trips/notes.md")
    ('trips', 'notes.md')
    """
    if not isinstance(path, str) or not (path == ROOT or path.startswith(f"{ROOT}/")):
        raise Refused(f"Path must start with {ROOT}, got: {path}")
    try:
        return split_page_path(path[len(ROOT) :])
    except Invalid as error:
        if _UP in path.split("/"):
            raise Refused(f"Path {path} would escape {ROOT} directory") from error
        raise Refused(f"Path {path!r} cannot be used: {error.why}") from error
