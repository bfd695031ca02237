"""The short form of an answer, for a model: few fields, times to the day, and the same as lines of text. Pure.

Some hosts show a model the structured result and others the text, so that both are short and say the same. The ids lead
to the rest, and so does the full toolset, whose answers are data for programs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from credenda.lazy import import_on_use
from credenda.model.query import Hit, SearchResult
from credenda.model.statement import find_before, write_claim
from credenda.text.fence import CLOSING, OPENING, estimate_tokens, fence_text, format_day, format_stated
from credenda.text.passages import cut_around
from credenda.text.recalled_block import count_unread
from credenda.text.tokens import tokenize

if TYPE_CHECKING:
    from credenda.read import pack
else:
    pack = import_on_use("credenda.read.pack")


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
    lines = [_make_line(group, zone) for group in pack.group_by_claim(hits)]
    texts = _fit_texts(lines, frozenset(tokenize(query)), left)
    written = [line.write(text) for line, text in zip(lines, texts, strict=True)]
    is_cut = any(text != line.text for line, text in zip(lines, texts, strict=True))
    shown = [f"- [{', '.join(line.ids)}] {text}" for line, text in zip(lines, written, strict=True)]
    block = [OPENING, *shown, CLOSING] if shown else []
    items = [_make_item(line.ids, text) for line, text in zip(lines, written, strict=True)]
    return HitLines("\n".join([*heads, *block, _write_tail(result, is_cut=is_cut)]).strip(), items)


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
