"""Results of tools: short for a model, or all fields as data for a program, and with recalled text marked as data.

A structured result with recalled text begins with a notice, and keeps the text in JSON strings. The text form of data
is the same JSON, in which no text can open or close a tag; for a model it is lines, fenced where they recall something.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from credenda.errors import CredendaError
from credenda.interfaces.json_schema import Definitions, Schema
from credenda.interfaces.remedies import name_tools
from credenda.interfaces.serialize import encode, list_public_fields, to_jsonable
from credenda.lazy import import_on_use
from credenda.model.browse import Diff, Difference
from credenda.model.change import ContestCase, SlotLoop
from credenda.model.core import Core
from credenda.model.event import Event, Receipt
from credenda.model.memory import Memory, Stance, Status
from credenda.model.query import Context, EventDetails, Explanation, Hit, Page, SearchResult, SlotVersion, StatusStep
from credenda.model.report import Resolution, Stats
from credenda.model.statement import find_before, write_claim
from credenda.operation import Operation
from credenda.text.fence import CLOSING, OPENING, estimate_tokens, fence_text, format_day, format_stated
from credenda.text.passages import cut_around
from credenda.text.recalled_block import count_unread
from credenda.text.tokens import tokenize

if TYPE_CHECKING:
    from credenda.read import pack
else:
    pack = import_on_use("credenda.read.pack")

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
        # Without its later items where it is long; a history, without its earlier ones.
        values = cast("Sequence[object]", value)
        (name,) = list_always_shown(operation)
        newest_last = bool(values) and isinstance(values[0], SlotVersion | StatusStep)
        kept = values[-_SHOWN:] if newest_last else values[:_SHOWN]
        left_out = _drop_empty({f"{name}_left_out": len(values) - len(kept)})
        return {name: [_ITEMS.get(type(one), to_jsonable)(one) for one in kept], **left_out}
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


def _answer_memory(memory: Memory) -> Answer:
    return {"memory": _show_memory(memory)}


def _answer_table(value: object) -> Answer:
    shown = to_jsonable(value)
    return cast("Answer", shown) if isinstance(shown, dict) else {"value": shown}


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
    Stats: lambda counted: _drop_empty(to_jsonable(counted), keep=frozenset(_STATS)),
}
_ITEMS: Final[Mapping[type, Callable[[Any], Any]]] = {
    ContestCase: _show_contest,
    SlotVersion: lambda version: _pick_fields(version, VERSION) | (_deny(version.value) if version.denied else {}),
    Memory: _show_memory,
}


# The short form of an answer, for a model: few fields, times to the day, and the same as lines of text. Pure.


NOTHING: Final = "Nothing is known."
_LEFT_OUT: Final = frozenset(
    {"statement", "importance", "confidence", "recorded_at", "type", "topic", "entity", "attribute", "tags"}
    | {"start", "end", "actor", "session", "role", "tokens", "counted_by", "agent_question", "memory_ids"}
)
_TIMES: Final = frozenset({"valid_from", "valid_until", "occurred_at", "opened_at", "changed_at", "at"})
_WORDS: Final = ("text", "quote", "question", "value", "understood", "kind")
"""Fields with the words of an item, of which the first one there stands in front."""
_FRAME: Final = frozenset({"notice", "status", "data"})
_FOR_PROGRAMS: Final = "job_id"
"""Stays in the data, by which a program may wait for a write; no line says it."""


def shorten_answer(answer: Mapping[str, Any], zone: tzinfo) -> dict[str, Any]:
    """Return an answer without the fields that say nothing to a model; days are in `zone`.

    A memory in a slot is its statement, which has its day; a version of a slot is its value.
    """
    return {name: _shorten(name, value, zone) for name, value in answer.items() if name not in _LEFT_OUT}


def _shorten(name: str, value: object, zone: tzinfo, *, several: bool = False) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        without = {"layer"} if several else set[str]()
        if "attribute" in table and "statement" in table:
            table = {**table, "text": table["statement"]}
            without |= {"valid_from"} if several else set()
        elif "value" in table:
            without |= {"text"}
        return shorten_answer({name: inner for name, inner in table.items() if name not in without}, zone)
    if isinstance(value, list):
        return [_shorten("", inner, zone, several=True) for inner in cast("list[object]", value)]
    if name in _TIMES and isinstance(value, str):
        return datetime.fromisoformat(value).astimezone(zone).date().isoformat()
    return value


def write_lines(answer: Mapping[str, Any]) -> str:
    """Write a short answer as lines, fenced where it recalls something.

    >>> write_lines({"status": "ok", "data": {"memory": {"id": "m1", "text": "Lives in Graz", "valid_from": "2026"}}})
    'memory: [m1] Lives in Graz (valid from: 2026)'
    >>> write_lines({"status": "ok", "data": {"queued": True, "job_id": "j1"}})
    'queued: true'
    """
    told = {name: value for name, value in answer.items() if name not in _FRAME} | answer.get("data", {})
    told.pop(_FOR_PROGRAMS, None)
    lines = [line for name, value in told.items() for line in _write_field(name.replace("_", " "), value)]
    if not lines:
        return "Done." if "status" in answer else NOTHING
    return "\n".join([OPENING, *lines, CLOSING] if "notice" in answer else lines)


def _write_field(name: str, value: object) -> Iterator[str]:
    if isinstance(value, list) and any(isinstance(one, dict) for one in cast("list[object]", value)):
        yield f"{name}:"
        yield from (f"- {_write_item(one)}" for one in cast("list[Any]", value))
    elif isinstance(value, dict):
        yield f"{name}: {_write_item(cast('dict[str, Any]', value))}"
    elif value or value == 0:
        yield f"{name}: {_write_value(value)}"


def _write_item(item: Mapping[str, Any]) -> str:
    """Write an item on one line: its id, its words, and what else is said of it in brackets."""
    first = next((name for name in _WORDS if name in item), "")
    said = {"id", first, "value"}  # the words of a memory have its value
    rest = {name: value for name, value in item.items() if name not in said and value}
    head = [f"[{item['id']}]"] if "id" in item else []
    words = [_write_value(item[first])] if first else list[str]()
    notes = "; ".join(f"{name.replace('_', ' ')}: {_write_value(value)}" for name, value in rest.items())
    return " ".join([*head, *words, *([f"({notes})"] if notes else [])])


def _write_value(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return ", ".join(_write_value(inner) for inner in cast("list[object]", value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_write_value(inner)}" for name, inner in cast("dict[str, object]", value).items())
    return fence_text(str(value).lower() if isinstance(value, bool) else str(value))


# Text of a search result for a model: one short line for each hit, fenced as data.


_TOKENS: Final = 735
"""Tokens of twenty hits by `estimate_tokens`, which the vocabulary o200k counts as fewer than 700."""
_HITS: Final = 20
_MORE: Final = _TOKENS // _HITS
_SIGNS: Final = 7
"""Tokens of the quotes and names around a hit in JSON."""
_TEXT_TOKENS: Final = 160
"""Longest text of a line, where there is room for it."""
_LEAST: Final = 6
"""Tokens that every text has, whatever the better ones take."""
_SHARES: Final = 3
"""How many times its equal share of the room a text may take."""
_NOTHING: Final = "Nothing of the question is known."
_NEAREST: Final = "Nearest, which probably do not answer:"
_QUOTED: Final = 3
"""Number of best lines that show the sentence behind a statement."""
_USER: Final = "user"


class _Line(NamedTuple):
    """One line, whose text may be cut: its ids, the speaker as in "Mia: " before it, and notes after it."""

    ids: tuple[str, ...]
    head: str
    text: str
    notes: str

    def write(self, text: str) -> str:
        """Write the line with a text, without its ids."""
        return f"{self.head}{text}{f' ({self.notes})' if self.notes else ''}"


class HitLines(NamedTuple):
    """The hits for a model: `text` is the whole result, and `items` are the same lines by their ids."""

    text: str
    items: list[dict[str, Any]]


def describe_hits(query: str, result: SearchResult, zone: tzinfo) -> HitLines:
    """Describe hits, best first, or the near misses of a search that found nothing; days are in `zone`.

    Texts share the room: the best hits are written first, and each takes at most three times an equal share.
    """
    hits = result.hits or result.nearest
    heads = [] if result.hits else [_NOTHING, *([_NEAREST] if hits else [])]
    frame = "\n".join([*heads, OPENING, CLOSING, _write_tail(result, is_cut=True)])
    left = _TOKENS + _MORE * max(len(hits) - _HITS, 0) - estimate_tokens(frame)
    groups = list(pack.group_by_claim(hits))
    lines = [*_quote(groups[:_QUOTED], [_make_line(group, zone) for group in groups])]
    texts = _fit_texts(lines, frozenset(tokenize(query)), left)
    written = [line.write(text) for line, text in zip(lines, texts, strict=True)]
    is_cut = any(text != line.text for line, text in zip(lines, texts, strict=True))
    shown = [f"- [{', '.join(line.ids)}] {text}" for line, text in zip(lines, written, strict=True)]
    block = [OPENING, *shown, CLOSING] if shown else []
    items = [_make_item(line.ids, text) for line, text in zip(lines, written, strict=True)]
    return HitLines("\n".join([*heads, *block, _write_tail(result, is_cut=is_cut)]).strip(), items)


def _quote(groups: Sequence[Sequence[Hit]], lines: Sequence[_Line]) -> Iterator[_Line]:
    """Put the sentence behind the statements of the best groups where it says more than all hits of it; each once."""
    claims: dict[str, list[Memory]] = {}
    hits = [hit for group in groups for hit in group]
    for hit in hits:
        if hit.memory is not None:
            claims.setdefault(hit.quote, []).append(hit.memory)
    before = [find_before(hit.text) for hit in hits]
    quotes = [group[0].quote for group in groups]
    for line, quote in zip(lines, chain(quotes, repeat("")), strict=False):
        told = claims.pop(quote, None)
        more = told is not None and pack.has_untold_words(quote, told, before)
        yield line._replace(text=f"{line.text} “{fence_text(quote)}”") if more else line


def _make_item(ids: Sequence[str], text: str) -> dict[str, Any]:
    first, *others = ids
    return {"id": first, "text": text, **({"also": others} if others else {})}


def _make_line(hits: Sequence[Hit], zone: tzinfo) -> _Line:
    """Describe the hits of one claim, or an event."""
    first = hits[0]
    notes = dict.fromkeys(note for hit in hits for note in (*_name_days(hit, zone), *pack.word_warnings(hit)))
    text = first.text if first.memory is None else write_claim(first.memory)
    source = first.memory or first.event
    stated = text if source is None or source.speaker == _USER else format_stated(source.speaker, text)
    head = fence_text(stated.removesuffix(text))
    return _Line(
        tuple(hit.id for hit in hits), f"{head} " if head else "", fence_text(text), fence_text("; ".join(notes))
    )


def _name_days(hit: Hit, zone: tzinfo) -> list[str]:
    """Return since when a memory is true, or else the day on which it, or the event, was said."""
    days = pack.name_days(hit, zone) or [format_day(event.occurred_us, zone) for event in hit.evidence[-1:]]
    before = "" if hit.memory is None else find_before(hit.text)
    return [*days, f"before: {before}"] if before else days


def _fit_texts(lines: Sequence[_Line], terms: Collection[str], left: int) -> list[str]:
    """Return the texts of lines, within `left` tokens for the lines with their ids, the longer ones cut."""
    room = left - sum(estimate_tokens(f"{' '.join(line.ids)} {line.write('')}") + _SIGNS for line in lines)
    most = min(_TEXT_TOKENS, _SHARES * max(room, 0) // max(len(lines), 1))
    texts: list[str] = []
    for rest, line in zip(range(len(lines) - 1, -1, -1), lines, strict=True):
        share = max(min(room - _LEAST * rest, most), _LEAST)
        texts.append(cut_around(line.text, terms, share))
        room -= estimate_tokens(texts[-1])
    return texts


def _write_tail(result: SearchResult, *, is_cut: bool) -> str:
    """Say how sure the result is, what is missing from it, and how to see the rest."""
    told = [f"{len(result.hits)} found, probability of an answer {result.probability:.2f}."] if result.hits else []
    if result.waiting:
        told.append(f"{count_unread(result.waiting)} {'is' if result.waiting == 1 else 'are'} not read yet.")
    if is_cut:
        told.append("Full text: inspect_memories with an id as memory_id.")
    return " ".join(told)
