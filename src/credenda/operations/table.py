"""The table of operations: name, inputs, output, errors, summary, and the interfaces that offer each.

Every interface is built from it, so that a parameter is described once. `call` is the path of the method on `Credenda`.
The entries are in `entries`, one module per topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.operations.entries import (
    basic,
    browse,
    code,
    data,
    edit,
    entities,
    files,
    forgetting,
    inspect,
    jobs,
    lifecycle,
    preview,
)
from credenda.operations.entries.schema import DOORS, REMOTE, Door, Operation, Param, ParamKind, Rest, Scope

__all__ = ["DOORS", "OPERATIONS", "REMOTE", "Door", "Operation", "Param", "ParamKind", "Rest", "Scope"]

_ALL: Final = (
    *basic.ENTRIES,
    *inspect.ENTRIES,
    *browse.ENTRIES,
    *edit.ENTRIES,
    *forgetting.ENTRIES,
    *lifecycle.ENTRIES,
    *data.ENTRIES,
    *code.ENTRIES,
    *files.ENTRIES,
    *entities.ENTRIES,
    *jobs.ENTRIES,
    *preview.ENTRIES,
)

OPERATIONS: Final[Mapping[str, Operation]] = {operation.name: operation for operation in _ALL}
"""Every operation by name, in display order."""
