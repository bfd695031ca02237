"""Credenda: the memory of AI agents, kept as a belief state.

>>> from credenda import Credenda
>>> with Credenda.open(getfixture("tmp_path") / "memory.db", user="ana") as mem:
...     receipt = mem.remember("I live in Linz.")
...     mem.settle()
...     mem.search("Where do I live?").hits[0].text
'I live in Linz.'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from credenda.errors import (
    Conflict,
    Corrupt,
    CredendaError,
    Forbidden,
    Invalid,
    LimitExceeded,
    NotFound,
    Unauthenticated,
    Unavailable,
)

if TYPE_CHECKING:
    from credenda.bootstrap import restore_backup
    from credenda.client import Credenda
    from credenda.client_async import AsyncCredenda
    from credenda.model.memory import MemoryUnit

__all__ = [
    "AsyncCredenda",
    "Conflict",
    "Corrupt",
    "Credenda",
    "CredendaError",
    "Forbidden",
    "Invalid",
    "LimitExceeded",
    "MemoryUnit",
    "NotFound",
    "Unauthenticated",
    "Unavailable",
    "__version__",
    "restore_backup",
]

__version__ = "0.1.0"

_LAZY = {
    "AsyncCredenda": "credenda.client_async",
    "Credenda": "credenda.client",
    "MemoryUnit": "credenda.model.memory",
    "restore_backup": "credenda.bootstrap",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - what is loaded on first use, so that importing stays cheap
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'credenda' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - see above

    value = getattr(import_module(module), name)
    globals()[name] = value
    return value
