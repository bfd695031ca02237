"""One table of operations: name, input, output, errors, meaning, and who may call it.

Every interface loops over it, so that a parameter is described once. `call` is the path of the method on `Credenda`.
The entries stand in `entries`, one file a theme.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.operations.entries import asking, code, everyday, files, forgetting, keeping, lifecycle, moving
from credenda.operations.entries.shape import DOORS, REMOTE, Door, Operation, Param, ParamKind, Rest, Scope

__all__ = ["DOORS", "OPERATIONS", "REMOTE", "Door", "Operation", "Param", "ParamKind", "Rest", "Scope"]

_ALL: Final = (
    *everyday.ENTRIES,
    *asking.ENTRIES,
    *keeping.ENTRIES,
    *forgetting.ENTRIES,
    *lifecycle.ENTRIES,
    *moving.ENTRIES,
    *code.ENTRIES,
    *files.ENTRIES,
)

OPERATIONS: Final[Mapping[str, Operation]] = {operation.name: operation for operation in _ALL}
"""Every operation by name, in the order in which they are shown."""
