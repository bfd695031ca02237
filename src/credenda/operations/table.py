"""One table of operations: name, input, output, errors, meaning, and who may call it.

Every interface loops over it, so that a parameter is described once. `call` is the path of the method on `Credenda`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from credenda.errors import Conflict, CredendaError, Invalid, LimitExceeded, NotFound, Unavailable
from credenda.model.memory import Layer, MemoryType, Status

__all__ = ["OPERATIONS", "Operation", "Param", "ParamKind"]

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


def _text(name: str, help: str, *, option: str = "") -> Param:  # noqa: A002 - the word that click uses too
    return Param(name=name, help=help, option=option)


_WITH_FILES: Final[frozenset[Door]] = frozenset({"python", "cli", "rest"})
"""Who may name files of this machine: never a model, which may have been told to by what it read."""
_ID: Final = Param(name="id", help="An id from a list or a search.", positional=True)
_TOPIC: Final = _text("topic", "Broad namespace, such as work or health.")
_SESSION: Final = _text("session", "Conversation that it belongs to.")
_REASON: Final = _text("reason", "Why, in your words; kept in the change log.")
_ASK: Final = (
    Param(name="limit", kind="integer", default=20, help="Most hits, 1 to 50."),
    _TOPIC,
    Param(name="kinds", kind="names", default=("memory", "event"), help="memory, event or both.", option="kind"),
    Param(name="types", kind="names", choices=tuple(MemoryType), help="Only memories of these types.", option="type"),
    Param(name="layers", kind="names", choices=tuple(Layer), help="Only memories of these layers.", option="layer"),
    Param(
        name="mode",
        default="full_context",
        choices=("facts_only", "facts_plus_rules", "full_context"),
        help="Which kinds may answer: facts, facts and procedures, or all.",
    ),
    Param(name="min_confidence", kind="number", default=0.4, help="Least confidence of a memory, 0 to 1."),
    Param(name="as_of", kind="time", help="What was true at this time."),
    Param(name="known_at", kind="time", help="What was held at this time."),
    Param(name="recency_weight", kind="number", default=0.3, help="How much newer counts, 0 to 1."),
    Param(name="profile", default="default", choices=("default", "recall", "evidence"), help="How hits are scored."),
    Param(name="tags", kind="names", help="Only what carries all these tags.", option="tag"),
    Param(name="session", help="Only what was said in this session."),
    Param(name="exclude_session", help="Nothing that was said in this session."),
    Param(
        name="include",
        kind="names",
        choices=("superseded", "low_confidence", "archived"),
        help="Also show what is usually left out.",
    ),
    Param(name="explain", kind="flag", default=False, help="Name every term of every score."),
)

_ALL: Final = (
    Operation(
        name="remember",
        call="remember",
        summary="File what was said; it is on disk when this returns, and believed soon after.",
        params=(
            Param(name="content", help="What was said, in the speaker's own words.", positional=True),
            _TOPIC,
            _SESSION,
            _text("agent", "Agent that heard it."),
            Param(
                name="source",
                default="human",
                choices=("human", "ai", "interaction", "ingest", "code_scan", "dream"),
                help="How it came in; decides how far it is trusted.",
            ),
            Param(name="occurred_at", kind="time", help="When it was said, if not now.", option="at"),
            Param(name="tags", kind="names", help="A word to find it by.", option="tag"),
            Param(name="metadata", kind="table", help="A pair to keep with it."),
            Param(name="expires_at", kind="time", help="When to forget it by itself.", option="expires"),
            _text("idempotency_key", "The same key and content are filed once.", option="key"),
            Param(name="allow_deleted", kind="flag", default=False, help="Say a deleted thing again, on purpose."),
        ),
        output="Receipt",
        errors=(Invalid, LimitExceeded, Conflict, Unavailable),
        writes=True,
    ),
    Operation(
        name="search",
        call="search",
        summary="Find what is known that answers a question; says so when nothing does.",
        params=(Param(name="query", help="A question or some words.", positional=True), *_ASK),
        output="SearchResult",
        errors=(Invalid, LimitExceeded),
        idempotent=True,
    ),
    Operation(
        name="context",
        call="context",
        summary="Pack what is known into a fenced block for a prompt, within a budget of tokens.",
        params=(
            Param(
                name="query",
                help="A question or some words; without one, only what every prompt needs.",
                positional=True,
                optional=True,
            ),
            Param(name="token_budget", kind="integer", default=800, help="Most tokens.", option="tokens"),
            *_ASK,
        ),
        output="Context",
        errors=(Invalid, LimitExceeded),
        idempotent=True,
    ),
    Operation(
        name="list",
        call="list",
        summary="List memories, newest first.",
        params=(
            Param(name="status", default="active", choices=tuple(Status), help="Where they stand."),
            Param(name="type", choices=tuple(MemoryType), help="Only this type."),
            Param(name="layer", choices=tuple(Layer), help="Only this layer."),
            _TOPIC,
            _text("entity", "About whom or what."),
            _text("attribute", "Which attribute."),
            Param(name="limit", kind="integer", default=20, help="Most items, 1 to 50."),
            Param(name="offset", kind="integer", default=0, help="How many to pass over."),
            _text("cursor", "Where the last page ended."),
        ),
        output="Page",
        errors=(Invalid, NotFound),
        idempotent=True,
    ),
    Operation(
        name="get",
        call="get",
        summary="Show one memory.",
        params=(_ID,),
        output="Memory",
        errors=(NotFound,),
        idempotent=True,
    ),
    Operation(
        name="why",
        call="why",
        summary="Say why a memory is held: the words it rests on, and every change to it.",
        params=(_ID,),
        output="Explanation",
        errors=(NotFound,),
        idempotent=True,
    ),
    Operation(
        name="changes",
        call="changes",
        summary="Show what an event led to: the changes in belief because it was said.",
        params=(Param(name="cause", help="The id of an event.", positional=True),),
        output="ChangeRecord",
        errors=(NotFound,),
        idempotent=True,
        doors=frozenset({"python"}),
    ),
    Operation(
        name="history",
        call="history",
        summary="Show every value that a slot has held, oldest first.",
        params=(
            Param(name="entity", help="About whom or what, such as user.", positional=True, optional=True),
            Param(name="attribute", help="Which attribute, such as residence.", positional=True, optional=True),
            _text("id", "A memory whose slot is meant, instead of entity and attribute."),
        ),
        output="SlotVersion",
        errors=(Invalid, NotFound),
        idempotent=True,
    ),
    Operation(
        name="correct",
        call="correct",
        summary="Put a memory right: the old one was wrong.",
        params=(_ID, _text("text", "What it should say."), _text("value", "What its value should be."), _REASON),
        output="Memory",
        errors=(Invalid, NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="forget",
        call="forget",
        summary="Take a memory out of use; `restore` brings it back.",
        params=(_ID, _REASON),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="restore",
        call="restore",
        summary="Bring back a forgotten memory.",
        params=(_ID,),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="delete",
        call="delete",
        summary="Delete a memory or an event for good, with the words it rests on; it never comes back by itself.",
        params=(_ID,),
        output="None",
        errors=(NotFound,),
        writes=True,
        destructive=True,
        idempotent=True,
    ),
    Operation(
        name="feedback",
        call="feedback",
        summary="Say whether a hit was of use.",
        params=(_ID, Param(name="useful", kind="flag", help="Whether it was of use.", option="useful/useless")),
        output="None",
        errors=(NotFound,),
        writes=True,
    ),
    Operation(
        name="pin",
        call="manage.pin",
        summary="Keep a memory in every context.",
        params=(_ID,),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="unpin",
        call="manage.unpin",
        summary="Take a memory's pin away.",
        params=(_ID,),
        output="Memory",
        errors=(NotFound,),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="contests",
        call="manage.contests",
        summary="List slots whose value cannot be decided, with their questions; open ones first.",
        output="ContestCase",
        idempotent=True,
    ),
    Operation(
        name="resolve",
        call="manage.resolve",
        summary="Answer a contest: keep one value, or give each its scope.",
        params=(
            Param(name="id", help="The id of a contest.", positional=True),
            _text("keep", "The value that holds, by its words."),
            Param(
                name="scopes",
                kind="table",
                help="A value for each scope; the scope `default` means none.",
                option="scope",
            ),
        ),
        output="Resolution",
        errors=(Invalid, NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="stats",
        call="stats",
        summary="Count what is held and what still waits.",
        output="Stats",
        idempotent=True,
    ),
    Operation(
        name="doctor",
        call="data.doctor",
        summary="Verify the store, and repair what is derived.",
        params=(Param(name="repair", kind="flag", default=False, help="Rebuild derived indexes that differ."),),
        output="DoctorReport",
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="reembed",
        call="data.reembed",
        summary="Give every text a vector of a model, beside those it has.",
        params=(
            Param(
                name="model",
                help="Such as minilm or openai:MODEL; the one in use when left out.",
                positional=True,
                optional=True,
            ),
        ),
        output="ReembedReport",
        errors=(Invalid, Unavailable),
        writes=True,
        idempotent=True,
        doors=frozenset({"python", "cli", "rest"}),  # a model must not start what may cost money
    ),
    Operation(
        name="extract",
        call="manage.extract",
        summary="Read again with the model what waits for it; or say what reading would cost, without asking it.",
        params=(
            Param(name="path", kind="path", help="With --dry-run: a file to price.", positional=True, optional=True),
            _text("text", "With --dry-run: a text to price."),
            _text("model", "With --dry-run: another model, such as openai:gpt-5-mini."),
            Param(name="dry_run", kind="flag", default=False, help="Only say what it would cost."),
        ),
        output="ExtractionReport",
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        idempotent=True,
        doors=_WITH_FILES,
    ),
    Operation(
        name="export",
        call="data.export",
        summary="Write everything of this user as JSON Lines, without loss; or what is held now, for another memory.",
        params=(
            Param(name="path", kind="path", help="File to write; .gz is compressed.", positional=True),
            Param(
                name="format",
                default="credenda",
                choices=("credenda", "mcp-memory"),
                help="The archive, or the file of the MCP reference memory server.",
            ),
        ),
        output="ExportReport",
        errors=(Invalid, Unavailable),
        doors=_WITH_FILES,
    ),
    Operation(
        name="import",
        call="data.import_",
        summary="Read an export, talk with assistants, another memory, or documents; repeating it adds nothing.",
        params=(
            Param(name="path", kind="path", help="File or folder to read; .gz and .zip too.", positional=True),
            Param(
                name="format",
                choices=(
                    "credenda",
                    "claude-code",
                    "chatgpt",
                    "claude",
                    "mcp-memory",
                    "mem0",
                    "conversation",
                    "obsidian",
                    "markdown",
                    "text",
                ),
                help="What it is; told from the file when left out.",
            ),
        ),
        output="ImportReport",
        errors=(Invalid, NotFound, Conflict, LimitExceeded),
        writes=True,
        idempotent=True,
        doors=_WITH_FILES,
    ),
)

OPERATIONS: Final[Mapping[str, Operation]] = {operation.name: operation for operation in _ALL}
"""Every operation by name, in the order in which they are shown."""
