"""What an entry of the operations table is made of, and the inputs that many share."""

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
    """One input: how it is called, read and explained.

    `names` is a list of words, `table` are pairs of words; `positional` ones are required unless `optional`.
    """

    name: str
    kind: ParamKind = "text"
    help: str
    positional: bool = False
    optional: bool = False
    default: object = None
    choices: tuple[str, ...] = ()
    person_only: bool = False
    """Whether only a person may give it: no model is offered it."""
    option: str = ""
    """Another name on the command line, where the plain one would read badly; for a flag also "on/off"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing that can be done."""

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


def text(name: str, help: str, *, option: str = "") -> Param:  # noqa: A002 - the word that click uses too
    """Describe an input of text."""
    return Param(name=name, help=help, option=option)


WITH_FILES: Final[frozenset[Door]] = frozenset({"python", "cli", "rest"})
"""Who may name files of this machine: never a model, which may have been told to by what it read."""
TIMES: Final = (
    Param(name="as_of", kind="time", help="What was true at this time."),
    Param(name="known_at", kind="time", help="What was held at this time."),
)
"""The two axes of time, which every question about what is held takes."""
PERSONS: Final[frozenset[Door]] = frozenset({"python", "cli", "rest"})
"""What a person decides about a memory, and no model."""
ID: Final = Param(
    name="id", help="An id from a list or a search, or its beginning where that names one only.", positional=True
)
TOPIC: Final = text("topic", "Broad namespace, such as work or health.")
SESSION: Final = text("session", "Conversation that it belongs to.")
REASON: Final = text("reason", "Why, in your words; kept in the change log.")
