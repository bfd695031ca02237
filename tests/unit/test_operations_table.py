"""The operations that the client describes: their inputs, results and names."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from credenda import errors, model
from credenda.client import Credenda
from credenda.client_data import Data, Jobs
from credenda.client_inspect import Inspect
from credenda.client_manage import Manage
from credenda.model.report import Stats
from credenda.operation import ATTRIBUTE, Operation, Param
from credenda.operations import OPERATIONS

_OWNERS = {"": Credenda, "manage": Manage, "data": Data, "inspect": Inspect, "jobs": Jobs}
_PYTHON_ONLY = {"progress": "a function to call back can be given by Python alone"}
_NO_OPERATION = {
    "close": "every door closes what it opened",
    "for_user": "it opens another memory",
    "start_worker": "every door decides when work begins",
    "start": "a server starts a job where a caller prefers not to wait",
    "settle": "every door waits in its own way",
    "store": "for tests, seeding and migration in Python",
}


def _method(operation: Operation) -> Callable[..., object]:
    group, _, name = operation.call.rpartition(".")
    return getattr(_OWNERS[group], name)


def _values() -> dict[str, Any]:
    """Return the names of all values: the client loads those of results only for type checkers."""
    modules = [import_module(found.name) for found in pkgutil.iter_modules(model.__path__, "credenda.model.")]
    return {name: value for module in modules for name, value in vars(module).items()}


def _types(method: Callable[..., object]) -> dict[str, Any]:
    return get_type_hints(method, localns=_values())


def _arguments(operation: Operation) -> dict[str, tuple[Any, object]]:
    """Return the type and the default of every argument of the method behind an operation."""
    method = _method(operation)
    hints = _types(method)
    found: dict[str, tuple[Any, object]] = {}
    for name, one in inspect.signature(method).parameters.items():
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            found = {**_arguments(OPERATIONS["search"]), **found}
        elif name != "self":
            found[name] = hints[name], one.default
    return found


def _kind(annotation: Any) -> str:  # noqa: ANN401 - any annotation
    """Return the kind of input that an annotation of the client asks for."""
    members = get_args(annotation) if get_origin(annotation) in {UnionType, Union} else (annotation,)
    plain = {get_origin(one) or one for one in members} - {type(None)}
    if any(get_origin(inner) is Mapping for one in members for inner in get_args(one)):
        return "tables"
    kinds = {datetime: "time", Path: "file", bool: "flag", int: "integer", float: "number", Mapping: "table"}
    for known, kind in kinds.items():
        if known in plain and Sequence not in plain:
            return kind
    return "names" if plain & {Sequence, Collection} else "text"


def _name(param: Param) -> str:
    return param.argument or param.name


def _differs(operation: Operation, param: Param) -> str:
    """Say in what an input differs from the argument that it becomes."""
    annotation, default = _arguments(operation)[_name(param)]
    if operation.name == "context" and param.name == "record_access":
        annotation, default = bool, None  # the method asks `automatic` where it is left out
    if operation.name == "remember" and param.name == "content":
        annotation = str  # messages are for Python and HTTP alone
    if param.kind != _kind(annotation):
        return f"it is a {param.kind}, and the method wants a {_kind(annotation)}"
    expected = inspect.Parameter.empty if param.required else param.default
    return "" if default == expected else f"{default!r} is the default of the method"


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_every_input_is_an_argument_of_its_type_and_default(operation: Operation) -> None:
    wrong = {param.name: _differs(operation, param) for param in operation.params}
    assert {name: why for name, why in wrong.items() if why} == {}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_every_argument_is_an_input(operation: Operation) -> None:
    missing = _arguments(operation).keys() - {_name(param) for param in operation.params}
    never = {"record_access"} if operation.name == "preview-context" else set[str]()  # a preview records no recall
    assert missing - never <= _PYTHON_ONLY.keys() | operation.remotely.keys()


def test_every_public_verb_is_in_the_table() -> None:
    calls = {operation.call for operation in OPERATIONS.values()}
    for group, owner in _OWNERS.items():
        for name, member in vars(owner).items():
            if name.startswith("_") or name in _NO_OPERATION or not inspect.isfunction(member):
                continue
            assert f"{group}.{name}".lstrip(".") in calls


def test_names_are_keys_and_errors_are_ours() -> None:
    for name, operation in OPERATIONS.items():
        assert operation.name == name
        assert operation.summary.endswith(".")
        assert all(issubclass(error, errors.CredendaError) for error in operation.errors)
        assert not (operation.destructive and not operation.writes)
        names = [param.name for param in operation.params]
        assert len(names) == len(set(names))
        assert all(set(param.among) <= set(param.choices) for param in operation.params)


def test_an_operation_is_read_from_the_signature_below_its_description() -> None:
    @Operation("Find things.", "memory:read", inputs={"id": "Which.", "since": Param("From when."), "limit": "Most."})
    def find_things(id: str, *, limit: int = 5, since: datetime | str | None = None, quiet: bool = False) -> Stats:
        raise AssertionError(id, limit, since, quiet)

    described: Operation = getattr(find_things, ATTRIBUTE)
    found = described.complete("find_things", find_things, {})
    assert found.name == "find-things"
    assert [(param.name, param.kind, param.required, param.default) for param in found.params] == [
        ("id", "text", True, None),
        ("since", "time", False, None),
        ("limit", "integer", False, 5),
    ]
    assert found.output is Stats
