"""JSON output of commands (`--json`): the result as every interface serialises it, plus fields only a command adds."""

from __future__ import annotations

from typing import Final

from credenda.interfaces.cli.outcome import Remembered
from credenda.interfaces.serialize import encode, to_jsonable
from credenda.model.query import EventDetails

_FOLLOWED: Final = ("settled", "believed", "contests")


def dump_json(value: object, *, ascii_only: bool = False, indent: int | None = 2) -> str:
    """Write a result as one JSON document; without an indent it is one line.

    What was remembered shows its receipt as `remember` returns it, and beside it what followed; an event shows its own
    fields, and beside them the memories that rest on it.
    """
    if isinstance(value, Remembered):
        value = {**to_jsonable(value.receipt), **{name: getattr(value, name) for name in _FOLLOWED}}
    if isinstance(value, EventDetails):
        value = {**to_jsonable(value.event), "memories": value.memories}
    return encode(value, ascii_only=ascii_only, indent=indent)
