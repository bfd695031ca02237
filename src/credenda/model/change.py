"""Changes of memories, as data. Pure.

Pure functions return them, only `write.apply` applies them, and the log stores them; explanations, undo and rebuilds
read the log. A change refers to memories by id, and to a memory that the same batch adds by the `key` of its `Add`,
which begins with "new:".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, cast

from credenda.clock import to_datetime
from credenda.model.claim import Span
from credenda.model.memory import (
    ASSERTIVE_STANCES,
    Cardinality,
    Draft,
    Layer,
    Memory,
    MemoryType,
    Relation,
    Slot,
    Stance,
    Status,
    get_valid_from_us,
)

# Contests: slots whose value keeps alternating and that need an answer.


class ContestState(StrEnum):
    """Whether the question is still open."""

    OPEN = "open"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestCase:
    """A contest: the alternating values, the memories that hold them, and the question for the person."""

    id: str
    speaker: str
    entity: str
    attribute: str
    scope: str | None
    type_class: str
    values: tuple[str, ...]
    memory_ids: tuple[str, ...]
    state: ContestState
    question: str
    opened_us: int
    resolved_us: int | None = None
    resolution: str | None = None
    scopes: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def agent_question(self) -> str:
        """The question for an agent to pass to its user, with instructions for submitting the answer."""
        if self.state is not ContestState.OPEN:
            return ""
        return (
            f"Ask the user, at a fitting moment: {self.question} Do not choose for them. Then answer contest {self.id} "
            'with keep (one value, or in their words "X when …, else Y") or with scopes (a value for each).'
        )

    @property
    def opened_at(self) -> datetime:
        """The time of its opening."""
        return to_datetime(self.opened_us)


def to_contest_dict(contest: ContestCase) -> dict[str, object]:
    """Convert a contest to a mapping of plain values, in the form of the change log."""
    listed = {"values": list(contest.values), "memory_ids": list(contest.memory_ids), "scopes": dict(contest.scopes)}
    table = {**asdict(contest), **listed, "state": contest.state.value}
    return {name: value for name, value in table.items() if value is not None}


def from_contest_dict(table: Mapping[str, Any]) -> ContestCase:
    """Build a contest from its mapping; raises `KeyError` or `TypeError` for an invalid one.

    >>> case = ContestCase(id="k1", speaker="user", entity="user", attribute="drink", scope=None, type_class="belief",
    ...                    values=("tea",), memory_ids=("m1",), state=ContestState.OPEN, question="?", opened_us=1)
    >>> from_contest_dict(to_contest_dict(case)) == case
    True
    """
    listed = {"values": tuple(table["values"]), "memory_ids": tuple(table["memory_ids"])}
    whole: dict[str, Any] = {"scope": None, **table, **listed, "state": ContestState(table["state"])}
    return ContestCase(**whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotLoop:
    """A slot whose value was replaced repeatedly within a period (R-084), with its values, oldest first.

    `superseded_count` counts the replacements in that period, including those that a contest prevented; `contest_id` is
    the open contest about the slot, if any.
    """

    speaker: str
    entity: str
    attribute: str
    scope: str | None
    superseded_count: int
    first_seen_us: int
    last_superseded_us: int
    values: tuple[str, ...]
    contest_id: str | None = None

    @property
    def first_seen(self) -> datetime:
        """The time from which the first of the replaced values was valid."""
        return to_datetime(self.first_seen_us)

    @property
    def last_superseded(self) -> datetime:
        """The time at which the last of them was replaced."""
        return to_datetime(self.last_superseded_us)

    @property
    def chain(self) -> str:
        """The values in one line, "morning -> afternoon -> morning"."""
        return " -> ".join(self.values)


class Actor(StrEnum):
    """The author of a change."""

    RULE = "rule"
    MODEL = "model"
    USER = "user"
    SCHEDULE = "schedule"
    DREAM = "dream"
    FILE = "file"
    """A person, by editing a page of a synchronised folder."""


BY_HAND: Final = frozenset({Actor.USER, Actor.FILE})
"""Actors whose changes count as a person's decisions: through an interface, or in a page."""


class ChangeKind(StrEnum):
    """The kind of a change in the log."""

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
    LINK = "link"
    RETAG = "retag"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Support:
    """The evidence for a memory in one event: span, hash of the claim (16 bytes), and version of the extractor."""

    span: Span
    claim_hash: bytes
    reader: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Add a new memory. `key` ("new:…") identifies it inside this batch."""

    key: str
    draft: Draft
    support: tuple[Support, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm:
    """Count one more independent statement of a memory; the memory is not copied."""

    memory_id: str
    support: tuple[Support, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersede:
    """Replace a memory. `successor` is an id or an `Add` key, or None if its value only ended.

    With `start_unknown` it was true before the time at which it was told, and nothing says since when.
    """

    memory_id: str
    successor: str | None
    relation: Relation
    valid_until_us: int
    reason: str
    start_unknown: bool = False


def end_memory(
    memory: Memory,
    until_us: int,
    reason: str,
    successor: str | None = None,
    *,
    relation: Relation = Relation.CHANGED,
    was_so: bool = False,
) -> Supersede:
    """Supersede a memory at a time. If it begins later, it was valid at no time.

    A state that ended before it was told began at some time before that. With `was_so` words tell that it was so, so
    that it was also if they are told at the same time.
    """
    since_us = get_valid_from_us(memory)
    lasted = relation is Relation.CHANGED and memory.stance in ASSERTIVE_STANCES and memory.status is Status.ACTIVE
    unknown = lasted and until_us < since_us + was_so
    return Supersede(
        memory_id=memory.id,
        successor=successor,
        relation=relation,
        valid_until_us=until_us if unknown else max(since_us, until_us),
        reason=reason,
        start_unknown=unknown,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Open a contest: flag the named memories, make them active, and store the question."""

    slot: Slot
    memory_ids: tuple[str, ...]
    values: tuple[str, ...]
    question: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolve:
    """Close a contest with an answer; the flags of its memories are cleared.

    `scopes` gives each remaining value its scope ("default" for none); `keep` lists the memories that stay.
    """

    contest_id: str
    resolution: str
    scopes: Mapping[str, str]
    keep: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetStatus:
    """Move a memory to another status that the table of transitions allows.

    `trust`, if set, raises the memory's trust to that of the corroborating source.
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
    """Pin or unpin a memory: pinned memories are in every context and never decay."""

    memory_id: str
    pinned: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retag:
    """Replace the metadata of a memory; its content stays the same."""

    memory_id: str
    metadata: Mapping[str, object]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """Take a memory out of use; `Restore` brings it back unchanged."""

    memory_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """Bring back a forgotten memory with its previous status."""

    memory_id: str
    status: Status
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Redact a memory permanently and add its tombstone. Cannot be undone."""

    memory_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Revert the logged change `undoes`: `back` holds the previous values of the memory's fields.

    `contest` is the previous state of the contest, if the change was about one; a change refers to a memory or to a
    contest. An `Undo` is logged with the reverted change's id as its cause, and can be undone as well.
    """

    undoes: str
    memory_id: str | None
    back: Mapping[str, object]
    reason: str
    contest: ContestCase | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revise:
    """Set a memory to the state that a rebuild from the journal derives: `fields` by name.

    A successor is an id or an `Add` key. `support` is the missing evidence.
    """

    memory_id: str
    fields: Mapping[str, object]
    reason: str
    support: tuple[Support, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Record that similar memories stay separate: the log names each with the others, and no field changes."""

    memory_ids: tuple[str, ...]
    reason: str


Change = (
    Revise
    | Link
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
    """An applied change in the log.

    `before` and `after` hold only the changed fields; `cause` is the event or job behind the change, or the reverted
    change for an `undo`. `support` is the evidence added with it, None in logs older than that field. Journal and log
    together suffice to rebuild every memory.
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
        """The time of its application."""
        return to_datetime(self.at_us)


# Fields of a memory in the change log, converted to values. Pure.


DRAFT_FIELDS: Final = tuple(field.name for field in fields(Draft))
_ENUMS: Final[Mapping[str, type[Any]]] = {
    "type": MemoryType,
    "cardinality": Cardinality,
    "stance": Stance,
    "layer": Layer,
    "status": Status,
    "relation": Relation,
}


def parse_fields(plain: Mapping[str, object]) -> dict[str, object]:
    """Convert the fields of a log entry to values.

    >>> parse_fields({"status": "active", "tags": ["a"]})
    {'status': <Status.ACTIVE: 'active'>, 'tags': ('a',)}
    """
    return {name: _parse_value(name, value) for name, value in plain.items()}


def _parse_value(name: str, value: object) -> object:
    if value is not None and name in _ENUMS:
        return _ENUMS[name](value)
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


def to_draft(after: Mapping[str, object]) -> Draft:
    """Build the draft from an `add` entry; an entry with redacted words gives a draft without words."""
    said: dict[str, Any] = {"text": "", "type": MemoryType.FACT}
    said.update((name, value) for name, value in parse_fields(after).items() if name in DRAFT_FIELDS)
    return Draft(**said)
