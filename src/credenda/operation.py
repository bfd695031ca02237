"""Describe an operation where it is defined: `Operation` decorates the method of the client that carries it out.

Names, types and defaults of inputs, and the type of the result, are those of the signature; the decorator adds what no
signature can tell. Every interface is built from the two. `credenda.operations` collects them.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

from credenda import model
from credenda.errors import CredendaError
from credenda.model.event import Source
from credenda.model.memory import Layer, MemoryType
from credenda.model.query import HitKind, Include, Mode, Profile

F = TypeVar("F", bound=Callable[..., Any])
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
_DECLARED: Final[Mapping[str, Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "datetime | str": datetime,
    "str | Path": Path,
    "Sequence[str]": Sequence[str],
    "Collection[str]": Sequence[str],
    "Mapping[str, str]": Mapping[str, str],
    "Mapping[str, object]": Mapping[str, str],
    "Sequence[Mapping[str, object]]": Sequence[Mapping[str, str]],
}
"""What an input is, by the annotation of the argument."""
ATTRIBUTE: Final = "operation"
"""Where a method holds its description."""


@dataclass(frozen=True, slots=True)
class Param:
    """One input of an operation.

    A description gives `help`, and whatever else the signature does not tell; the rest is filled in from that.
    `positional` inputs are required unless they are `optional`, and so is a flag without a default.
    """

    help: str
    type: Any = str
    """`str`, an enumeration, a `Literal`, `int`, `float`, `bool`, `datetime`, `Path`, a `Sequence` of words, a
    `Mapping` of words, a `Sequence` of such mappings, or `MESSAGES`. A description gives what the annotation of an
    argument does not tell: the words that it takes."""
    name: str = ""
    positional: bool = False
    """Whether it stands without its name on a command line; so do arguments that have no default."""
    optional: bool = False
    """Whether it may be left out, and no default stands for it."""
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

    def complete(self, name: str, argument: inspect.Parameter) -> Param:
        """Fill in what the argument of the method tells."""
        words = str(argument.annotation).removesuffix(" | None")
        kind = _DECLARED[words] if self.type is str else self.type
        if self.type is not str and words in {"Sequence[str]", "Collection[str]"}:
            kind = Sequence[kind]
        has_default = argument.default is not argument.empty
        leads = argument.kind is argument.POSITIONAL_OR_KEYWORD and not has_default and kind is not bool
        positional = self.positional or leads
        optional = self.optional or (positional and has_default)
        default = argument.default if has_default and not optional else None
        return replace(self, name=name, type=kind, positional=positional, optional=optional, default=default)

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


@dataclass(frozen=True, slots=True)
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


BROWSED: Final[Mapping[Door, str]] = {
    **NOT_A_SKILL,
    "mcp": "a person browses; a model searches",
    "cli": "the pages of the server show it",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, described above the method that carries it out.

    `inputs` are the help texts of its arguments, in the order in which interfaces show them; an argument that is not
    listed is for Python alone. `closed` are the doors that do not offer it, each with the reason; `scope` is the
    permission that a caller of a server needs.
    """

    summary: str
    scope: Scope
    routes: Rest | tuple[Rest, ...] = ()
    """Its routes over HTTP."""
    name: str = ""
    """Its name at every door; that of the method, unless given."""
    inputs: Mapping[str, str | Param] = field(default_factory=dict[str, "str | Param"])
    errors: tuple[type[CredendaError], ...] = ()
    writes: bool = False
    destructive: bool = False
    idempotent: bool = True
    """Whether a second call like the first changes nothing more."""
    remotely: Mapping[str, object] = field(default_factory=dict[str, object])
    """Arguments of the method that no caller gives: every remote door sets them."""
    long: bool = False
    """Whether it may take minutes: a caller of a server may have it run in the background, as a job."""
    closed: Mapping[Door, str] = field(default_factory=lambda: NOT_A_SKILL)
    method: Callable[..., Any] | None = None
    """The method that is decorated."""
    call: str = ""
    """The path of the method on `Credenda`."""
    params: tuple[Param, ...] = ()
    """Its inputs, completed by the signature."""

    def __post_init__(self) -> None:
        """Refuse an operation that would open a path of this machine to a remote door."""
        if any(param.is_path and param.remote is None for param in self.params) and REMOTE & self.doors:
            raise ValueError(f"{self.name} takes a path: say what takes its place at a remote door, or close them")

    def __call__(self, method: F) -> F:
        """Attach it to a method, whose name it takes unless it has one."""
        name = self.name or method.__name__.strip("_").replace("_", "-")
        setattr(method, ATTRIBUTE, replace(self, name=name))
        return method

    def complete(self, call: str, method: Callable[..., Any], conditions: Mapping[str, inspect.Parameter]) -> Operation:
        """Return it with its inputs; `conditions` are the arguments that `**conditions` of the method stands for."""
        arguments = {**conditions, **inspect.signature(method).parameters}
        described = {name: Param(told) if isinstance(told, str) else told for name, told in self.inputs.items()}
        params = [param.complete(name, arguments[param.argument or name]) for name, param in described.items()]
        return replace(self, call=call, method=method, params=tuple(params))

    @property
    def rest(self) -> tuple[Rest, ...]:
        """Its routes over HTTP."""
        return (self.routes,) if isinstance(self.routes, Rest) else self.routes

    @property
    def doors(self) -> frozenset[Door]:
        """The doors that offer it."""
        return frozenset(DOORS) - self.closed.keys()

    @property
    def output(self) -> Any:  # noqa: ANN401 - a class, or a form such as `Page[Memory]`
        """The type of its result, None for nothing; the types are loaded when one is first asked for."""
        declared = get_type_hints(self.method, localns=_load_types())["return"]
        return None if declared is type(None) else declared

    def params_at(self, door: Door) -> tuple[Param, ...]:
        """Return the inputs that a door takes."""
        return tuple(param for param in self.params if param.kind_at(door) is not None)


@cache
def _load_types() -> dict[str, Any]:
    """Return every name of the modules of values: the client loads those of results only for type checkers."""
    modules = [import_module(found.name) for found in pkgutil.iter_modules(model.__path__, "credenda.model.")]
    return {name: value for module in modules for name, value in vars(module).items()}


# The inputs that several operations share.

TIMES: Final = {"as_of": "Facts that were true at this time.", "known_at": "Beliefs as known at this time."}
"""The two time axes of every query."""
ID: Final = "An id, or its beginning where that names one only."
TOPIC: Final = "Broad namespace, such as work or health."
SESSION: Final = "Conversation that it belongs to."
WHOLE_MESSAGE: Final = "Delete its whole messages, with all that they alone support."
REASON: Final = "The reason, recorded in the change log."
ITEMS: Final = "Maximum number of items, 1 to 50."
CURSOR: Final = "Cursor of the last page."
SPOKEN_SOURCE: Final = Param(
    "Where it came from; determines how far it is trusted.",
    Source,
    among=("human", "ai", "interaction", "ingest", "code_scan", "dream"),
)
SPOKEN_AT: Final = Param("When it was said. [default: now]", option="at")
CONDITIONS: Final[Mapping[str, str | Param]] = {
    "limit": "Maximum number of hits, 1 to 50.",
    "topic": TOPIC,
    "kinds": Param("memory, event or both.", HitKind, option="kind"),
    "types": Param("Only memories of these types.", MemoryType, option="type"),
    "layers": Param("Only memories of these layers.", Layer, option="layer"),
    "mode": Param(
        "Memory types to search: facts_only for how things stand, facts_plus_rules for how to work, codebase for code.",
        Mode,
    ),
    "min_confidence": "Minimum confidence of a memory, 0 to 1.",
    **TIMES,
    "recency_weight": "Weight of recency, 0 to 1.",
    "profile": Param("Scoring profile.", Profile),
    "tags": Param("Only hits with all these tags.", option="tag"),
    "metadata": "Only what was kept with these pairs.",
    "session": "Only hits from this session.",
    "exclude_session": "No hits from this session.",
    "project": "Nothing said in other projects, except the user's own facts.",
    "include": Param("Also show hits that are hidden by default.", Include),
    "explain": "Show the terms of each score.",
}
RECORDED: Final = Param("Count the memories that are shown as recalled.", person_only=True)
CONTEXT_INPUTS: Final[Mapping[str, str | Param]] = {
    "query": Param("A question or some words; without it, only the core.", positional=True),
    "token_budget": Param("Maximum number of tokens. [default: the setting context_tokens]", option="tokens"),
    "automatic": Param(
        "For a block added to every turn: half of the tokens, and no recall is recorded.", person_only=True
    ),
    **CONDITIONS,
}
