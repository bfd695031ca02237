"""The tool for Anthropic's library, which is imported on first use because its import takes seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from credenda.errors import Unavailable
from credenda.install_hint import format_install
from credenda.interfaces.anthropic_memory.pages import Pages
from credenda.interfaces.anthropic_memory.paths import Refused

if TYPE_CHECKING:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool

    from credenda.client import Credenda

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
    pages = open_pages(memory)
    methods: dict[str, Callable[..., str]] = {name: _make_method(pages, name, tools.ToolError) for name in _FIELDS}
    methods["clear_all_memory"] = _make_clear(pages)
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
    pages = open_pages(memory)
    methods = {name: _run_in_thread(_make_method(pages, name, tools.ToolError)) for name in _FIELDS}
    methods["clear_all_memory"] = _run_in_thread(_make_clear(pages))
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


def _make_clear(pages: Pages) -> Callable[[object], str]:
    def clear_all_memory(_: object) -> str:
        return pages.clear_all_memory()

    return clear_all_memory


def _run_in_thread(work: Callable[..., str]) -> Callable[..., Any]:
    async def run(*arguments: object) -> str:
        return await asyncio.to_thread(work, *arguments)

    run.__name__ = getattr(work, "__name__", "run")
    return run
