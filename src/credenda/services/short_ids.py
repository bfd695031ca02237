"""Short ids: the beginning of an id names a thing as far as it names one only."""

from __future__ import annotations

import re
from typing import Final

from credenda.errors import Invalid
from credenda.ids import IdKind, format_id, parse_serial
from credenda.model.memory import Status
from credenda.runtime import Parts
from credenda.storage.store import ChangeFilter, EventFilter, MemoryFilter, Reader

__all__ = ["resolve_id", "resolve_id_in"]

_SHORT: Final = re.compile(r"([emck])([1-9][0-9]{0,17})(-[0-9a-f]{0,5})?")
_DIGITS_MAX: Final = 18
_LISTED: Final = 5
"""Choices that an error lists."""
_SHOWN: Final = frozenset(Status) - {Status.DELETED}


def resolve_id(parts: Parts, text: str) -> str:
    """Return the id that a short one stands for, as `resolve_id_in` does, with a reader of its own."""
    if not _is_short(text):
        return text
    with parts.store.reader(parts.user_id) as reader:
        return resolve_id_in(reader, text)


def resolve_id_in(reader: Reader, text: str) -> str:
    """Return the id of this tenant that a text is, or is the only one to begin with.

    A number without a tag names the thing with exactly that number, where there is one: `m2` is no short form of `m20`
    while memory 2 exists. What is not known here, and what is no id at all, comes back as it is: the look-up that
    follows refuses both alike. Raises `Invalid` with the first choices where several begin so.
    """
    found = _SHORT.fullmatch(text.strip()) if _is_short(text) else None
    if found is None:
        return text
    kind, digits, tag = IdKind(found[1]), found[2], reader.tenant.tag
    exact = format_id(kind, int(digits), tag)
    if found[3] is not None:
        return exact if exact.startswith(text.strip()) else text
    choices: list[str] = []
    for more in range(_DIGITS_MAX - len(digits) + 1):
        low = int(digits) * 10**more
        choices += _find_between(reader, kind, low, low + 10**more)
        if exact in choices:
            return exact
        if len(choices) > _LISTED:
            break
    if len(choices) > 1:
        listed = ", ".join(choices[:_LISTED]) + (" and more" if len(choices) > _LISTED else "")
        raise Invalid(f"{text.strip()} is not one id only", why=f"{listed} begin so", fix="give more of the id")
    return choices[0] if choices else text


def _is_short(text: object) -> bool:
    """Say whether a text may be a short id; whole ids end with a dash and the six characters of the tag."""
    return isinstance(text, str) and _SHORT.fullmatch(text.strip()) is not None


def _find_between(reader: Reader, kind: IdKind, low: int, high: int) -> list[str]:
    """Return some ids of a kind whose numbers lie from `low` to below `high`; at most one more than are listed."""
    most = _LISTED + 1
    match kind:
        case IdKind.MEMORY:
            found = reader.find(MemoryFilter(statuses=_SHOWN, below=high, limit=most))
            ids = [memory.id for memory in found]
        case IdKind.EVENT:
            ids = [
                event.id
                for event in reader.find_events(EventFilter(after=low - 1, below=high, limit=most, redacted=True))
            ]
        case IdKind.CHANGE:
            ids = [change.id for change in reader.changes(ChangeFilter(after=low - 1, limit=most))]
        case IdKind.CONTEST:
            ids = [contest.id for contest in reader.contests()]
        case IdKind.JOB:
            ids = []
    return sorted((one for one in ids if low <= parse_serial(one) < high), key=parse_serial)[:most]
