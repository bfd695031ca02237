"""Decisions about memories, as data.

Pure functions return them, `write.apply` alone carries them out, and the log keeps them: that is what explains, undoes
and rebuilds. A change names memories by id; a memory that the same batch adds is named by the `key` of its `Add`,
which begins with "new:".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from credenda.clock import to_datetime
from credenda.model.claim import Span
from credenda.model.contest import ContestCase
from credenda.model.memory import Draft, Layer, Relation, Slot, Status

__all__ = [
    "Actor",
    "Add",
    "Change",
    "ChangeKind",
    "ChangeRecord",
    "Confirm",
    "Contest",
    "Delete",
    "Forget",
    "Pin",
    "Resolve",
    "Restore",
    "Retag",
    "Revise",
    "SetLayer",
    "SetStatus",
    "Supersede",
    "Support",
    "Undo",
]


class Actor(StrEnum):
    """Who decided."""

    RULE = "rule"
    MODEL = "model"
    USER = "user"
    SCHEDULE = "schedule"


class ChangeKind(StrEnum):
    """The name of a change in the log."""

    ADD = "add"
    CONFIRM = "confirm"
    SUPERSEDE = "supersede"
    CONTEST = "contest"
    RESOLVE = "resolve"
    SET_STATUS = "set_status"
    SET_LAYER = "set_layer"
    PIN = "pin"
    FORGET = "forget"
    RESTORE = "restore"
    DELETE = "delete"
    REBUILD = "rebuild"
    REVISE = "revise"
    RETAG = "retag"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Support:
    """A span of an event that speaks for a memory, the hash of the claim read from it (16 bytes), and who read it."""

    span: Span
    claim_hash: bytes
    reader: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Hold a new memory. `key` ("new:…") names it inside this batch."""

    key: str
    draft: Draft
    support: tuple[Support, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm:
    """Count one more independent saying of a memory; nothing is copied."""

    memory_id: str
    support: tuple[Support, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersede:
    """Replace a memory. `successor` is an id or an `Add` key, or None where its value merely ended."""

    memory_id: str
    successor: str | None
    relation: Relation
    valid_until_us: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Stop deciding a slot: flag the named memories, make them active, and ask."""

    slot: Slot
    memory_ids: tuple[str, ...]
    values: tuple[str, ...]
    question: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolve:
    """Close a contest with an answer; the flags of its memories are cleared.

    `scopes` gives each remaining value its scope ("default" for none); `keep` are the memories that stay.
    """

    contest_id: str
    resolution: str
    scopes: Mapping[str, str]
    keep: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetStatus:
    """Move a memory to another status along the table of legal transitions.

    `trust` is raised to that of whoever vouches for it, where that is given.
    """

    memory_id: str
    status: Status
    reason: str
    trust: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLayer:
    """Move a memory to another layer."""

    memory_id: str
    layer: Layer
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """Pin or unpin a memory: pinned ones are in every context and never fade."""

    memory_id: str
    pinned: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retag:
    """Give a memory other metadata: notes about it, never what it says."""

    memory_id: str
    metadata: Mapping[str, object]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """Take a memory out of use; `Restore` brings it back as it was."""

    memory_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """Bring back a forgotten memory with the status it had."""

    memory_id: str
    status: Status
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Redact a memory for good; the tombstone is written beside it. Not undoable."""

    memory_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Take back the logged change `undoes`: `back` holds the fields of the memory as they were before it.

    `contest` is the question as it was before, where the change was about one; a change names a memory or a contest.
    An `Undo` is logged with the id of what it undoes as its cause, and can be undone in its turn.
    """

    undoes: str
    memory_id: str | None
    back: Mapping[str, object]
    reason: str
    contest: ContestCase | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revise:
    """Give a memory the standing that a rebuild from the journal finds, whatever it had: `fields` by name.

    A successor is an id or an `Add` key. `support` is evidence that it lacked.
    """

    memory_id: str
    fields: Mapping[str, object]
    reason: str
    support: tuple[Support, ...] = ()


Change = (
    Revise
    | Add
    | Confirm
    | Supersede
    | Contest
    | Resolve
    | SetStatus
    | SetLayer
    | Pin
    | Retag
    | Forget
    | Restore
    | Delete
    | Undo
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRecord:
    """An applied change as the log keeps it.

    `before` and `after` hold only the fields that moved; `cause` is the event or job that led to it, for an `undo` the
    change that it takes back. `support` is the evidence that came with it, None where the log was written before that
    was kept. With the journal this is enough to make every belief again.
    """

    id: str
    kind: ChangeKind
    actor: Actor
    reason: str
    at_us: int
    memory_id: str | None = None
    cause: str | None = None
    before: Mapping[str, object] = field(default_factory=dict[str, object])
    after: Mapping[str, object] = field(default_factory=dict[str, object])
    support: tuple[Support, ...] | None = None

    @property
    def at(self) -> datetime:
        """When it was applied."""
        return to_datetime(self.at_us)
