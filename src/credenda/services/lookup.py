"""Look up the current version of a memory by its id."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast, get_args

from credenda import limits, read
from credenda.clock import EARLIEST_US, format_time
from credenda.errors import Invalid, NotFound
from credenda.ids import IdKind, format_id, parse_id_number, parse_serial
from credenda.lazy import import_on_use
from credenda.model.browse import Axis, Diff
from credenda.model.change import ChangeRecord
from credenda.model.memory import Memory, Relation, Status, get_valid_from_us, mark_over
from credenda.model.query import EventDetails, Explanation, SlotVersion
from credenda.read.load_diff import load_difference
from credenda.runtime import Parts
from credenda.services.expectation import Expectation
from credenda.services.search import check_limit, resolve_moment
from credenda.storage.current_trust import find_current_trust
from credenda.storage.store import ChangeFilter, EventFilter, MemoryFilter, Reader
from credenda.text.dates import parse_period
from credenda.validation import check_name, check_text


def get_current(reader: Reader, memory_id: str) -> Memory:
    """Return the current version of a visible memory; raises `NotFound` for any other id."""
    parse_id_number(memory_id, IdKind.MEMORY, reader.tenant.tag)
    found = reader.memories([memory_id])
    if not found or found[0].status is Status.DELETED:
        raise NotFound(
            f"there is no memory {memory_id}",
            why="it never existed, or it was deleted",
            fix="copy an id from `list` or `search`",
        )
    return found[0]


def get_expected(reader: Reader, memory_id: str, expectation: Expectation) -> Memory:
    """Return the current version of a visible memory to change; raises `Conflict` if its caller expects another one."""
    memory = get_current(reader, memory_id)
    expectation.check(memory.id, memory)
    return memory


# Short ids: the beginning of an id names a thing as far as it names one only.


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


# List the changes that one message caused, or the latest ones.


def list_changes(parts: Parts, cause: str | None = None, *, limit: int = limits.LIST_LIMIT) -> list[ChangeRecord]:
    """Return the changes that an event caused, oldest first; without one the latest changes, the latest first.

    `limit` bounds the latest ones.
    """
    check_limit(limit, limits.LATEST_CHANGES)
    with parts.store.reader(parts.user_id) as reader:
        if cause is None:
            after = max(0, reader.duties.heads.change - limit)
            return reader.changes(ChangeFilter(after=after))[::-1]
        cause = resolve_id_in(reader, cause)
        parse_id_number(cause, IdKind.EVENT, reader.tenant.tag)
        return reader.changes(ChangeFilter(cause=cause))


# Get one memory by its id, as of now or of another time.


if TYPE_CHECKING:
    from credenda.services import lifecycle
else:
    lifecycle = import_on_use("credenda.services.lifecycle")


def get(
    parts: Parts, memory_id: str, as_of: datetime | str | None = None, known_at: datetime | str | None = None
) -> Memory:
    """Return a memory as believed now or at a time; raises `NotFound` if it was not believed then."""
    as_of_us, known_at_us = resolve_moment(parts, as_of), resolve_moment(parts, known_at)
    with parts.store.reader(parts.user_id) as reader:
        memory_id = resolve_id_in(reader, memory_id)
        now = get_current(reader, memory_id)
        held = reader.memories([memory_id], known_at_us) if known_at_us is not None else [now]
        held = mark_over(find_current_trust(reader, held), parts.clock.now_us() if as_of_us is None else as_of_us)
    if not held:
        known = f"it is held since {format_time(now.created_us)}"
        raise NotFound(f"{memory_id} was not held then", why=known, fix="ask for a later known_at")
    if as_of_us is not None and not read.visibility.was_valid_at(held[0], as_of_us):
        raise NotFound(
            f"{memory_id} was not true then", why=_describe_validity(held[0]), fix="`history` shows what was"
        )
    return held[0]


def _describe_validity(memory: Memory) -> str:
    """Describe when a memory was true."""
    if memory.relation is Relation.CORRECTED or memory.status is Status.INVALIDATED:
        return "it turned out to be wrong"
    since = format_time(get_valid_from_us(memory))
    return f"it was true from {since}" + (f" to {format_time(memory.valid_until_us)}" if memory.valid_until_us else "")


# List the versions of a slot or memory.


def history(
    parts: Parts,
    *,
    id: str | None = None,
    entity: str | None = None,
    attribute: str | None = None,
    as_of: datetime | str | None = None,
    known_at: datetime | str | None = None,
) -> list[SlotVersion]:
    """Return every value of a slot, or of the slot of a memory, oldest first."""
    if (id is None) == (entity is None or attribute is None):
        why = "either an id, or an entity and an attribute"
        raise Invalid("history needs a slot", why=why, fix="give one of them, such as: user employer")
    check_text(entity, "entity")
    check_text(attribute, "attribute")
    as_of_us, known_at_us = resolve_moment(parts, as_of), resolve_moment(parts, known_at)
    with parts.store.reader(parts.user_id) as reader:
        id = None if id is None else resolve_id_in(reader, id)
        return read.history.read_slot_history(
            reader,
            id=id,
            entity=entity,
            attribute=attribute,
            as_of_us=as_of_us,
            known_at_us=known_at_us,
            now_us=parts.clock.now_us() if as_of_us is None else as_of_us,
        )


# Explain a memory: its evidence and its changes.


def why(parts: Parts, memory_id: str) -> Explanation:
    """Return the provenance of a memory: its evidence and every change to it."""
    with parts.store.reader(parts.user_id) as reader:
        memory_id = get_current(reader, resolve_id_in(reader, memory_id)).id
        found = read.history.read_explanation(reader, memory_id)
    earned = lifecycle.explain_importance(parts, found.memory)
    return replace(found, memory=mark_over([found.memory], parts.clock.now_us())[0], earned=earned)


# Diff: the changes in belief between two times.


def diff(
    parts: Parts,
    since: datetime | str,
    until: datetime | str | None,
    *,
    axis: str = "known",
    topic: str | None = None,
    entity: str | None = None,
) -> Diff:
    """Return the changes in belief from one time to another or to now; a date includes its whole day."""
    if axis not in get_args(Axis):
        raise Invalid(f"{axis!r} is not a time axis", fix=f"choose among {', '.join(get_args(Axis))}")
    zone, now_us = parts.settings.zone, parts.clock.now_us()
    first = parse_period(since, zone, now_us)
    last = parse_period("now" if until is None else until, zone, now_us)
    since_us = first.from_us if first.moment else max(EARLIEST_US, first.from_us - 1)
    until_us = (
        last.until_us if last.moment else (now_us if last.from_us <= now_us < last.until_us else last.until_us - 1)
    )
    if first.from_us > until_us:
        raise Invalid(
            "a diff goes from the earlier time to the later",
            why=f"{format_time(first.from_us)} comes after {format_time(until_us)}",
            fix="swap them",
        )
    with parts.store.reader(parts.user_id) as reader:
        return load_difference(
            reader,
            cast("Axis", axis),
            since_us,
            until_us,
            topic=check_name(topic, "topic"),
            entity=check_name(entity, "entity"),
        )


# One event as it was said, and what rests on it.


def get_event(parts: Parts, event_id: str) -> EventDetails:
    """Return an event with the memories that rest on it, oldest first; raises `NotFound` for an unknown one."""
    with parts.store.reader(parts.user_id) as reader:
        event_id = resolve_id_in(reader, event_id)
        parse_id_number(event_id, IdKind.EVENT, reader.tenant.tag)
        found = reader.events([event_id])
        if not found:
            raise NotFound(f"there is no event {event_id}", fix="copy an id from `search` or `why`")
        ids = dict.fromkeys(item.memory_id for item in reader.evidence(event_ids=[event_id]))
        memories = [memory for memory in reader.memories(list(ids)) if memory.status is not Status.DELETED]
    return EventDetails(event=found[0], memories=tuple(memories))


# Spans of time that callers name.


def read_span(parts: Parts, since: datetime | str | None, until: datetime | str | None) -> tuple[int, int]:
    """Return the first and the last microsecond of a span; a date is its whole day, and no end is now."""
    zone, now_us = parts.settings.zone, parts.clock.now_us()
    since_us = 0 if since is None else parse_period(since, zone, now_us).from_us
    last = None if until is None else parse_period(until, zone, now_us)
    until_us = now_us if last is None else last.until_us if last.moment else last.until_us - 1
    if since_us > until_us:
        raise Invalid(
            "a span goes from the earlier time to the later",
            why=f"{format_time(since_us)} comes after {format_time(until_us)}",
            fix="swap them",
        )
    return since_us, until_us
