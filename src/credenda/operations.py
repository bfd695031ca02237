"""The table of operations: those that the client describes, in the order in which interfaces show them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from credenda.client import Credenda
from credenda.client_data import Data, Jobs
from credenda.client_inspect import Inspect
from credenda.client_manage import Manage
from credenda.ids import IdKind
from credenda.operation import ATTRIBUTE, Operation

_OWNERS: Final[Mapping[str, type]] = {
    "": Credenda,
    "manage.": Manage,
    "data.": Data,
    "inspect.": Inspect,
    "jobs.": Jobs,
}
_ORDER: Final = (  # noqa: SIM905 - a list would be eighty lines
    "remember search context list get event why changes history diff browse uses sessions session correct forget "
    "restore delete feedback pin unpin contests contest resolve outcome loops set-status status-history undo "
    "undo-where delete-where plan-deletion erase policy apply-policies hold lift-hold holds backup core decay "
    "lifecycle consolidate dream promote demote retention compress schedule stats doctor audit rebuild reembed "
    "extract export import scan drift files entities jobs job retry cancel preview-extraction preview-context test "
    "replay score scores costs verify-audit export-audit compliance"
).split()
"""The first operations to show; others follow."""


def _collect() -> Iterator[Operation]:
    conditions = inspect.signature(Credenda.search).parameters
    for group, owner in _OWNERS.items():
        for name, method in vars(owner).items():
            described: Operation | None = getattr(method, ATTRIBUTE, None)
            if described is not None:
                yield described.complete(f"{group}{name}", method, conditions)


_FOUND: Final = {operation.name: operation for operation in _collect()}

OPERATIONS: Final[Mapping[str, Operation]] = {name: _FOUND[name] for name in dict.fromkeys([*_ORDER, *_FOUND])}
"""Every operation by name, in display order."""


# The MCP tools of the operations: tool names, inputs and advice.


Toolset = Literal["default", "plugin", "full", "engram"]
TOOLSETS: Final[tuple[Toolset, ...]] = get_args(Toolset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One operation as a tool; `params` are the inputs that small toolsets list, in order; the full one lists all."""

    name: str
    params: tuple[str, ...] = ()
    outside: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tool input names by their names in the table, where the two differ."""
    advice: str = ""
    toolset: Literal["default", "full"] = "default"
    """The smaller of the two toolsets that offer it."""
    unlisted: frozenset[Toolset] = frozenset()
    """Toolsets that answer its calls without listing it: it is for operators, or hooks do the same unasked."""
    always: Mapping[str, object] = field(default_factory=dict[str, object])
    """Fixed inputs of every call, which the model cannot set."""
    kind: IdKind | None = None
    """The kind of the required id, where operations of one tool differ by it alone; `advice` describes this one."""


_MEMORY_ID: Final = {"id": "memory_id"}
_OPERATORS: Final[frozenset[Toolset]] = frozenset({"default", "plugin", "engram"})

TOOLS: Final[Mapping[str, tuple[Tool, ...]]] = {
    "remember": (
        Tool(
            name="store_memory",
            params=("content", "claims"),
            outside={"content": "text", "session": "session_id", "agent": "agent_id"},
            always={"source": "ai"},
            advice="Give the exact words that the user wrote, one statement a call; no summary.",
        ),
    ),
    "search": (
        Tool(
            name="search_memories",
            params=("query", "limit", "as_of"),
        ),
    ),
    "context": (Tool(name="get_context", params=("query", "token_budget"), unlisted=frozenset({"plugin"})),),
    "list": (Tool(name="inspect_memories", params=("entity", "limit", "offset")),),
    "event": (
        Tool(
            name="inspect_memories",
            params=("id",),
            outside=_MEMORY_ID,
            kind=IdKind.EVENT,
            advice="An event's id shows its words.",
        ),
    ),
    "why": (Tool(name="inspect_memories", params=("id",), outside=_MEMORY_ID),),
    "history": (Tool(name="memory_history", params=("id", "entity", "attribute"), outside=_MEMORY_ID),),
    "diff": (Tool(name="compare_beliefs", toolset="full"),),
    "correct": (Tool(name="correct_memory", params=("id", "text", "value"), outside=_MEMORY_ID),),
    "delete": (
        Tool(
            name="delete_memory",
            params=("id", "whole_message"),
            outside=_MEMORY_ID,
            advice="Fix memories with correct_memory.",
        ),
    ),
    "contests": (Tool(name="resolve_conflict"),),
    "resolve": (
        Tool(
            name="resolve_conflict",
            params=("id", "keep"),
            outside={"id": "contest_id"},
            advice="The user decides; contest_id alone asks them if the client can.",
        ),
    ),
    "stats": (Tool(name="get_memory_stats", unlisted=_OPERATORS),),
    "consolidate": (
        Tool(
            name="consolidate_memories",
            params=("topic", "similarity_threshold", "dry_run"),
            always={"force": True},
            unlisted=_OPERATORS,
        ),
    ),
    "get": (Tool(name="get_memory", outside=_MEMORY_ID, toolset="full"),),
    "forget": (Tool(name="forget_memory", outside=_MEMORY_ID, toolset="full"),),
    "restore": (Tool(name="restore_memory", outside=_MEMORY_ID, toolset="full"),),
    "feedback": (Tool(name="rate_memory", outside={**_MEMORY_ID, "session": "session_id"}, toolset="full"),),
    "pin": (Tool(name="pin_memory", outside=_MEMORY_ID, toolset="full"),),
    "unpin": (Tool(name="unpin_memory", outside=_MEMORY_ID, toolset="full"),),
    "promote": (Tool(name="promote", outside=_MEMORY_ID, toolset="full"),),
    "demote": (Tool(name="demote", outside=_MEMORY_ID, toolset="full"),),
    "status-history": (Tool(name="status_history", outside=_MEMORY_ID, toolset="full"),),
    "set-status": (Tool(name="set_status", outside=_MEMORY_ID, toolset="full", advice="The user decides, not you."),),
    "core": (Tool(name="get_core", toolset="full"),),
    "drift": (
        Tool(
            name="drift_check",
            toolset="full",
            advice="The user sets the folders in the setting drift_roots.",
        ),
    ),
    "doctor": (Tool(name="check_store", toolset="full"),),
    "score": (Tool(name="score_response", outside={"session": "session_id"}, toolset="full"),),
    "costs": (Tool(name="get_cost_summary", toolset="full"),),
    "verify-audit": (Tool(name="verify_audit_chain", toolset="full"),),
    "preview-extraction": (Tool(name="preview_extraction", outside={"session": "session_id"}, toolset="full"),),
}
"""The tools of each operation by name; an operation that is not listed has one tool in the full toolset."""


ENGRAM: Final[Mapping[str, Tool]] = {
    "remember": Tool(name="remember", toolset="full", always={"source": "ai"}),
    "search": Tool(name="recall", toolset="full"),
    "set-status": Tool(name="update_status", outside={**_MEMORY_ID, "status": "new"}, toolset="full"),
    "status-history": Tool(name="status_history", outside=_MEMORY_ID, toolset="full"),
    "promote": Tool(name="promote", outside=_MEMORY_ID, toolset="full"),
    "demote": Tool(name="demote", outside=_MEMORY_ID, toolset="full"),
    "pin": Tool(name="pin", outside=_MEMORY_ID, toolset="full"),
    "unpin": Tool(name="unpin", outside=_MEMORY_ID, toolset="full"),
    "dream": Tool(name="consolidate", toolset="full"),
    "drift": Tool(name="drift_check", toolset="full"),
}
"""engram's tool names by operation: the toolset "engram" has them, and the default tools of the other operations."""


def list_tools(operation: Operation, toolset: Toolset = "full") -> tuple[Tool, ...]:
    """Return the tools of an operation in a toolset; empty if the toolset, or MCP, does not offer it.

    No toolset has two names for one operation.
    """
    if "mcp" not in operation.doors:
        return ()
    if toolset == "engram" and operation.name in ENGRAM:
        return (ENGRAM[operation.name],)
    own = TOOLS.get(operation.name) or (Tool(name=operation.name.replace("-", "_"), toolset="full"),)
    return tuple(tool for tool in own if toolset == "full" or tool.toolset == "default")
