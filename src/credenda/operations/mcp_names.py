"""How the operations look to a model: the tools they become, beside the table that describes their inputs.

A tool names its inputs by the names of the table and says what they are called outside. Operations that share the name
of a tool are one tool: of those whose required inputs are given, the one that requires most answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from credenda.operations.table import Operation

__all__ = ["ENGRAM", "TOOLS", "Tool", "Toolset", "list_tools"]

Toolset = Literal["default", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One operation as a tool; `params` are those of the small toolset, in their order: the full one shows them all."""

    name: str
    params: tuple[str, ...] = ()
    outside: Mapping[str, str] = field(default_factory=dict[str, str])
    """What an input is called outside, where the table calls it otherwise."""
    advice: str = ""
    toolset: Toolset = "default"
    always: Mapping[str, object] = field(default_factory=dict[str, object])
    """Inputs that every call of the tool has, and that a model is not asked for."""


_MEMORY_ID: Final = {"id": "memory_id"}
_SEARCH: Final = ("query", "limit", "recency_weight", "topic", "mode", "as_of")

TOOLS: Final[Mapping[str, tuple[Tool, ...]]] = {
    "remember": (
        Tool(
            name="store_memory",
            params=("content", "topic", "idempotency_key", "session", "agent", "occurred_at"),
            outside={"content": "text", "session": "session_id", "agent": "agent_id"},
            advice='Whole sentences as the user said them ("I moved to Graz"), one saying a call; no summary.',
        ),
    ),
    "search": (
        Tool(
            name="search_memories",
            params=_SEARCH,
            advice="Flags warn of what is unsettled, unsure or past.",
        ),
    ),
    "context": (Tool(name="get_context", params=("query", "token_budget", "topic", "as_of")),),
    "list": (
        Tool(name="inspect_memories", params=("limit", "offset", "status", "type", "topic", "entity", "attribute")),
    ),
    "why": (Tool(name="inspect_memories", params=("id",), outside=_MEMORY_ID),),
    "history": (Tool(name="memory_history", params=("id", "entity", "attribute"), outside=_MEMORY_ID),),
    "diff": (Tool(name="compare_beliefs", toolset="full"),),
    "correct": (Tool(name="correct_memory", params=("id", "text", "value", "reason"), outside=_MEMORY_ID),),
    "delete": (
        Tool(
            name="delete_memory",
            params=("id",),
            outside=_MEMORY_ID,
            advice="For what is merely wrong there is correct_memory.",
        ),
    ),
    "contests": (Tool(name="resolve_conflict"), Tool(name="list_contests", toolset="full")),
    "resolve": (
        Tool(
            name="resolve_conflict",
            params=("id", "keep", "scopes"),
            outside={"id": "contest_id"},
            advice="The user decides, not you.",
        ),
    ),
    "stats": (Tool(name="get_memory_stats"),),
    "consolidate": (
        Tool(
            name="consolidate_memories",
            params=("topic", "similarity_threshold", "dry_run"),
            always={"force": True},
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
    "set-status": (Tool(name="set_status", outside=_MEMORY_ID, toolset="full"),),
    "core": (Tool(name="get_core", toolset="full"),),
    "drift": (
        Tool(
            name="drift_check",
            toolset="full",
            advice="A person names the folders beforehand, in the setting drift_roots.",
        ),
    ),
    "doctor": (Tool(name="check_store", toolset="full"),),
}
"""The tools of each operation by its name; one that is not named here is a tool of the full toolset as it is."""


ENGRAM: Final[Mapping[str, Tool]] = {
    "remember": Tool(name="remember", toolset="full"),
    "search": Tool(name="recall", toolset="full"),
    "set-status": Tool(name="update_status", outside={**_MEMORY_ID, "status": "new"}, toolset="full"),
    "status-history": Tool(name="status_history", outside=_MEMORY_ID, toolset="full"),
    "promote": Tool(name="promote", outside=_MEMORY_ID, toolset="full"),
    "demote": Tool(name="demote", outside=_MEMORY_ID, toolset="full"),
    "pin": Tool(name="pin", outside=_MEMORY_ID, toolset="full"),
    "unpin": Tool(name="unpin", outside=_MEMORY_ID, toolset="full"),
    "consolidate": Tool(name="consolidate", toolset="full"),
    "drift": Tool(name="drift_check", toolset="full"),
}
"""The names by which operations answer to those who come from engram, by operation: in the full toolset alone (C-021).

One that does not exist, or is not for models, answers to none; it will once it is.
"""


def list_tools(operation: Operation) -> tuple[Tool, ...]:
    """Return what an operation looks like to a model; nothing where it is not for models."""
    if "mcp" not in operation.doors:
        return ()
    own = TOOLS.get(operation.name) or (Tool(name=operation.name.replace("-", "_"), toolset="full"),)
    other = ENGRAM.get(operation.name)
    return own if other is None or any(tool.name == other.name for tool in own) else (*own, other)
