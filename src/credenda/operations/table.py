"""One table of operations: name, input, output, errors, meaning, and who may call it.

Every interface loops over it, so that a parameter is described once. `call` is the path of the method on `Credenda`.
The entries stand in `entries`, one file a theme.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.operations.entries import code, core, data, edit, files, forgetting, inspect, lifecycle
from credenda.operations.entries.schema import DOORS, REMOTE, Door, Operation, Param, ParamKind, Rest, Scope

__all__ = ["DOORS", "OPERATIONS", "REMOTE", "Door", "Operation", "Param", "ParamKind", "Rest", "Scope"]

_ALL: Final = (
    *core.ENTRIES,
    *inspect.ENTRIES,
    *edit.ENTRIES,
    *forgetting.ENTRIES,
    *lifecycle.ENTRIES,
    *data.ENTRIES,
    *code.ENTRIES,
    *files.ENTRIES,
)

OPERATIONS: Final[Mapping[str, Operation]] = {operation.name: operation for operation in _ALL}
"""Every operation by name, in the order in which they are shown."""
