"""The table of operations and the client say the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from credenda import errors
from credenda.client import Credenda
from credenda.client_data import Data
from credenda.client_manage import Manage
from credenda.operations.table import OPERATIONS, Operation
from credenda.services.inspect import SearchArguments

_OWNERS = {"": Credenda, "manage": Manage, "data": Data}
_RENAMED = {"resolve": {"id": "contest_id"}}


def _method(operation: Operation) -> Callable[..., object]:
    group, _, name = operation.call.rpartition(".")
    return getattr(_OWNERS[group], name)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_every_parameter_is_one_of_the_methods(operation: Operation) -> None:
    accepted = inspect.signature(_method(operation)).parameters
    takes_rest = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in accepted.values())
    for param in operation.params:
        name = _RENAMED.get(operation.name, {}).get(param.name, param.name)
        assert name in accepted or (takes_rest and name in SearchArguments.__dataclass_fields__), param.name
        if name in accepted and param.default is not None and name != "token_budget":
            default = accepted[name].default
            assert default in (param.default, inspect.Parameter.empty), param.name


def test_every_public_verb_is_in_the_table() -> None:
    calls = {operation.call for operation in OPERATIONS.values()}
    lifecycle = {"open", "for_user", "close", "start_worker", "settle", "store", "delete_where"}
    for group, owner in _OWNERS.items():
        for name, member in vars(owner).items():
            if name.startswith("_") or name in lifecycle or not inspect.isfunction(member):
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
