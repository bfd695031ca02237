"""Call an operation of the table on an open memory, for every interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credenda.errors import Invalid
from credenda.interfaces.authorization import authorize, note_answer, note_operation
from credenda.operation import REMOTE, Door, Operation, Param

if TYPE_CHECKING:
    from credenda.client import Credenda


@dataclass(frozen=True, slots=True)
class ServerFile:
    """A file that a server made for one request: of the bytes of an upload, or for a download to be sent from.

    The server chooses the path; nothing that a caller sends becomes one.
    """

    path: Path


def invoke(memory: Credenda, operation: Operation, given: Mapping[str, object], *, door: Door = "python") -> Any:  # noqa: ANN401 - any result
    """Call an operation by the names of its inputs; an input that is left out has the default of the operation.

    An input for which the table has no entry, such as `progress`, goes to the method as it is. At a remote door that is
    refused, and so are a path in place of a `ServerFile` and an input that the door does not take: `Invalid`. A remote
    door also needs a principal who may call the operation on this memory: `Unauthenticated`, `Forbidden`.
    """
    accepted = given
    if door in REMOTE:
        if door not in operation.doors:
            raise Invalid(f"{operation.name} is not offered here", why=operation.closed[door])
        note_operation(operation, door, given)
        authorize(operation, memory)
        accepted = {**_check_given(operation, given, door), **operation.remotely}
    method: Any = attrgetter(operation.call)(memory)
    arguments = {param.name: param.argument for param in operation.params if param.argument}
    value = method(**{arguments.get(name, name): value for name, value in accepted.items()})
    if door in REMOTE:
        note_answer(value)
    return value


def _check_given(operation: Operation, given: Mapping[str, object], door: Door) -> dict[str, object]:
    taken = {param.name: param for param in operation.params_at(door)}
    for name in given:
        if name not in taken:
            raise Invalid(
                f"{operation.name} takes no {name[:64]!r} here", fix=f"it takes {', '.join(taken) or 'nothing'}"
            )
    return {name: _read_value(taken[name], value, door) for name, value in given.items()}


def _read_value(param: Param, value: object, door: Door) -> object:
    """Return what the method gets for an input of a remote door: of a file, the path that the server chose."""
    if param.kind_at(door) not in {"upload", "download"}:
        return value
    if isinstance(value, ServerFile):
        return value.path
    raise Invalid(f"{param.name} is not a file that was sent", why="a path of the server is never accepted")
