"""What is known of the current call to a server, for its audit record: noted where each part is found out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from credenda.operations.table import Door, Operation

__all__ = ["CallNote", "current_note", "note_failure", "note_missing_scope", "note_operation"]

_ID: Final = re.compile(r"[emckj][1-9][0-9]{0,17}-[0-9a-f]{6}")


@dataclass(slots=True)
class CallNote:
    """One call; it is filled by the layers and threads that serve it."""

    door: str = ""
    operation: str = ""
    scope: str = ""
    ids: tuple[str, ...] = ()
    inputs: str = ""
    """The SHA-256 of the inputs."""
    code: str = ""
    missing_scope: str = ""
    """The scope that the caller lacks, where the person could still grant it."""


current_note: ContextVar[CallNote | None] = ContextVar("credenda_call_note", default=None)


def note_operation(operation: Operation, door: Door, given: Mapping[str, object] | None = None) -> None:
    """Note which operation is called, and with which inputs where they are known; nothing outside of a server."""
    note = current_note.get()
    if note is None:
        return
    note.door, note.operation, note.scope = door, operation.name, operation.scope
    if given is not None:
        note.inputs = sha256(json.dumps(given, sort_keys=True, default=str).encode()).hexdigest()
        note.ids = tuple(value for value in given.values() if isinstance(value, str) and _ID.fullmatch(value))


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
