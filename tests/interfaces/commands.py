"""Commands of the memory tool, given to the reference and to ours."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from anthropic.lib.tools import ToolError

from credenda.interfaces.anthropic_memory import Pages, Refused


def answer(call: Callable[[Any], Any], command: dict[str, Any]) -> tuple[str, str]:
    """Return whether it was done, and what was said; the reference may break where it has no words."""
    try:
        return "done", str(call(command))
    except ToolError as error:
        return "refused", str(error)
    except OSError:
        return "refused", ""


async def answer_later(call: Callable[[Any], Awaitable[Any]], command: dict[str, Any]) -> tuple[str, str]:
    """Return what `answer` does, of a tool that is waited for."""
    try:
        return "done", str(await call(command))
    except ToolError as error:
        return "refused", str(error)
    except OSError:
        return "refused", ""


def ours(pages: Pages, command: dict[str, Any]) -> tuple[str, str]:
    fields = dict(command)
    try:
        return "done", getattr(pages, fields.pop("command"))(**fields)
    except Refused as error:
        return "refused", str(error)
