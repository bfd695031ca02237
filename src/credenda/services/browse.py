"""Let a person browse: memories with counts by their fields, the use of a memory, and sessions."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections import Counter, defaultdict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, cast, get_args

from credenda import limits, read
from credenda.clock import DAY_US, EARLIEST_US, format_time
from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import IdKind, format_id, parse_id_number, parse_serial
from credenda.lazy import import_on_use
from credenda.model.browse import (
    Axis,
    Browse,
    Diff,
    EntityMap,
    EntityRelation,
    EntitySummary,
    LearnedMemory,
    MemoryUse,
    MemoryUses,
    SessionDetails,
    SessionSummary,
)
from credenda.model.change import ChangeRecord, ContestCase
from credenda.model.evaluation import FeedbackCounts
from credenda.model.event import Event, Source, find_quoted
from credenda.model.job import JobInfo
from credenda.model.memory import (
    HELD,
    Layer,
    Memory,
    MemoryType,
    Relation,
    Stance,
    Status,
    get_valid_from_us,
    has_unknown_start,
    mark_over,
)
from credenda.model.query import EventDetails, Explanation, Page, SlotVersion
from credenda.read.load_diff import load_difference
from credenda.runtime import Parts
from credenda.services.search import check_limit, resolve_moment
from credenda.storage.current_trust import find_current_trust
from credenda.storage.store import ChangeFilter, EventFilter, JobFilter, MemoryFilter, Reader
from credenda.text.given_time import parse_period
from credenda.text.normalize import find_named_entities, normalise_attribute, normalise_name
from credenda.validation import check_member, check_name, check_text

if TYPE_CHECKING:
    from credenda.services import lifecycle
else:
    lifecycle = import_on_use("credenda.services.lifecycle")


# What a caller expects to change: a change is refused if another one came first (HTTP: If-Match).


Versioned = Memory | JobInfo | ContestCase
"""Rows that have versions for callers."""
_ANY = "*"


@dataclass(slots=True)
class Expectation:
    """The versions of which the row that an edit changes must have one; "*" is any version."""

    versions: frozenset[str] = frozenset({_ANY})
    checked: bool = False
    """Whether an edit has looked; one that never does would let a stale request through."""

    def check(self, row_id: str, row: Versioned) -> None:
        """Raise `Conflict` if the row has another version; call it in the unit that changes the row."""
        self.checked = True
        if _ANY in self.versions:
            return
        version = name_version(row)
        if version not in self.versions:
            named = ", ".join(sorted(self.versions))[:256]
            raise Conflict(
                f"{row_id} is not as the caller expects it",
                why=f"it has version {version}, and the request names {named}",
                fix="read it again, and decide on what it is now",
                version=version,
                expected=named,
            )


_expected: ContextVar[Expectation | None] = ContextVar("credenda_expectation", default=None)


@contextmanager
def expect(versions: frozenset[str]) -> Generator[Expectation]:
    """Let the edit inside the block happen only to a row of one of these versions."""
    expectation = Expectation(versions)
    token = _expected.set(expectation)
    try:
        yield expectation
    finally:
        _expected.reset(token)


def read_expectation() -> Expectation:
    """Return what the caller of an edit expects; call it in the caller's thread, before the unit."""
    return _expected.get() or Expectation()


def name_version(row: Versioned) -> str:
    """Name the version of a row: a memory by its number, anything else by a hash of what a caller sees.

    How often a memory was used is no version of it.
    """
    if isinstance(row, Memory):
        return f"{row.id}.deleted" if row.status is Status.DELETED else f"{row.id}.{row.version}"
    return f"{row.id}.{blake2b(repr(row).encode(), digest_size=6).hexdigest()}"


# Look up the current version of a memory by its id.


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


_SHORT: Final = re.compile(r"([emckj])([1-9][0-9]{0,17})(-[0-9a-f]{0,5})?")
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


def resolve_id_in(reader: Reader, text: str, *, exact: bool = False) -> str:
    """Return the id of this tenant that a text is, or is the only one to begin with.

    `exact`: a short id is that of its own number only, since that of a deleted memory may begin another's.

    A number without a tag names the thing with exactly that number, where there is one: `m2` is no short form of `m20`
    while memory 2 exists. What is not known here, and what is no id at all, comes back as it is: the look-up that
    follows refuses both alike. Raises `Invalid` with the first choices where several begin so.
    """
    found = _SHORT.fullmatch(text.strip()) if _is_short(text) else None
    if found is None:
        return text
    kind, digits, tag = IdKind(found[1]), found[2], reader.tenant.tag
    own = format_id(kind, int(digits), tag)
    if exact and found[3] is None:
        return own
    if found[3] is not None:
        return own if own.startswith(text.strip()) else text
    choices: list[str] = []
    for more in range(_DIGITS_MAX - len(digits) + 1):
        low = int(digits) * 10**more
        choices += _find_between(reader, kind, low, low + 10**more)
        if own in choices:
            return own
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
            ids = [job.id for job in reader.jobs(JobFilter(newest_first=True, below=high, limit=most))]
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
        memory = held[0]
        if memory.relation is Relation.CORRECTED or memory.status is Status.INVALIDATED:
            validity = "it turned out to be wrong"
        else:
            since = "" if has_unknown_start(memory) else f" from {format_time(get_valid_from_us(memory))}"
            until = "" if memory.valid_until_us is None else f" to {format_time(memory.valid_until_us)}"
            validity = f"it was true{since}{until}"
        raise NotFound(f"{memory_id} was not true then", why=validity, fix="`history` shows what was")
    return held[0]


# Find the entity that a name of a caller fits.


_NAMED: Final = 500
"""Most memories with the words of a name that are looked at."""


def find_entity(reader: Reader, entity: str | None, attribute: str | None = None) -> str | None:
    """Return the key of the one entity that a name fits, which may be shown or bare; the key of the name if none does.

    With an attribute, an entity that has a value of it comes first. Raises `Invalid` if the name fits several.
    """
    check_text(entity, "entity")
    key, slot = normalise_name(entity or ""), normalise_attribute(attribute or "")
    wanted = MemoryFilter(pair=(key, slot), limit=1) if slot else MemoryFilter(entity=key, limit=1)
    if entity is None or not key or reader.find(wanted):
        return key if entity else None
    words = [word for word in key.split() if not word.endswith("'s")]
    near = [one for one in reader.search_memories(words, _NAMED) if one.entity and one.status is not Status.DELETED]
    here = [one for one in near if slot and normalise_attribute(one.attribute or "") == slot]
    found = find_named_entities(entity, (one.entity or "" for one in here))
    found = found or find_named_entities(entity, (one.entity or "" for one in near))
    if len(found) > 1:
        raise Invalid(f"{entity!r} fits several entities", why=", ".join(found), fix="give one of these names in full")
    return normalise_name(found[0]) if found else key


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
    check_text(attribute, "attribute")
    as_of_us, known_at_us = resolve_moment(parts, as_of), resolve_moment(parts, known_at)
    with parts.store.reader(parts.user_id) as reader:
        id = None if id is None else resolve_id_in(reader, id)
        return read.history.read_slot_history(
            reader,
            id=id,
            entity=find_entity(reader, entity, attribute),
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
            entity=find_entity(reader, check_name(entity, "entity")),
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


# Cursors of lists: they say where the next page begins, and nothing that a caller could make use of.


_NUMBER_BYTES: Final = 8
_CHECK_BYTES: Final = 4


def write_cursor(name: str, user: str, number: int) -> str:
    """Write the cursor of a list: the number that the next page continues after, and which list of which user it is of.

    >>> read_cursor("memories", "ana", write_cursor("memories", "ana", 7))
    7
    """
    body = number.to_bytes(_NUMBER_BYTES, "big")
    return urlsafe_b64encode(body + _make_check(name, user, body)).decode()


def read_cursor(name: str, user: str, cursor: str | None) -> int | None:
    """Return the number in a cursor of this list; None without one. Raises `NotFound` for anything else."""
    if cursor is None or not check_text(cursor, "cursor"):
        return None
    try:
        packed = urlsafe_b64decode(cursor.encode("ascii"))
    except (Base64Error, UnicodeEncodeError, ValueError):
        packed = b""
    body, check = packed[:_NUMBER_BYTES], packed[_NUMBER_BYTES:]
    if (
        len(body) != _NUMBER_BYTES
        or check != _make_check(name, user, body)
        or write_cursor(name, user, _to_number(body)) != cursor
    ):
        raise NotFound(
            "there is no page at this cursor",
            why="it was changed, or is of another list",
            fix="copy `next_cursor` of the page before",
        )
    return _to_number(body)


def _to_number(body: bytes) -> int:
    return int.from_bytes(body, "big")


def _make_check(name: str, user: str, body: bytes) -> bytes:
    owner = blake2b(user.encode()).digest()
    return blake2b(body, digest_size=_CHECK_BYTES, person=name.encode(), key=owner).digest()


# List memories in pages.


_LIST: Final = "memories"
ONCE_ACTIVE: Final = frozenset({Status.ACTIVE, Status.SUPERSEDED, Status.MERGED})
"""Statuses of memories that may have been believed at an earlier time."""


_NOT_CODE: Final = frozenset(Layer) - {Layer.CODEBASE}
"""Layers that are listed by default; code scans would fill the list."""


def list_memories(  # noqa: PLR0913 - the conditions of the public verb
    parts: Parts,
    *,
    status: str | None = "active",
    type: str | None = None,
    layer: str | None = None,
    topic: str | None = None,
    entity: str | None = None,
    attribute: str | None = None,
    limit: int = 20,
    offset: int = 0,
    cursor: str | None = None,
    as_of: datetime | str | None = None,
    known_at: datetime | str | None = None,
) -> Page[Memory]:
    """Return memories, newest first, one page at a time."""
    check_limit(limit, limits.LIST_LIMIT)
    check_offset(offset)
    statuses = frozenset({check_member(Status, status, "status")}) if status else frozenset(Status)
    if as_of is not None and status == Status.ACTIVE:
        statuses = ONCE_ACTIVE
    with parts.store.reader(parts.user_id) as reader:
        wanted = MemoryFilter(
            statuses=statuses - {Status.DELETED},
            types=frozenset({check_member(MemoryType, type, "type")}) if type else None,
            layers=frozenset({check_member(Layer, layer, "layer")}) if layer else _NOT_CODE,
            topic=check_name(topic, "topic"),
            entity=find_entity(reader, entity),
            attribute=normalise_attribute(attribute) if check_text(attribute, "attribute") and attribute else None,
            below=read_cursor(_LIST, parts.user_id, cursor),
            offset=offset,
            limit=limit + 1,
            as_of_us=resolve_moment(parts, as_of),
            known_at_us=resolve_moment(parts, known_at),
        )
        found = mark_over(find_current_trust(reader, reader.find(wanted)), parts.clock.now_us())
    more = write_cursor(_LIST, parts.user_id, parse_serial(found[limit - 1].id)) if len(found) > limit else None
    return Page(items=tuple(found[:limit]), next_cursor=more)


def check_offset(offset: int) -> None:
    """Raise `Invalid` for a number of rows to skip that no list takes."""
    if not isinstance(offset, int) or not 0 <= offset <= limits.LIST_OFFSET:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"offset cannot be {offset!r}", why=f"it lies in 0 to {limits.LIST_OFFSET}", fix="use the cursor")


_SESSIONS: Final = "sessions"
_VALUES: Final = 12
"""So many values of a facet are returned."""
_MESSAGES: Final = 500
"""So many messages are read for a page of sessions, and for one session."""
_USES: Final = 50
_GRACE_US: Final = 7 * DAY_US
_FACETS: Final = ("status", "type", "layer", "stance", "topic", "entity", "attribute", "session", "source")


def browse_memories(  # noqa: PLR0913 - the conditions of the public verb
    parts: Parts,
    *,
    status: str | None = None,
    type: str | None = None,
    layer: str | None = None,
    stance: str | None = None,
    topic: str | None = None,
    entity: str | None = None,
    attribute: str | None = None,
    session: str | None = None,
    source: str | None = None,
    limit: int = 20,
    offset: int = 0,
    as_of: datetime | str | None = None,
    known_at: datetime | str | None = None,
) -> Browse:
    """Return the memories that match all conditions, and counts of their fields."""
    check_limit(limit, limits.LIST_LIMIT)
    check_offset(offset)
    statuses = frozenset({check_member(Status, status, "status")} if status else Status)
    if as_of is not None and status in {None, "", Status.ACTIVE}:
        statuses = ONCE_ACTIVE
    wanted = MemoryFilter(
        statuses=statuses - {Status.DELETED},
        types=frozenset({check_member(MemoryType, type, "type")}) if type else None,
        layers=frozenset({check_member(Layer, layer, "layer")}) if layer else None,
        stances=frozenset({check_member(Stance, stance, "stance")}) if stance else None,
        topic=check_name(topic, "topic"),
        session=check_name(session, "session") or None,
        source=check_member(Source, source, "source").value if source else None,
        attribute=normalise_attribute(attribute) if check_text(attribute, "attribute") and attribute else None,
        limit=limit,
        offset=offset,
        as_of_us=resolve_moment(parts, as_of),
        known_at_us=resolve_moment(parts, known_at),
    )
    with parts.store.reader(parts.user_id) as reader:
        wanted = replace(wanted, entity=find_entity(reader, entity))
        counts = reader.count_fields(wanted, most=_VALUES, unused_before_us=parts.clock.now_us() - _GRACE_US)
        shown = mark_over(find_current_trust(reader, reader.find(wanted)), parts.clock.now_us())
        evidence = reader.evidence(memory_ids=[one.id for one in shown])
        events = {one.id: one for one in reader.events(list({one.span.event_id for one in evidence}))}
        stating: dict[str, list[Event]] = defaultdict(list)
        for one in evidence:
            stating[one.memory_id] += [events[one.span.event_id]] if one.span.event_id in events else []
    counted = counts.get("all", {}).get("", 0)
    return Browse(
        items=tuple(shown),
        counted=counted,
        has_more=counted > offset + len(shown),
        facets={name: counts.get(name, {}) for name in _FACETS},
        never_used=counts.get("unused", {}).get("", 0),
        said={one.id: found.occurred_at for one in shown if (found := find_quoted(stating[one.id], one.text))},
    )


def list_uses(parts: Parts, memory_id: str) -> MemoryUses:
    """Return the sessions that got a memory, the latest first; raises `NotFound` for an unknown one."""
    with parts.store.reader(parts.user_id) as reader:
        memory_id = resolve_id_in(reader, memory_id)
        if not reader.memories([memory_id]):
            raise NotFound(f"there is no memory {memory_id}", fix="copy an id from `list` or `search`")
        found = sorted(reader.usage.accesses([memory_id]), key=lambda one: -one.at_us)
        counts = reader.usage.regards([memory_id]).get(memory_id, FeedbackCounts())
    uses = (
        MemoryUse(session=one.session, at_us=one.at_us, shown=one.shown, useful=one.useful) for one in found[:_USES]
    )
    return MemoryUses(id=memory_id, uses=tuple(uses), feedback=counts)


def list_sessions(parts: Parts, *, cursor: str | None = None) -> Page[SessionSummary]:
    """Return the sessions of the newest messages, the latest first; a message that lost a part of its words counts.

    A page is made from five hundred messages; a session that has more is on the next page too, with the rest of them.
    """
    with parts.store.reader(parts.user_id) as reader:
        below = read_cursor(_SESSIONS, parts.user_id, cursor)
        wanted = EventFilter(below=below, limit=_MESSAGES, newest_first=True, redacted=True, worded=True)
        events = reader.find_events(wanted)
        learned = _find_learned(reader, events)
    more = write_cursor(_SESSIONS, parts.user_id, parse_serial(events[-1].id)) if len(events) == _MESSAGES else None
    by_session: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_session[event.session].append(event)
    return Page(items=tuple(_sum_up(name, found, learned) for name, found in by_session.items()), next_cursor=more)


def _find_learned(reader: Reader, events: Sequence[Event]) -> dict[str, set[str]]:
    """Return the memories that rest on each of these events, by its id."""
    learned: dict[str, set[str]] = defaultdict(set)
    for one in reader.evidence(event_ids=[event.id for event in events]):
        learned[one.span.event_id].add(one.memory_id)
    return learned


def _sum_up(name: str, events: Sequence[Event], learned: Mapping[str, set[str]]) -> SessionSummary:
    times = [event.occurred_us for event in events]
    memories = {memory for event in events for memory in learned.get(event.id, ())}
    return SessionSummary(
        session=name, first_us=min(times), last_us=max(times), messages=len(events), memories=len(memories)
    )


def show_session(parts: Parts, session: str) -> SessionDetails:
    """Return the messages of a session, oldest first, and the memories that rest on them; raises `NotFound`."""
    name = check_name(session, "session") or ""
    with parts.store.reader(parts.user_id) as reader:
        events = reader.find_events(EventFilter(session=name, limit=_MESSAGES + 1, redacted=True, worded=True))
        if not events:
            raise NotFound(f"there is no session {name[:64]!r}", fix="copy a name from the list of sessions")
        shown = events[:_MESSAGES]
        learned = _find_learned(reader, shown)
        by_memory: dict[str, list[str]] = defaultdict(list)
        for event in shown:
            for memory in sorted(learned.get(event.id, ())):
                by_memory[memory].append(event.id)
        memories = mark_over(find_current_trust(reader, reader.memories(list(by_memory))), parts.clock.now_us())
    return SessionDetails(
        session=name,
        events=tuple(shown),
        learned=tuple(
            LearnedMemory(memory=one, event_ids=tuple(by_memory[one.id]))
            for one in memories
            if one.status is not Status.DELETED
        ),
        has_more=len(events) > _MESSAGES,
    )


# List the people and things that memories are about, and how they are related.


_LOOKED_AT: Final = 2_000
_NAME_WORDS: Final = 4
_NAME_CHARACTERS: Final = 60
_LAYERS: Final = frozenset(Layer) - {Layer.CODEBASE}
_NOT_SAID: Final = frozenset({Stance.NEGATED, Stance.HYPOTHETICAL, Stance.ROLE_PLAY, Stance.SARCASTIC})
"""Stances under which a value says nothing of a relation."""


def list_entities(parts: Parts) -> EntityMap:
    """Return the entities of the newest 2,000 believed memories, and the relations between them."""
    with parts.store.reader(parts.user_id) as reader:
        found = reader.find(MemoryFilter(statuses=HELD, layers=_LAYERS, limit=_LOOKED_AT + 1))
    looked = found[:_LOOKED_AT]
    relations = [_find_relation(one) for one in looked]
    related = _join_names(looked, [one for one in relations if one is not None])
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    attributes: dict[str, set[str]] = defaultdict(set)
    counts = Counter[str]()
    latest: dict[str, int] = {}
    for memory in looked:
        if memory.entity:
            key = normalise_name(memory.entity)
            spelled[key][memory.entity] += 1
            counts[key] += 1
            latest[key] = max(latest.get(key, 0), memory.recorded_us)
            attributes[key] |= {normalise_attribute(memory.attribute)} if memory.attribute else set()
    recorded = {memory.id: memory.recorded_us for memory in looked}
    for relation in related:
        key = normalise_name(relation.target)
        spelled[key][relation.target] += 1
        latest[key] = max(latest.get(key, 0), recorded[relation.memory_id])
    keys = sorted(spelled, key=lambda key: (-counts[key], -latest[key], key))
    return EntityMap(
        entities=tuple(
            EntitySummary(
                name=spelled[key].most_common(1)[0][0],
                memories=counts[key],
                attributes=tuple(sorted(attributes[key])),
                latest_us=latest[key],
            )
            for key in keys
        ),
        relations=tuple(related),
        counted=len(looked),
        has_more=len(found) > _LOOKED_AT,
    )


def _find_relation(memory: Memory) -> EntityRelation | None:
    """Return the relation that a memory states; None for one whose value is no name."""
    if not (memory.entity and memory.attribute and memory.value) or memory.stance in _NOT_SAID:
        return None
    # Whether a value is written like a name: a few words, of which the first begins with a capital.
    value = memory.value
    words = value.split() if len(value) <= _NAME_CHARACTERS else []
    if not (0 < len(words) <= _NAME_WORDS and words[0][0].isupper()) or normalise_name(memory.value) == normalise_name(
        memory.entity
    ):
        return None
    return EntityRelation(source=memory.entity, attribute=memory.attribute, target=memory.value, memory_id=memory.id)


def _join_names(memories: Sequence[Memory], relations: Sequence[EntityRelation]) -> list[EntityRelation]:
    """Let a relation lead to the entity that is named with it: the sister Carla is "user's sister Carla"."""
    named = {normalise_name(one.entity): one.entity for one in memories if one.entity}
    joined: list[EntityRelation] = []
    for one in relations:
        whole = named.get(normalise_name(f"{one.source}'s {one.attribute.replace('_', ' ')} {one.target}"))
        joined.append(one if whole is None else replace(one, target=whole))
    return joined
