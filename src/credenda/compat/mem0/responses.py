"""mem0's arguments and filters, and the dictionaries that it returns of memories, messages and changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final, cast

from credenda import limits
from credenda.clock import DAY_US, format_time, from_datetime, parse_time, to_datetime
from credenda.errors import Invalid
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import ChangeKind, ChangeRecord
from credenda.model.event import Event, Role
from credenda.model.memory import Memory, Status
from credenda.model.query import Hit
from credenda.model.statement import write_claim
from credenda.storage.store import ChangeFilter, Reader
from credenda.text.passages import is_one_clause
from credenda.validation import check_identity

# Compile mem0's filters into a predicate over memories. A memory may come from several agents in several runs, so each
# field has a set of values: `eq` and similar operators match if any value matches, `ne` and `nin` if none does. A
# missing field has no values.


# Check mem0's arguments and convert them to Credenda's; each error says what to do instead.


SHARED_USER: Final = "_shared"
"""The user of memories for which only an agent or a run is named."""
_UNHEARD: Final = frozenset({"system", "developer"})
_PROCEDURE: Final = "procedural_memory"
_TOP: Final = 20


def check_entity(value: object, what: str) -> str | None:
    """Check the name of a user, agent or run; strip spaces around it, and refuse a blank name."""
    name = check_identity(value, what)
    if name is None and value is not None:
        raise Invalid(f"{what} is blank", why="an id cannot be empty", fix="give an id, or leave it out")
    return None if name is None else name.strip()


def check_entities(user_id: str | None, agent_id: str | None, run_id: str | None) -> dict[str, str | None]:
    """Check all three names."""
    return {
        "user_id": check_entity(user_id, "user_id"),
        "agent_id": check_entity(agent_id, "agent_id"),
        "run_id": check_entity(run_id, "run_id"),
    }


def choose_user(named: Mapping[str, str | None]) -> str:
    """Return the user whose memory is meant: the named user, or the shared user if only an agent or a run is named."""
    if not any(named.values()):
        raise Invalid("whose memory?", why=f"none of {', '.join(named)} is given", fix='give user_id="…"')
    return named["user_id"] or SHARED_USER


def filter_messages(messages: object) -> list[object]:
    """Return the messages to store, without system messages, which are the prompt's own instructions."""
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    given = [cast("object", messages)] if isinstance(messages, Mapping) else messages
    if not isinstance(given, Sequence) or isinstance(given, bytes | bytearray):
        kind = type(given).__name__
        raise Invalid("messages must be text or a list", why=f"this is a {kind}", fix='give [{"role", "content"}, …]')
    return [message for message in cast("Sequence[object]", given) if _read_role(message) not in _UNHEARD]


def _read_role(message: object) -> object:
    role = cast("Mapping[str, Any]", message).get("role") if isinstance(message, Mapping) else None
    return role.casefold() if isinstance(role, str) else role


def parse_timestamp(timestamp: object) -> datetime | str | None:
    """Parse the time of the messages: seconds since 1970, a datetime or RFC 3339."""
    if isinstance(timestamp, bool) or (
        timestamp is not None and not isinstance(timestamp, int | float | str | datetime)
    ):
        what = f"timestamp cannot be a {type(timestamp).__name__}"
        raise Invalid(what, fix="give seconds since 1970, a datetime or RFC 3339 text")
    if isinstance(timestamp, int | float):
        try:
            return to_datetime(round(timestamp * 1_000_000))
        except (OverflowError, ValueError) as error:
            raise Invalid(f"timestamp cannot be {timestamp!r}", why="no such time", fix="give seconds") from error
    return timestamp


def parse_expiry(expiration_date: object) -> datetime | None:
    """Parse the expiry: the last valid day, or the exact time."""
    if expiration_date is None:
        return None
    if isinstance(expiration_date, datetime):
        return to_datetime(from_datetime(expiration_date))
    if not isinstance(expiration_date, str | date):
        what = f"expiration_date cannot be a {type(expiration_date).__name__}"
        raise Invalid(what, fix="give a day like 2026-12-31")
    text = str(expiration_date).strip()
    moment_us = parse_time(text)
    return to_datetime(moment_us + DAY_US if _is_day(text) else moment_us)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def check_memory_type(memory_type: str | None) -> str | None:
    """Parse mem0's `memory_type`; it has one value."""
    if memory_type not in {None, _PROCEDURE}:
        raise Invalid(f"{memory_type!r} is not a memory_type", fix=f"give {_PROCEDURE!r}, or leave it out")
    return None if memory_type is None else "procedure"


def check_limit(top_k: object, limit: object, *, most: int | None) -> int:
    """Parse the number of results; `limit` is the older name."""
    if top_k is not None and limit is not None:
        raise Invalid("top_k and limit are given", why="they are the same", fix="keep top_k")
    wanted = top_k if top_k is not None else limit if limit is not None else _TOP
    if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted < 0 or (most is not None and wanted > most):
        bound = "0 or more" if most is None else f"from 0 to {most}"
        raise Invalid(f"top_k cannot be {wanted!r}", why=f"it is {bound}", fix="leave it out for 20")
    return wanted


def check_memory_id(memory_id: object) -> str:
    """Check that an id is a string."""
    if not isinstance(memory_id, str):
        why = f"it is a {type(memory_id).__name__}"
        raise Invalid("an id must be text", why=why, fix="copy an id from search or get_all")
    return memory_id.strip()


def choose_text(text: object, data: object) -> str:
    """Return the new text of a memory; `data` is the older name of `text`."""
    if (text is None) == (data is None):
        raise Invalid(
            "the new text of the memory is unclear", why="exactly one of text and data is needed", fix="give text"
        )
    said = data if text is None else text
    if not isinstance(said, str) or not said.strip():
        raise Invalid("text must contain words", why="it is blank or not text", fix="give the new text of the memory")
    return said


Facts = Mapping[str, tuple[object, ...]]
"""The values of a memory by field; times are microseconds UTC."""

Condition = Callable[[Facts], bool]

ENTITIES: Final = ("user_id", "agent_id", "run_id")
TIMES: Final = frozenset({"created_at", "updated_at"})
_OWN: Final = frozenset({"actor_id", "role"})
_ANY: Final = "*"
_Test = Callable[[object, object], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Parsed filters: the user they name, a predicate over memories, and the metadata equalities."""

    user: str | None = None
    keep: Condition | None = None
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    run: str | None = None
    fields: frozenset[str] = frozenset()


def _to_number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _compare_ordered(wanted: Callable[[int], bool]) -> _Test:
    """Compare numbers with numbers and text with text; anything else does not match."""

    def test(value: object, limit: object) -> bool:
        one, other = _to_number(value), _to_number(limit)
        if one is not None and other is not None:
            return wanted((one > other) - (one < other))
        if isinstance(value, str) and isinstance(limit, str):
            return wanted((value > limit) - (value < limit))
        return False

    return test


def _has_part(value: object, part: object) -> bool:
    if isinstance(value, str):
        return isinstance(part, str) and part in value
    return isinstance(value, Sequence) and part in cast("Sequence[object]", value)


def _has_folded_part(value: object, part: object) -> bool:
    return isinstance(value, str) and isinstance(part, str) and part.casefold() in value.casefold()


def _is_equal(value: object, wanted: object) -> bool:
    """Compare as JSON does: true is not equal to 1."""
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


def _is_among(value: object, wanted: object) -> bool:
    return any(_is_equal(value, one) for one in cast("Sequence[object]", wanted))


_TESTS: Final[Mapping[str, tuple[_Test, bool]]] = {
    "eq": (_is_equal, True),
    "ne": (_is_equal, False),
    "in": (_is_among, True),
    "nin": (_is_among, False),
    "gt": (_compare_ordered(lambda sign: sign > 0), True),
    "gte": (_compare_ordered(lambda sign: sign >= 0), True),
    "lt": (_compare_ordered(lambda sign: sign < 0), True),
    "lte": (_compare_ordered(lambda sign: sign <= 0), True),
    "contains": (_has_part, True),
    "icontains": (_has_folded_part, True),
}
"""The test of each operator on one value, and whether any value must pass (True) or none may (False)."""


def read_filters(filters: object, given: Mapping[str, str | None]) -> Asked:
    """Parse a table of filters, and the entities given as arguments.

    Raises `Invalid` for anything unsupported; nothing is ignored silently.
    """
    table = dict(_require_table(filters if filters is not None else {}))
    for name, value in given.items():
        if value is not None and table.setdefault(name, value) != value:
            raise Invalid(
                f"{name} is named twice", why="as an argument and in filters, and they differ", fix="keep one"
            )
    user = _lift_user(table)
    if user is None and not _collect_fields(table) & set(ENTITIES):
        raise Invalid(
            "whose memories?",
            why=f"none of {', '.join(ENTITIES)} is given",
            fix='give filters={"user_id": "…"}',
        )
    plain = {name: value for name, value in table.items() if _is_plain(name, value)}
    run = table.get("run_id")
    return Asked(
        user=user,
        keep=_join_all([_parse_condition(name, value) for name, value in table.items()]) if table else None,
        metadata=plain,
        run=run if isinstance(run, str) and run != _ANY else None,
        fields=frozenset(_collect_fields(table)),
    )


def _lift_user(table: dict[str, object]) -> str | None:
    """Take the user out of a table, or out of a list of AND conditions; a query covers one user."""
    found = [table.pop("user_id")] if "user_id" in table else []
    choices = table.get("OR")
    if isinstance(choices, list) and len(cast("list[object]", choices)) == 1 and "AND" not in table:
        table["AND"] = table.pop("OR")  # one alternative is a condition
    together = table.get("AND")
    if isinstance(together, Sequence) and not isinstance(together, str):
        rest: list[object] = []
        for part in cast("Sequence[object]", together):
            inner = dict(_require_table(part))
            if "user_id" in inner:
                found.append(inner.pop("user_id"))
            if inner:
                rest.append(inner)
        table["AND"] = rest
        if not rest:
            del table["AND"]
    if "user_id" in _collect_fields(table):
        raise Invalid(
            "user_id cannot be used here",
            why="it is under OR or NOT, and each user's memories are separate",
            fix="name one user at the top: {'user_id': '…', 'OR': […]}",
        )
    names = {_read_user(value) for value in found}
    if len(names) > 1:
        raise Invalid("filters name several users", why="each user's memories are separate", fix="query one at a time")
    return names.pop() if names else None


def _read_user(value: object) -> str:
    table = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {"eq": value}
    asked = table.get("eq")
    name = None if len(table) != 1 or not isinstance(asked, str) or asked == _ANY else check_entity(asked, "user_id")
    if name is None:
        raise Invalid(
            "user_id must name one user", why="each user's memories are separate", fix='give {"user_id": "ana"}'
        )
    return name


def _collect_fields(table: Mapping[str, object]) -> set[str]:
    """Collect the fields that a table names, at any depth."""
    found: set[str] = set()
    for name, value in table.items():
        if name in {"AND", "OR", "NOT"}:
            for part in _list_conditions(name, value):
                found |= _collect_fields(part)
        else:
            found.add(name)
    return found


def _is_plain(name: str, value: object) -> bool:
    """Return whether a filter is an equality of metadata, which the engine can apply itself."""
    special = {*ENTITIES, *TIMES, *_OWN, "AND", "OR", "NOT"}
    return name not in special and isinstance(value, str | int | float) and value != _ANY


def _require_table(value: object) -> Mapping[str, object]:
    table = cast("Mapping[object, object]", value) if isinstance(value, Mapping) else None
    if table is None or not all(isinstance(name, str) for name in table):
        kind = type(cast("object", value)).__name__
        raise Invalid("filters must be a table", why=f"one is a {kind}", fix='give {"field": value}')
    return cast("Mapping[str, object]", table)


def _list_conditions(name: str, value: object) -> list[Mapping[str, object]]:
    given = [cast("object", value)] if isinstance(value, Mapping) else value
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise Invalid(f"{name} needs a list of conditions", fix=f'give {{"{name}": [{{"field": value}}, …]}}')
    return [_require_table(part) for part in cast("Sequence[object]", given)]


def _join_all(conditions: Sequence[Condition]) -> Condition:
    return lambda facts: all(condition(facts) for condition in conditions)


def _parse_condition(name: str, value: object) -> Condition:
    if name in {"AND", "OR", "NOT"}:
        inner = [
            _join_all([_parse_condition(*pair) for pair in part.items()]) for part in _list_conditions(name, value)
        ]
        if name == "AND":
            return _join_all(inner)
        return lambda facts: any(condition(facts) for condition in inner) == (name == "OR")
    if isinstance(value, Mapping):
        return _join_all(
            [_make_test(name, operator, wanted) for operator, wanted in _require_table(cast("object", value)).items()]
        )
    if value == _ANY:
        return lambda facts: bool(facts.get(name))
    return _make_test(name, "in" if isinstance(value, list) else "eq", cast("object", value))


def _make_test(name: str, operator: str, wanted: object) -> Condition:
    """Make the test of one operator on all values of one field."""
    if operator not in _TESTS:
        raise Invalid(
            f"unknown filter operator {operator!r}",
            why="a table under a field contains operators",
            fix=f"use {', '.join(_TESTS)}",
        )
    if operator in {"in", "nin"} and (isinstance(wanted, str) or not isinstance(wanted, Sequence)):
        raise Invalid(f"{operator} needs a list", fix=f'give {{"{name}": {{"{operator}": ["one", …]}}}}')
    test, some = _TESTS[operator]
    meant = _convert_value(name, cast("object", wanted))

    def condition(facts: Facts) -> bool:
        return any(test(value, meant) for value in facts.get(name, ())) is some

    return condition


def _convert_value(name: str, wanted: object) -> object:
    """Parse the value to compare a field with; a time becomes microseconds."""
    if name not in TIMES:
        return wanted
    if isinstance(wanted, list | tuple):
        return [_convert_value(name, one) for one in cast("Sequence[object]", wanted)]
    if not isinstance(wanted, str | date | datetime):
        raise Invalid(
            f"{name} is compared with a time", why=f"this is a {type(wanted).__name__}", fix="give 2026-01-31"
        )
    return parse_time(wanted if isinstance(wanted, datetime) else str(wanted))


Item = dict[str, Any]
_ROLES: Final = {"user": "user", "assistant": "assistant"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A memory with its evidence messages, or a message without a memory."""

    id: str
    text: str
    created_us: int
    updated_us: int
    speaker: str
    metadata: Mapping[str, object]
    events: tuple[Event, ...]
    expires_us: int | None = None

    @property
    def role(self) -> str:
        """Return the speaker's role, in mem0's terms."""
        if self.events:
            role = self.events[0].role
            return "user" if role is Role.PERSON else role.value
        return _ROLES.get(self.speaker, "user")

    @property
    def agent(self) -> str | None:
        """Return the agent of the first message."""
        return next((event.agent for event in self.events if event.agent), None)

    @property
    def run(self) -> str | None:
        """Return the run of the first message."""
        return next((event.session for event in self.events if event.session), None)

    @property
    def facts(self) -> Facts:
        """Return the values by field, from all its messages."""
        found: dict[str, list[object]] = {}
        for table in (self.metadata, *(event.metadata for event in self.events)):
            for name, value in table.items():
                found.setdefault(name, []).append(value)
        own = {
            "agent_id": [event.agent for event in self.events if event.agent],
            "run_id": [event.session for event in self.events if event.session],
            "actor_id": [self.speaker],
            "role": [self.role],
            "created_at": [self.created_us],
            "updated_at": [self.updated_us],
        }
        return {name: tuple(values) for name, values in {**found, **own}.items()}

    def item(self, user: str) -> Item:
        """Return mem0's dictionary; `hash` is the MD5 of the text, as in mem0."""
        item: Item = {
            "id": self.id,
            "memory": self.text,
            "hash": hashlib.md5(self.text.encode(), usedforsecurity=False).hexdigest(),
            "metadata": {
                **{name: value for event in self.events for name, value in event.metadata.items()},
                **self.metadata,
            },
            "created_at": _format_time(self.created_us),
            "updated_at": _format_time(self.updated_us),
            "user_id": user,
            "role": self.role,
        }
        optional = {"agent_id": self.agent, "run_id": self.run, "expiration_date": format_time(self.expires_us)}
        optional["actor_id"] = None if self.speaker in _ROLES else self.speaker
        return item | {name: value for name, value in optional.items() if value is not None}


def _format_time(moment_us: int) -> str:
    return to_datetime(moment_us).isoformat()


def build_records(reader: Reader, memories: Sequence[Memory]) -> list[Record]:
    """Return memories with their messages, except deleted ones, in the given order."""
    links = reader.evidence(memory_ids=[memory.id for memory in memories]) if memories else []
    said = reader.events(sorted({link.span.event_id for link in links}))
    events = {event.id: event for event in said if event.text}
    resting: dict[str, dict[str, Event]] = {}
    for link in links:
        if link.span.event_id in events:
            resting.setdefault(link.memory_id, {})[link.span.event_id] = events[link.span.event_id]
    return [_build_record(memory, tuple(resting.get(memory.id, {}).values())) for memory in memories]


def _write_fact(memory: Memory) -> str:
    """Return the text of a memory as mem0 has it, one fact: its claim, where its sentence has more clauses than one."""
    return memory.text if not memory.value or is_one_clause(memory.text) else write_claim(memory)


def _build_record(memory: Memory, events: tuple[Event, ...]) -> Record:
    return Record(
        id=memory.id,
        text=_write_fact(memory),
        created_us=memory.created_us,
        updated_us=memory.recorded_us,
        speaker=memory.speaker,
        metadata=memory.metadata,
        events=events,
        expires_us=memory.expires_us,
    )


def record_of_event(event: Event, text: str | None = None) -> Record:
    """Return the record of a message, or of the passage of it that was found."""
    return Record(
        id=event.id,
        text=event.text if text is None else text,
        created_us=event.recorded_us,
        updated_us=event.recorded_us,
        speaker=event.speaker,
        metadata=event.metadata,
        events=(event,),
        expires_us=event.expires_us,
    )


def record_of_hit(hit: Hit) -> Record | None:
    """Return the record of a search hit; None if the hit has neither memory nor event."""
    if hit.memory is not None:
        return _build_record(hit.memory, hit.evidence)
    return None if hit.event is None else record_of_event(hit.event, hit.text)


def build_change_rows(changes: Sequence[ChangeRecord], known: Mapping[str, Memory]) -> list[Item]:
    """Describe changes in mem0's terms: a replaced memory and its successor are one UPDATE."""
    replaced: dict[str, list[str]] = {}
    for change in changes:
        if change.kind is ChangeKind.SUPERSEDE and change.memory_id:
            successor = change.after.get("superseded_by")
            replaced.setdefault(str(successor or ""), []).append(change.memory_id)
    rows: dict[str, Item] = {}
    for change in changes:
        memory = known.get(change.memory_id or "")
        if memory is not None:
            row = _build_change_row(change, memory, replaced.get(memory.id, ()), known)
            if row is not None and (memory.id not in rows or row["event"] != "NONE"):
                rows[memory.id] = row
    return list(rows.values())


def _build_change_row(
    change: ChangeRecord, memory: Memory, replaced: Sequence[str], known: Mapping[str, Memory]
) -> Item | None:
    match change.kind:
        case ChangeKind.ADD | ChangeKind.RESTORE:
            before = [known[id] for id in replaced if id in known]
            update = {"previous_memory": _write_fact(before[0]), "previous_id": before[0].id} if before else {}
            return {"id": memory.id, "memory": _write_fact(memory), "event": "UPDATE" if before else "ADD", **update}
        case ChangeKind.CONFIRM:
            return {"id": memory.id, "memory": _write_fact(memory), "event": "NONE"}
        case ChangeKind.SUPERSEDE if memory.superseded_by is None:
            return {"id": memory.id, "memory": _write_fact(memory), "event": "DELETE"}
        case _:
            return None


def build_history_rows(line: Sequence[Memory], changes: Sequence[ChangeRecord]) -> list[Item]:
    """Return the changes of a memory and of its earlier versions, oldest first, without deleted text."""
    known = {memory.id: memory for memory in line}
    before = {memory.superseded_by: memory for memory in line if memory.superseded_by is not None}
    rows: list[Item] = []
    for change in sorted(changes, key=lambda change: (change.at_us, change.memory_id or "")):
        memory = known.get(change.memory_id or "")
        event = _name_history_event(change, memory, before) if memory is not None else None
        if memory is not None and event is not None:
            rows.append(_build_history_row(change, memory, event, before.get(memory.id)))
    return rows


def _name_history_event(change: ChangeRecord, memory: Memory, before: Mapping[str, Memory]) -> str | None:
    match change.kind:
        case ChangeKind.ADD:
            return "UPDATE" if memory.id in before else "ADD"
        case ChangeKind.RESTORE:
            return "ADD"
        case ChangeKind.DELETE | ChangeKind.FORGET:
            return "DELETE"
        case ChangeKind.SUPERSEDE if memory.superseded_by is None:
            return "DELETE"
        case _:
            return None


def _build_history_row(change: ChangeRecord, memory: Memory, event: str, before: Memory | None) -> Item:
    gone = event == "DELETE"
    old = memory if gone else before
    return {
        "id": change.id,
        "memory_id": memory.id,
        "old_memory": None if old is None else _write_fact(old) or None,
        "new_memory": None if gone else _write_fact(memory) or None,
        "event": event,
        "created_at": _format_time(memory.created_us),
        "updated_at": _format_time(change.at_us),
        "is_deleted": gone or memory.status is Status.DELETED,
        "actor_id": None if memory.speaker in _ROLES else memory.speaker,
        "role": _ROLES.get(memory.speaker, "user"),
    }


# Join the versions of a memory: mem0 keeps one id over updates, while each Credenda version has its own.


_STEPS: Final = limits.SLOT_ROWS


def find_tip(reader: Reader, memory_id: str) -> Memory | None:
    """Return the current version of an id: the memory itself, or its last replacement."""
    parse_id_number(memory_id, IdKind.MEMORY, reader.tenant.tag)
    tip = next(iter(reader.memories([memory_id])), None)
    for _ in range(_STEPS):
        following = reader.memories([tip.superseded_by]) if tip is not None and tip.superseded_by else []
        if not following:
            return tip
        tip = following[0]
    return tip


def find_chain(reader: Reader, memory_id: str) -> list[Memory]:
    """Return all versions of a memory up to the current one, oldest first."""
    tip = find_tip(reader, memory_id)
    found: dict[str, Memory] = {}
    waiting = [tip] if tip is not None else []
    while waiting and len(found) < _STEPS:
        memory = waiting.pop()
        if memory.id not in found:
            found[memory.id] = memory
            # Find the memories that a memory replaced.
            begun = reader.changes(ChangeFilter(memory_ids=(memory.id,)))
            replaced: list[str] = []
            for cause in sorted({change.cause for change in begun if change.cause is not None}):
                ended = reader.changes(ChangeFilter(cause=cause, kinds=frozenset({ChangeKind.SUPERSEDE})))
                replaced += (change.memory_id for change in ended if change.memory_id is not None)
            waiting += [other for other in reader.memories(sorted(set(replaced))) if other.superseded_by == memory.id]
    return sorted(found.values(), key=lambda memory: parse_id_number(memory.id, IdKind.MEMORY, reader.tenant.tag))


def read_changes(reader: Reader, line: list[Memory]) -> list[ChangeRecord]:
    """Return every change to the versions of a memory."""
    return [change for memory in line for change in reader.changes(ChangeFilter(memory_ids=(memory.id,)))]
