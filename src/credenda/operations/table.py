"""The table of operations: those that the client describes, in the order in which interfaces show them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Final

from credenda.client import Credenda
from credenda.client_data import Data
from credenda.client_inspect import Inspect
from credenda.client_jobs import Jobs
from credenda.client_manage import Manage
from credenda.operation import ATTRIBUTE, DOORS, REMOTE, Door, Operation, Param, ParamKind, Rest, Scope

__all__ = ["DOORS", "OPERATIONS", "REMOTE", "Door", "Operation", "Param", "ParamKind", "Rest", "Scope"]

_OWNERS: Final[Mapping[str, type]] = {
    "": Credenda,
    "manage.": Manage,
    "data.": Data,
    "inspect.": Inspect,
    "jobs.": Jobs,
}
_ORDER: Final = (  # noqa: SIM905 - a list would be eighty lines
    "remember search context list get event why changes history diff browse uses sessions session correct forget "
    "restore delete feedback pin unpin contests contest resolve outcome loops set-status status-history undo "
    "undo-where delete-where plan-deletion erase policy apply-policies hold lift-hold holds backup core decay "
    "lifecycle consolidate dream promote demote retention compress schedule stats doctor audit rebuild reembed "
    "extract export import scan drift files entities jobs job retry cancel preview-extraction preview-context test "
    "replay score scores costs verify-audit export-audit compliance"
).split()
"""The first operations to show; others follow."""


def _collect() -> Iterator[Operation]:
    conditions = inspect.signature(Credenda.search).parameters
    for group, owner in _OWNERS.items():
        for name, method in vars(owner).items():
            described: Operation | None = getattr(method, ATTRIBUTE, None)
            if described is not None:
                yield described.complete(f"{group}{name}", method, conditions)


_FOUND: Final = {operation.name: operation for operation in _collect()}

OPERATIONS: Final[Mapping[str, Operation]] = {name: _FOUND[name] for name in dict.fromkeys([*_ORDER, *_FOUND])}
"""Every operation by name, in display order."""
