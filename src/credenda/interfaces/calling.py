"""How a door calls an operation of the table on an open memory."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from credenda.operations.table import Operation

if TYPE_CHECKING:
    from credenda.client import Credenda

__all__ = ["invoke"]


def invoke(memory: Credenda, operation: Operation, given: Mapping[str, object]) -> Any:  # noqa: ANN401 - any result
    """Call an operation by the names of its inputs; what was not given keeps the default of the operation.

    An input for which the table has no entry, such as `progress`, goes to the method as it is.
    """
    method: Any = attrgetter(operation.call)(memory)
    arguments = {param.name: param.argument for param in operation.params if param.argument}
    return method(**{arguments.get(name, name): value for name, value in given.items()})
