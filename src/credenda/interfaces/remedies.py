"""Name the operations of an error's advice as the door of the caller calls them.

An error names operations by their names in the table, in backticks, with or without the command line before them:
`search`, `credenda doctor --repair`. The command line and Python show that as it is. A model knows tools, and a caller
over HTTP knows routes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy
from typing import Final

from credenda.errors import CredendaError
from credenda.operations import OPERATIONS

FOR_THE_USER: Final = "for the user: "
"""Before advice that the caller cannot follow at this door."""
_PROGRAM: Final = "credenda "
_OPTION: Final = re.compile(r"(?<!\S)\(?--([a-z-]+)")
_NAMED: Final = re.compile(r"`([^`]+)`")
_CHOICES: Final = re.compile(r"`[^`]+`(?:(?:, | or )`[^`]+`)*")
"""One name in backticks, or several of which one will do."""
_ROUTES: Final[Mapping[str, str]] = {
    operation.name: f"{operation.rest[0].method} {operation.rest[0].path}"
    for operation in OPERATIONS.values()
    if operation.rest and "rest" in operation.doors
}


def name_tools(error: CredendaError, tools: Mapping[str, str]) -> CredendaError:
    """Return an error with the names of tools, given by operation; what no tool does is advice for the user."""
    return _rename(error, tools, strict=True)


def name_routes(error: CredendaError) -> CredendaError:
    """Return an error with the routes of REST; a command stays, for who runs the server."""
    return _rename(error, _ROUTES, strict=False)


def _rename(error: CredendaError, names: Mapping[str, str], *, strict: bool) -> CredendaError:
    texts = [_rename_in(text, names, strict=strict) for text in (error.what, error.why, error.fix)]
    renamed = copy(error)
    renamed.what, renamed.why, renamed.fix = texts
    return renamed


def _rename_in(text: str, names: Mapping[str, str], *, strict: bool) -> str:
    """Replace the names of operations in a text.

    >>> names = {"list": "inspect_memories", "search": "search_memories", "why": "inspect_memories"}
    >>> _rename_in("copy an id from `list` or `search`", names, strict=True)
    'copy an id from `inspect_memories` or `search_memories`'
    >>> _rename_in("copy an id from `why` or `changes`", names, strict=True)
    'copy an id from `inspect_memories`'
    >>> _rename_in("run `credenda doctor --repair`, which rebuilds it", names, strict=True)
    'for the user: run doctor with repair, which rebuilds it'
    """
    foreign = strict and _OPTION.search(_CHOICES.sub("", text)) is not None

    def rename(found: re.Match[str]) -> str:
        nonlocal foreign
        named = _NAMED.findall(found[0])
        told = [one for one in (_name_at(words, names, strict=strict) for words in named) if one is not None]
        foreign = foreign or not told
        # A command without the program's name: doctor with repair.
        choices = told or [words.removeprefix(_PROGRAM).partition(" --")[0] + _word_options(words) for words in named]
        *others, last = dict.fromkeys(choices)
        return f"{', '.join(others)} or {last}" if others else last

    renamed = _CHOICES.sub(rename, text)
    return f"{FOR_THE_USER}{renamed}" if foreign else renamed


def _name_at(words: str, names: Mapping[str, str], *, strict: bool) -> str | None:
    """Return the name of an operation at a door; None if there is none, where the door requires one."""
    name = words.removeprefix(_PROGRAM).partition(" ")[0]
    if name in names and (strict or not words.startswith(_PROGRAM)):
        return f"`{names[name]}`{_word_options(words)}"
    is_operation = name in OPERATIONS or words.startswith(_PROGRAM)
    return None if strict and is_operation else f"`{words}`"


def _word_options(words: str) -> str:
    options = _OPTION.findall(words)
    return f" with {' and '.join(options)}" if options else ""
