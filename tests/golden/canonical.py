"""The canonical form of memories, changes and contests: no ids, hashes or wall times, and rounded numbers."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import starmap

from .product import ChangeRecord, Credenda, Memory
from .reasons import kind_of

Line = tuple[str, str]
"""The id of what was replayed, and its canonical JSON."""
_PAGE = 50
_ID = re.compile(r"\b([emckj])\d+-[0-9a-f]{5}\d\b")
_DIGITS = 4


def line(name: str, found: object) -> Line:
    """Write one line: JSON with sorted keys; an id that a text shows loses its number and its tag."""
    text = json.dumps(found, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return name, _ID.sub(r"\1#", text)


def _moment(moment_us: int | None) -> str | None:
    return None if moment_us is None else datetime.fromtimestamp(moment_us / 1e6, UTC).isoformat(timespec="seconds")


def _filled(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value not in (None, (), [], False, "")}


def every_memory(memory: Credenda) -> list[Memory]:
    """List all memories of every status but deleted, oldest first."""
    found: list[Memory] = []
    cursor = None
    while True:
        page = memory.list(status=None, limit=_PAGE, cursor=cursor)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found[::-1]


def _memory_form(one: Memory, places: Mapping[str, int]) -> dict[str, object]:
    return _filled(
        {
            "text": one.text,
            "type": one.type.value,
            "topic": one.topic,
            "speaker": one.speaker,
            "slot": [one.entity, one.attribute, one.scope],
            "value": one.value,
            "cardinality": one.cardinality.value,
            "stance": one.stance.value,
            "status": one.status.value,
            "layer": one.layer.value,
            "relation": one.relation and one.relation.value,
            "superseded_by": one.superseded_by and places.get(one.superseded_by, "deleted"),
            "confidence": round(one.confidence, _DIGITS),
            "importance": round(one.importance, _DIGITS),
            "trust": round(one.trust, _DIGITS),
            "from": _moment(one.valid_from_us),
            "until": _moment(one.valid_until_us),
            "contested": one.contested,
            "provisional": one.provisional,
            "pinned": one.pinned,
            "confirmations": one.confirmations,
            "surprise": None if one.surprise is None else round(one.surprise, _DIGITS),
            "valence": None if one.emotional_valence is None else round(one.emotional_valence, _DIGITS),
            "decay": None if one.decay_score is None else round(one.decay_score, _DIGITS),
            "version": one.version,
        }
    )


def _change_form(change: ChangeRecord) -> list[object]:
    """Return kind, actor, kind of the reason, and the names of the fields that moved."""
    return [change.kind.value, change.actor.value, kind_of(change.reason), sorted(change.after)]


def memory_forms(memory: Credenda) -> Iterator[dict[str, object]]:
    """Yield each memory with its evidence and its changes, oldest first; others are named by their place."""
    held = every_memory(memory)
    places = {one.id: place for place, one in enumerate(held)}
    for one in held:
        why = memory.why(one.id)
        yield {
            **_memory_form(one, places),
            "evidence": [[event.text[start:stop], start, stop] for event, start, stop in why.evidence],
            "changes": [*map(_change_form, why.changes)],
        }


def contest_forms(memory: Credenda) -> list[dict[str, object]]:
    """Return the contests with the places of their memories."""
    places = {one.id: place for place, one in enumerate(every_memory(memory))}
    return [
        {
            "slot": [one.entity, one.attribute, one.scope],
            "values": list(one.values),
            "members": [places.get(name, "deleted") for name in one.memory_ids],
            "state": one.state.value,
            "scopes": dict(one.scopes),
        }
        for one in memory.manage.contests()
    ]


def state_form(memory: Credenda) -> dict[str, object]:
    """Return everything that a tenant believes."""
    return _filled({"memories": [*memory_forms(memory)], "contests": contest_forms(memory)})


def numbered(name: str, found: Sequence[object]) -> list[Line]:
    """Write one line for each item; its id is the name and the place."""
    return [*starmap(line, ((f"{name}:{place}", one) for place, one in enumerate(found, 1)))]
