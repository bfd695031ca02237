"""The types that an entry of the operations table is made of, and the inputs that many entries share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, get_args, get_origin

from credenda import operations
from credenda.errors import CredendaError

ParamKind = Literal[
    "text",
    "messages",
    "integer",
    "number",
    "flag",
    "time",
    "names",
    "table",
    "tables",
    "file",
    "upload",
    "download",
]
Door = Literal["python", "cli", "mcp", "rest", "a2a"]
Scope = Literal["memory:read", "memory:write", "memory:review", "memory:admin", "memory:erase"]
Method = Literal["GET", "POST", "PATCH", "DELETE"]
Replacement = Literal["upload", "download", "nothing"]

DOORS: Final[tuple[Door, ...]] = get_args(Door)
REMOTE: Final[frozenset[Door]] = frozenset({"mcp", "rest", "a2a"})
"""The doors whose callers may sit at another machine: they never name a path of this one."""
MODELS: Final[frozenset[Door]] = frozenset({"mcp", "a2a"})
"""The doors at which a model calls, which may follow orders that it has read."""
_KINDS: Final[Mapping[object, ParamKind]] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "flag",
    datetime: "time",
    Path: "file",
    Literal: "text",
    UnionType: "text",
    Mapping: "table",
    Sequence: "names",
    Collection: "names",
}
MESSAGES: Final = str | Sequence[Mapping[str, str]]
"""The type of an input that is text, or over HTTP also messages of a conversation."""
_PATHS: Final[frozenset[object]] = frozenset({Path, Sequence[Path]})


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One input of an operation.

    `positional` inputs are required unless they are `optional`, and so is a flag without a default.
    """

    name: str
    type: Any = str
    """`str`, an enumeration, a `Literal`, `int`, `float`, `bool`, `datetime`, `Path`, a `Sequence` or `Collection` of
    words, a `Mapping` of words, a `Sequence` of such mappings, or `MESSAGES`."""
    help: str
    positional: bool = False
    optional: bool = False
    default: object = None
    among: tuple[str, ...] = ()
    """The words of its type that this operation takes, where it does not take them all."""
    person_only: bool = False
    """Whether only the user may set it; MCP does not offer it."""
    option: str = ""
    """Another name on the command line; for a flag also "on/off"."""
    argument: str = ""
    """The name of the method's argument, where it differs from `name`."""
    remote: Replacement | None = None
    """What takes the place of a path of this machine at a remote door; None for an input that is no path."""

    @property
    def kind(self) -> ParamKind:
        """How a local door reads it."""
        origin: object = get_origin(self.type) or self.type
        if self.type != MESSAGES and any(get_origin(inner) is Mapping for inner in get_args(self.type)):
            return "tables"
        return "text" if isinstance(origin, type) and issubclass(origin, Enum) else _KINDS[origin]

    @property
    def is_path(self) -> bool:
        """Whether it names files of this machine."""
        return self.type in _PATHS

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it takes; empty where any will do."""
        inner = get_args(self.type)[0] if self.kind == "names" else self.type
        if get_origin(inner) is Literal:
            return self.among or get_args(inner)
        listed = tuple(str(one.value) for one in inner) if isinstance(inner, type) and issubclass(inner, Enum) else ()
        return self.among or listed

    @property
    def required(self) -> bool:
        """Whether a call cannot do without it."""
        return not self.optional and (self.positional or (self.type is bool and self.default is None))

    def kind_at(self, door: Door) -> ParamKind | None:
        """Return how a door reads it; None where the door does not take it."""
        if self.person_only and door in MODELS:
            return None
        if self.type == MESSAGES and door == "rest":
            return "messages"
        if not self.is_path or door not in REMOTE:
            return self.kind
        return None if door in MODELS or self.remote in {None, "nothing"} else _FILES[self.remote or ""]


_FILES: Final[Mapping[str, ParamKind]] = {"upload": "upload", "download": "download"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The route of an operation over HTTP; `status` is that of success.

    Inputs that the path does not name go in the query of a GET, and in the body of any other request; those `without`
    which this route does are of another route. The answer of a `versioned` GET has an ETag; any other `versioned` route
    takes it back in If-Match, and changes no other version of what its path names.
    """

    method: Method
    path: str
    status: int = 200
    without: tuple[str, ...] = ()
    versioned: bool = False

    @property
    def in_path(self) -> tuple[str, ...]:
        """The inputs that the path names."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))


NOT_A_SKILL: Final[Mapping[Door, str]] = {"a2a": "another agent may only hand over messages and answer contests"}
PERSONS: Final[Mapping[Door, str]] = {**NOT_A_SKILL, "mcp": "a person decides this, not a model"}
LOCAL: Final[Mapping[Door, str]] = {
    **NOT_A_SKILL,
    "mcp": "a model may have read an order to name a file",
    "rest": "a distant caller would learn what lies on the disk of the server",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One entry of the table.

    `call` names the method of `Credenda` that carries it out, `closed` the doors that do not offer it, each with the
    reason; `scope` is the permission that a caller of a server needs. `remotely` are arguments of the method that no
    caller gives: every remote door sets them.
    """

    name: str
    call: str
    summary: str
    params: tuple[Param, ...] = ()
    errors: tuple[type[CredendaError], ...] = ()
    writes: bool = False
    destructive: bool = False
    idempotent: bool = False
    scope: Scope
    rest: tuple[Rest, ...] = ()
    remotely: Mapping[str, object] = field(default_factory=dict[str, object])
    long: bool = False
    """Whether it may take minutes: a caller of a server may have it run in the background, as a job."""
    closed: Mapping[Door, str] = field(default_factory=lambda: NOT_A_SKILL)

    def __post_init__(self) -> None:
        """Refuse an entry that would open a path of this machine to a remote door."""
        if any(param.is_path and param.remote is None for param in self.params) and REMOTE & self.doors:
            raise ValueError(f"{self.name} takes a path: say what takes its place at a remote door, or close them")

    @property
    def doors(self) -> frozenset[Door]:
        """The doors that offer it."""
        return frozenset(DOORS) - self.closed.keys()

    @property
    def output(self) -> Any:  # noqa: ANN401 - a class, or a form such as `Page[Memory]`
        """The type of its result; loaded when first asked for."""
        return operations.outputs.OUTPUTS[self.call]

    def params_at(self, door: Door) -> tuple[Param, ...]:
        """Return the inputs that a door takes."""
        return tuple(param for param in self.params if param.kind_at(door) is not None)


def text(name: str, help: str, *, option: str = "") -> Param:  # noqa: A002 - the word that click uses too
    """Build a text input."""
    return Param(name=name, help=help, option=option)


TIMES: Final = (
    Param(name="as_of", type=datetime, help="Facts that were true at this time."),
    Param(name="known_at", type=datetime, help="Beliefs as known at this time."),
)
"""The two time axes of every query."""
ID: Final = Param(name="id", help="An id, or its beginning where that names one only.", positional=True)
TOPIC: Final = text("topic", "Broad namespace, such as work or health.")
SESSION: Final = text("session", "Conversation that it belongs to.")
WHOLE_MESSAGE: Final = Param(
    name="whole_message", type=bool, default=False, help="Delete its whole messages, with all that they alone support."
)
REASON: Final = Param(name="reason", default="", help="The reason, recorded in the change log.")
