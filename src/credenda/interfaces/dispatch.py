"""Call an operation of the table on an open memory, for every interface."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from credenda.operations.table import Operation

if TYPE_CHECKING:
    from credenda.client import Credenda

__all__ = ["invoke"]


def invoke(memory: Credenda, operation: Operation, given: Mapping[str, object]) -> Any:  # noqa: ANN401 - any result
    """Call an operation with named inputs; omitted inputs use the operation's defaults.

    An input whose parameter has another name in the method (the id of a contest) is passed by position.
    """
    method: Any = attrgetter(operation.call)(memory)
    known = inspect.signature(method).parameters
    by_place = [param.name for param in operation.params if param.positional and param.name not in known]
    named = {name: value for name, value in given.items() if name not in by_place}
    return method(*(given[name] for name in by_place), **named)
