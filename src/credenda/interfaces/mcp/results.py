"""Results of tools: short for a model, or all fields as data for a program, and with recalled text marked as data.

A structured result with recalled text begins with a notice, and keeps the text in JSON strings. The text form of data
is the same JSON, in which no text can open or close a tag; for a model it is lines, fenced where they recall something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from typing import Any, Final, cast

from credenda.errors import CredendaError
from credenda.interfaces.json_schema import Definitions, Schema
from credenda.interfaces.mcp.brief import NOTHING, describe_hits, shorten_answer, write_lines
from credenda.interfaces.remedies import name_tools
from credenda.interfaces.serialize import encode, list_public_fields, to_jsonable
from credenda.model.browse import Diff, Difference
from credenda.model.change import ContestCase, SlotLoop
from credenda.model.core import Core
from credenda.model.event import Event, Receipt
from credenda.model.memory import Memory, Stance, Status
from credenda.model.query import Context, EventDetails, Explanation, Hit, Page, SearchResult, SlotVersion, StatusStep
from credenda.model.report import Resolution, Stats
from credenda.operation import Operation
from credenda.text.fence import OPENING

# What tools answer: the fields that are shown of each value, and those that an answer always has.


MEMORY: Final = (
    *("id", "statement", "text", "type", "topic", "entity", "attribute", "value", "scope", "confidence", "importance"),
    *("layer", "relation", "valid_from", "valid_until", "superseded_by", "recorded_at", "pinned", "contested", "tags"),
)
EVENT: Final = ("id", "text", "speaker", "role", "topic", "session", "occurred_us", "tags")
HIT: Final = ("id", "kind", "text", "quote", "score", "flags", "newer", "terms")
CONTEST: Final = (
    *("id", "entity", "attribute", "scope", "values", "state", "question", "agent_question", "memory_ids", "opened_us"),
)
CHANGE: Final = ("id", "kind", "actor", "reason", "at")
DIFFERENCE: Final = ("kind", "reason", "at", "confirmations", "changes")
CLAIM: Final = ("number", "outcome", "understood", "memory_id", "replaced", "reason")
VERSION: Final = tuple(one.attribute for one in list_public_fields(SlotVersion))

_WRITTEN: Final = {"status": "string", "data": "object"}
_COUNTED: Final = {"text": "string", "tokens": "integer", "counted_by": "string"}
_STATS: Final = {"by_type": "object", "total": "integer", "pending_extractions": "integer"}
"""The counts that are shown even where they are nought."""
_READ: Final[Mapping[object, Mapping[str, str]]] = {
    SearchResult: {"results": "array", "total": "integer", "abstained": "boolean", "probability": "number"},
    Context: {**_COUNTED, "abstained": "boolean", "ids": "array"},
    Core: {**_COUNTED, "ids": "array"},
    Page[Memory]: {"memories": "array", "has_more": "boolean"},
    Explanation: {"memory": "object", "evidence": "array", "changes": "array"},
    EventDetails: {"event": "object"},
    Memory: {"memory": "object"},
    Sequence[SlotVersion]: {"versions": "array"},
    Sequence[ContestCase]: {"contests": "array"},
    Sequence[SlotLoop]: {"items": "array"},
    Sequence[StatusStep]: {"history": "array"},
    Diff: {"differences": "array", "counts": "object"},
    Stats: _STATS,
}
"""What the answer of an operation that only reads always has, by the type of its result."""


def list_always_shown(operation: Operation) -> Mapping[str, str]:
    """Return what the answer of an operation has when all goes well: names, with their types in JSON Schema."""
    if operation.writes:
        return _WRITTEN
    if operation.output in _READ:
        return _READ[operation.output]
    schema = Definitions().object_of(operation.output)
    return {name: schema["properties"][name]["type"] for name in schema["required"]}


def build_output_schema(operations: Sequence[Operation]) -> Schema:
    """Describe briefly what a tool answers: what one of its operations always shows, or an error.

    A model reads every word of it, so that it says what there is and not what it is made of.
    """
    shown = [list_always_shown(operation) for operation in operations]
    properties = {name: {"type": kind} for one in shown for name, kind in one.items()}
    alternatives: list[Schema] = [{"required": list(one)} for one in shown]
    return {"type": "object", "properties": properties, "anyOf": [*alternatives, {"required": ["code"]}]}


Answer = dict[str, Any]
NOTICE: Final = OPENING.partition("\n")[2]
_TAGS: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "\u2028": "\\u2028", "\u2029": "\\u2029"})
_SHOWN: Final = 50
"""The most items of a list, and evidence spans and changes of an explanation, that an answer shows."""
_SHOWN_IN_HIT: Final = 5
_IN_HIT: Final = frozenset({"id", "statement", "text", "layer", "contested"})
_RECALLING: Final = (Diff, SearchResult, Page, Explanation, EventDetails, Memory, Resolution, list, tuple)


def build_answer(operation: Operation, given: Mapping[str, Any], value: object) -> Answer:
    """Convert the result of an operation into the result of its tool."""
    shaped = _answer_write(given, value) if operation.writes else _read(operation, given, value)
    return {"notice": NOTICE, **shaped} if isinstance(value, _RECALLING) else shaped


def build_failure(error: CredendaError, tools: Mapping[str, str]) -> Answer:
    """Convert an error into a tool result: what happened, why, what to do, and whether to retry.

    `tools` are the names of the offered tools by operation; the advice names these.
    """
    error = name_tools(error, tools)
    more = _drop_empty({"fix": error.fix, "ids": dict(error.ids)})
    return {"status": "error", "code": error.code, "message": str(error), "retryable": error.retryable, **more}


def build_internal_failure(error: Exception) -> Answer:
    """Report an internal error by its type only, because its message may contain memory text."""
    message = f"internal error: {type(error).__name__}; the call may have had no effect"
    return {"status": "error", "code": "internal", "message": message, "retryable": False}


def build_brief(operation: Operation, given: Mapping[str, Any], value: object, zone: tzinfo) -> tuple[Answer, str]:
    """Convert the result of an operation into the short answer for a model, and its text; days are in `zone`."""
    if isinstance(value, SearchResult):
        hits = describe_hits(given["query"], value, zone)
        name = "results" if value.hits else "nearest"
        found = {"results": [], "total": len(value.hits), "abstained": value.abstained, name: hits.items}
        more = _drop_empty({"probability": round(value.probability, 2), "waiting": value.waiting})
        return {"notice": NOTICE, **found, **more}, hits.text
    answer = shorten_answer(build_answer(operation, given, value), zone)
    if not isinstance(value, Context | Core):
        return answer, write_lines(answer)
    answer.pop("ids")
    return answer, value.text or NOTHING


def to_text(value: Mapping[str, object]) -> str:
    """Write a result as JSON on one line, in which no text can open or close a tag."""
    return encode(value, indent=None).translate(_TAGS)


def _answer_write(given: Mapping[str, Any], value: object) -> Answer:
    data: Answer
    match value:
        case Receipt():
            filed = {"queued": value.queued, "cached": value.cached, "job_id": value.job_id}
            more = {name: to_jsonable(getattr(value, name)) for name in ("event_ids", "refused", "unread")}
            data = {**filed, **_drop_empty({**more, "claims": [_pick_fields(one, CLAIM) for one in value.claims]})}
        case Memory():
            data = _answer_memory(value)
        case Resolution():
            data = {"contest": _show_contest(value.contest), "memory_ids": to_jsonable(value.memory_ids)}
        case None:
            data = {"id": given["id"]} if "id" in given else {}
        case _:
            data = _answer_table(value)
    return {"status": "ok", "data": data}


def _read(operation: Operation, given: Mapping[str, Any], value: object) -> Answer:
    if isinstance(value, list | tuple):
        return _answer_list(operation, cast("Sequence[object]", value))
    if isinstance(value, Page):
        page = cast("Page[Memory]", value)
        shown: Answer = {
            "memories": [_show_memory(memory) for memory in page.items],
            "has_more": page.next_cursor is not None,
        }
        if page.next_cursor is not None:
            shown |= {"next_offset": given.get("offset", 0) + len(page.items), "next_cursor": page.next_cursor}
        return shown
    if isinstance(value, SearchResult):
        explain = bool(given.get("explain"))
        trace = {"trace": to_jsonable(value.trace)} if explain else {}
        results = [_show_hit(hit) for hit in value.hits]
        more = _drop_empty({"waiting": value.waiting, "nearest": [_show_hit(hit) for hit in value.nearest]})
        sure = {"abstained": value.abstained, "probability": round(value.probability, 2)}
        return {"results": results, "total": len(results), **sure, **more, **trace}
    shaped = _WHOLE.get(type(value))
    return shaped(value) if shaped else _answer_table(value)


def _answer_context(packed: Context) -> Answer:
    ids = [hit.id for hit in packed.hits]
    counted = {"tokens": packed.tokens, "counted_by": packed.counted_by}
    waiting = {"waiting": packed.waiting} if packed.waiting else {}
    return {"text": packed.text, **counted, "abstained": packed.abstained, **waiting, "ids": ids}


def _answer_core(value: Core) -> Answer:
    """Show the block, with the ids of the lines that the last rewrite changed."""
    moved = {
        "added": [line.memory_id for line in value.diff.added],
        "removed": [line.memory_id for line in value.diff.removed],
        "reworded": [line.memory_id for _, line in value.diff.reworded],
    }
    counted = {"tokens": value.tokens, "counted_by": value.counted_by}
    shown: Answer = {"text": value.text, **counted, "ids": [line.memory_id for line in value.lines]}
    return shown | _drop_empty({"left_out": list(value.left_out), "diff": _drop_empty(moved)})


def _answer_stats(counted: Stats) -> Answer:
    return _drop_empty(to_jsonable(counted), keep=frozenset(_STATS))


def _answer_memory(memory: Memory) -> Answer:
    return {"memory": _show_memory(memory)}


def _answer_table(value: object) -> Answer:
    shown = to_jsonable(value)
    return cast("Answer", shown) if isinstance(shown, dict) else {"value": shown}


def _answer_list(operation: Operation, values: Sequence[object]) -> Answer:
    """Show a list, without its later items where it is long; of a history, without its earlier ones."""
    (name,) = list_always_shown(operation)
    newest_last = bool(values) and isinstance(values[0], SlotVersion | StatusStep)
    shown = values[-_SHOWN:] if newest_last else values[:_SHOWN]
    left_out = _drop_empty({f"{name}_left_out": len(values) - len(shown)})
    return {name: [_ITEMS.get(type(value), to_jsonable)(value) for value in shown], **left_out}


def _answer_explanation(value: Explanation) -> Answer:
    evidence = [
        {**_show_event(event, without={"text", "tags"}), "start": start, "end": end, "quote": event.text[start:end]}
        for event, start, end in value.evidence[-_SHOWN:]
    ]
    changes = [_pick_fields(change, CHANGE) for change in value.changes[-_SHOWN:]]
    left_out = {"evidence_left_out": len(value.evidence) - len(evidence)}
    left_out |= {"changes_left_out": len(value.changes) - len(changes)}
    more = _drop_empty({"authors": dict(value.authors), **left_out})
    return {"memory": _show_memory(value.memory), "evidence": evidence, "changes": changes, **more}


def _answer_event(value: EventDetails) -> Answer:
    held = [_show_memory(memory) for memory in value.memories[:_SHOWN]]
    return {"event": _show_event(value.event), **_drop_empty({"memories": held})}


def _diff(value: Diff) -> Answer:
    differences = [_show_difference(one) for one in value.differences[-_SHOWN:]]
    left_out = _drop_empty({"differences_left_out": len(value.differences) - len(differences)})
    return {"differences": differences, "counts": dict(value.counts), **left_out}


def _show_difference(one: Difference) -> Answer:
    shown = _pick_fields(one, DIFFERENCE) | {"memory": _show_memory(one.memory)}
    return shown | ({"previous": _show_memory(one.previous)} if one.previous is not None else {})


def _show_hit(hit: Hit) -> Answer:
    same = {"quote"} if hit.quote == hit.text else set[str]()
    shown = _pick_fields(hit, HIT, same) | {"score": round(hit.score, 4)}
    if hit.memory is not None:
        evidence = [event.id for event in hit.evidence[-_SHOWN_IN_HIT:]]
        return shown | _show_memory(hit.memory, without=_IN_HIT) | _drop_empty({"evidence": evidence})
    return shown | (_show_event(hit.event, without={"id", "text"}) if hit.event is not None else {})


def _show_memory(memory: Memory, *, without: Iterable[str] = ()) -> Answer:
    """Show a memory, without fields that have their usual value; a denied value reads "not …"."""
    status = {} if memory.status is Status.ACTIVE else {"status": memory.status.value}
    stance = {} if memory.stance is Stance.ASSERTED else {"stance": memory.stance.value}
    denied = _deny(memory.value) if memory.stance is Stance.NEGATED else {}
    return _pick_fields(memory, MEMORY, without) | denied | status | stance


def _deny(value: str | None) -> Answer:
    return {"value": f"not {value}"} if value else {}


def _show_event(event: Event, *, without: Iterable[str] = ()) -> Answer:
    return _pick_fields(event, EVENT, without)


def _show_contest(contest: ContestCase) -> Answer:
    return _pick_fields(contest, CONTEST)


def _show_version(version: SlotVersion) -> Answer:
    return _pick_fields(version, VERSION) | (_deny(version.value) if version.denied else {})


def _pick_fields(value: object, names: Sequence[str], without: Iterable[str] = ()) -> Answer:
    """Show some fields of a value, under their public names, without empty fields."""
    left_out = frozenset(without)
    return _drop_empty(to_jsonable({name: getattr(value, name) for name in names if name not in left_out}))


def _drop_empty(shown: Mapping[str, Any], keep: frozenset[str] = frozenset()) -> Answer:
    """Leave out fields that are null, false, zero or empty, to save tokens."""
    return {name: value for name, value in shown.items() if value or name in keep}


_WHOLE: Final[Mapping[type, Callable[[Any], Answer]]] = {
    Context: _answer_context,
    Core: _answer_core,
    Diff: _diff,
    EventDetails: _answer_event,
    Explanation: _answer_explanation,
    Memory: _answer_memory,
    Stats: _answer_stats,
}
_ITEMS: Final[Mapping[type, Callable[[Any], Any]]] = {
    ContestCase: _show_contest,
    SlotVersion: _show_version,
    Memory: _show_memory,
}
