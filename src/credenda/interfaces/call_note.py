"""What is known of the current call to a server, for its audit record: noted where each part is found out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, cast

from credenda import limits
from credenda.operations.table import Door, Operation
from credenda.private import cut_private, cut_private_fields

_ID: Final = re.compile(r"[emckj][1-9][0-9]{0,17}-[0-9a-f]{6}")
_ACTOR: Final = "agent"
"""The input in which a caller names the agent for which it calls."""
_IDS: Final = ("event_ids", "memory_ids", "id", "memory_id", "event_id", "change_id", "job_id")
_PARTS: Final = ("hits", "items", "memory", "event", "memories", "evidence", "changes", "contest")
_DEPTH: Final = 4


@dataclass(slots=True)
class CallNote:
    """One call; it is filled by the layers and threads that serve it."""

    door: str = ""
    operation: str = ""
    scope: str = ""
    actor: str = ""
    ids: tuple[str, ...] = ()
    """Ids that the call named, and then those that its answer showed."""
    more_ids: int = 0
    inputs: str = ""
    """The SHA-256 of the inputs without private text, which a hash of a short text would give away."""
    code: str = ""
    missing_scope: str = ""
    """The scope that the caller lacks, where the person could still grant it."""

    def add_ids(self, found: Iterator[str]) -> None:
        """Note ids; beyond a bound they are counted."""
        ids = list(dict.fromkeys((*self.ids, *found)))
        self.ids = tuple(ids[: limits.AUDIT_IDS])
        self.more_ids += len(ids) - len(self.ids)


current_note: ContextVar[CallNote | None] = ContextVar("credenda_call_note", default=None)


def note_operation(operation: Operation, door: Door, given: Mapping[str, object] | None = None) -> None:
    """Note which operation is called, and with which inputs where they are known; nothing outside of a server."""
    note = current_note.get()
    if note is None:
        return
    note.door, note.operation, note.scope = door, operation.name, operation.scope
    if given is not None:
        written = json.dumps(cut_private_fields(given), sort_keys=True, default=str)
        note.inputs = sha256(written.encode()).hexdigest()
        actor = given.get(_ACTOR)
        note.actor = cut_private(actor) if isinstance(actor, str) else ""
        note.add_ids(_find_ids(list(given.values()), _DEPTH))


def note_answer(value: object) -> None:
    """Note which memories, events and changes an answer shows or names."""
    note = current_note.get()
    if note is not None:
        note.add_ids(_find_ids(value, _DEPTH))


def note_failure(code: str) -> None:
    """Note that the call failed."""
    note = current_note.get()
    if note is not None:
        note.code = code


def note_missing_scope(scope: str) -> None:
    """Note the scope for which the caller can ask the person."""
    note = current_note.get()
    if note is not None:
        note.missing_scope = scope


def _find_ids(value: object, depth: int) -> Iterator[str]:
    """Find ids in the fields of a result that have them; texts of memories are not looked at."""
    shown: object = value
    if isinstance(shown, str):
        if _ID.fullmatch(shown):
            yield shown
    elif isinstance(value, list | tuple) and depth:
        for one in cast("Sequence[object]", value):
            yield from _find_ids(one, depth)
    elif depth and hasattr(shown, "__dataclass_fields__"):
        for name in (*_IDS, *_PARTS):
            yield from _find_ids(getattr(shown, name, None), depth - 1)
