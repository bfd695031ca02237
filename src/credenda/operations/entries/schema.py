"""The types of the operations table, and inputs that several entries share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from credenda.errors import CredendaError

__all__ = [
    "ID",
    "PERSONS",
    "REASON",
    "SESSION",
    "TIMES",
    "TOPIC",
    "WITH_FILES",
    "Door",
    "Operation",
    "Param",
    "ParamKind",
    "text",
]

ParamKind = Literal["text", "integer", "number", "flag", "time", "names", "table", "path"]
Door = Literal["python", "cli", "mcp", "rest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One input: its name, type and help text.

    Kind `names` is a list of words, `table` pairs of words. `positional` inputs are required unless `optional`.
    """

    name: str
    kind: ParamKind = "text"
    help: str
    positional: bool = False
    optional: bool = False
    default: object = None
    choices: tuple[str, ...] = ()
    person_only: bool = False
    """Whether only the user may set it; MCP does not offer it."""
    option: str = ""
    """Another name on the command line; for a flag also "on/off"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation, its inputs, and the interfaces that offer it."""

    name: str
    call: str
    summary: str
    params: tuple[Param, ...] = ()
    output: str
    errors: tuple[type[CredendaError], ...] = ()
    writes: bool = False
    destructive: bool = False
    idempotent: bool = False
    doors: frozenset[Door] = frozenset({"python", "cli", "mcp", "rest"})


def text(name: str, help: str, *, option: str = "") -> Param:  # noqa: A002 - click uses this name, too
    """Build a text input."""
    return Param(name=name, help=help, option=option)


WITH_FILES: Final[frozenset[Door]] = frozenset({"python", "cli", "rest"})
"""Interfaces that may name local files; not MCP, because a model may follow injected instructions."""
TIMES: Final = (
    Param(name="as_of", kind="time", help="Facts that were true at this time."),
    Param(name="known_at", kind="time", help="Beliefs as known at this time."),
)
"""The two time axes of every query."""
PERSONS: Final[frozenset[Door]] = frozenset({"python", "cli", "rest"})
"""Interfaces for decisions by the user; not MCP."""
ID: Final = Param(name="id", help="An id from a list or a search.", positional=True)
TOPIC: Final = text("topic", "Broad namespace, such as work or health.")
SESSION: Final = text("session", "Conversation that it belongs to.")
REASON: Final = text("reason", "The reason, recorded in the change log.")
