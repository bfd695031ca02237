"""The types of what tools answer: their schemas, and the fields that are shown of each value, come from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NotRequired, TypedDict

from credenda.interfaces.json_schema import Definitions, Picked, Schema
from credenda.interfaces.serialize import list_public_fields
from credenda.model.browse import Diff, Difference
from credenda.model.change import ChangeRecord
from credenda.model.contest import ContestCase, SlotLoop
from credenda.model.core import Core
from credenda.model.event import ClaimReceipt, Event, Receipt
from credenda.model.memory import Memory
from credenda.model.query import Context, EventDetails, Explanation, Hit, Page, SearchResult, SlotVersion, StatusStep
from credenda.model.report import Resolution, Stats
from credenda.operations.table import Operation

MEMORY: Final = Picked(
    Memory,
    *("id", "statement", "text", "type", "topic", "entity", "attribute", "value", "scope", "confidence", "importance"),
    *("layer", "relation", "valid_from", "valid_until", "superseded_by", "recorded_at", "pinned", "contested", "tags"),
)
EVENT: Final = Picked(Event, "id", "text", "speaker", "role", "topic", "session", "occurred_us", "tags")
HIT: Final = Picked(Hit, "id", "kind", "text", "quote", "score", "flags", "newer", "terms")
CONTEST: Final = Picked(
    ContestCase,
    *("id", "entity", "attribute", "scope", "values", "state", "question", "agent_question", "memory_ids", "opened_us"),
)
CHANGE: Final = Picked(ChangeRecord, "id", "kind", "actor", "reason", "at")
DIFFERENCE: Final = Picked(Difference, "kind", "reason", "at", "confirmations", "changes")
CLAIM: Final = Picked(ClaimReceipt, "number", "outcome", "understood", "memory_id", "replaced", "reason")
VERSION: Final = Picked(SlotVersion, *(one.attribute for one in list_public_fields(SlotVersion)))
_UNUSUAL: Final = Picked(Memory, "status", "stance")
"""Shown only where a memory is not active, or was not asserted."""

_Memory = Annotated[dict[str, Any], MEMORY, _UNUSUAL]
_Contest = Annotated[dict[str, Any], CONTEST]
_Change = Annotated[dict[str, Any], CHANGE]
_Event = Annotated[dict[str, Any], EVENT]
_Version = Annotated[dict[str, Any], VERSION]


class _HitEvidence(TypedDict):
    evidence: list[str]


class _Quote(TypedDict):
    start: int
    end: int
    quote: str


class _Compared(TypedDict):
    memory: _Memory
    previous: NotRequired[_Memory]


_Hit = Annotated[dict[str, Any], HIT, MEMORY, _UNUSUAL, EVENT, _HitEvidence]
_Evidence = Annotated[_Quote, EVENT]
_Difference = Annotated[_Compared, DIFFERENCE]


class _Recalling(TypedDict):
    notice: NotRequired[str]


class _Found(_Recalling):
    results: list[_Hit]
    total: int
    abstained: bool
    probability: float
    nearest: NotRequired[list[_Hit]]
    trace: NotRequired[Mapping[str, object]]


class _Packed(TypedDict):
    text: str
    tokens: int
    counted_by: str
    abstained: bool
    ids: list[str]


class _Moved(TypedDict):
    added: NotRequired[list[str]]
    removed: NotRequired[list[str]]
    reworded: NotRequired[list[str]]


class _Core(TypedDict):
    text: str
    tokens: int
    counted_by: str
    ids: list[str]
    left_out: NotRequired[list[str]]
    diff: NotRequired[_Moved]


class _Listed(_Recalling):
    memories: list[_Memory]
    has_more: bool
    next_offset: NotRequired[int]
    next_cursor: NotRequired[str]


class _Explained(_Recalling):
    memory: _Memory
    evidence: list[_Evidence]
    changes: list[_Change]
    authors: NotRequired[Mapping[str, str]]
    evidence_left_out: NotRequired[int]
    changes_left_out: NotRequired[int]


class _OneEvent(_Recalling):
    event: _Event
    memories: NotRequired[list[_Memory]]


class _OneMemory(_Recalling):
    memory: _Memory


class _Versions(_Recalling):
    versions: list[_Version]
    versions_left_out: NotRequired[int]


class _Contests(_Recalling):
    contests: list[_Contest]
    contests_left_out: NotRequired[int]
    answer: NotRequired[str]


class _Loops(_Recalling):
    items: list[SlotLoop]
    items_left_out: NotRequired[int]


class _History(_Recalling):
    history: list[StatusStep]
    history_left_out: NotRequired[int]


class _Differences(_Recalling):
    differences: list[_Difference]
    counts: Mapping[str, int]
    differences_left_out: NotRequired[int]


class StatsKept(TypedDict):
    """The counts that are shown even where they are nought."""

    by_type: Mapping[str, int]
    total: int
    pending_extractions: int


class _Filed(TypedDict):
    queued: bool
    cached: bool
    job_id: str | None
    event_ids: NotRequired[list[str]]
    refused: NotRequired[list[str]]
    unread: NotRequired[list[str]]
    claims: NotRequired[list[Annotated[dict[str, Any], CLAIM]]]


class _Resolved(TypedDict):
    contest: _Contest
    memory_ids: list[str]


class _Done(TypedDict):
    id: NotRequired[str]


class _Written(_Recalling):
    status: str
    data: Mapping[str, object]


class Failed(TypedDict):
    """An error as a tool answers it."""

    status: str
    code: str
    message: str
    retryable: bool
    fix: NotRequired[str]
    ids: NotRequired[Mapping[str, str]]


_READ: Final[Mapping[object, Any]] = {
    SearchResult: _Found,
    Context: _Packed,
    Core: _Core,
    Page[Memory]: _Listed,
    Explanation: _Explained,
    EventDetails: _OneEvent,
    Memory: _OneMemory,
    Sequence[SlotVersion]: _Versions,
    Sequence[ContestCase]: _Contests,
    Sequence[SlotLoop]: _Loops,
    Sequence[StatusStep]: _History,
    Diff: _Differences,
    Stats: Annotated[StatsKept, Picked(Stats, *(one.attribute for one in list_public_fields(Stats)))],
}
"""What an operation that only reads answers, by the type of its result."""
_DATA: Final[Mapping[object, Any]] = {Receipt: _Filed, Memory: _OneMemory, Resolution: _Resolved, None: _Done}
"""The data that an operation that writes answers with, where it is not the result as it is."""


def answer_type(operation: Operation) -> Any:  # noqa: ANN401 - a `TypedDict`, one with more, or a dataclass
    """Return the type of what the tool of an operation answers when all goes well."""
    return _Written if operation.writes else _READ.get(operation.output, operation.output)


def list_name(operation: Operation) -> str:
    """Return the name under which an operation that lists shows its items."""
    return Definitions().object_of(answer_type(operation))["required"][0]


def describe_answer(operation: Operation) -> Schema:
    """Describe all of what a tool answers when all goes well, with the definitions that it needs."""
    known = Definitions()
    schema = known.object_of(answer_type(operation))
    if operation.writes:
        schema["properties"]["data"] = known.object_of(_DATA.get(operation.output, operation.output))
    return {**schema, "$defs": known.schemas}


def build_output_schema(operations: Sequence[Operation]) -> Schema:
    """Describe briefly what a tool answers: what one of its operations always shows, or an error.

    A model reads every word of it, so that it says what there is and not what it is made of.
    """
    properties: Schema = {}
    alternatives: list[Schema] = []
    for operation in operations:
        schema = Definitions().object_of(answer_type(operation))
        properties |= {name: {"type": schema["properties"][name]["type"]} for name in schema["required"]}
        alternatives.append({"required": schema["required"]})
    return {"type": "object", "properties": properties, "anyOf": [*alternatives, {"required": ["code"]}]}
