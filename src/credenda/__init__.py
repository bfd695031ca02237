"""Credenda: the memory of AI agents, kept as a belief state.

>>> from credenda import Credenda
>>> with Credenda.open(getfixture("tmp_path") / "memory.db", user="ana") as mem:
...     receipt = mem.remember("I live in Linz.")
...     mem.settle()
...     hit = mem.search("Where do I live?").hits[0]
...     hit.text.startswith("user: residence: Linz, told"), hit.quote
(True, 'I live in Linz.')
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
    from credenda.model.browse import Diff
    from credenda.model.change import ChangeRecord, ContestCase
    from credenda.model.event import Event, Receipt
    from credenda.model.governance import DeletionReceipt
    from credenda.model.memory import Memory, MemoryUnit
    from credenda.model.query import Context, EventDetails, Explanation, Hit, Page, SearchResult, SlotVersion
    from credenda.model.report import DeletionReport, EraseReceipt, ImportReport, Resolution, Stats, UndoReport

__all__ = [
    "AsyncCredenda",
    "ChangeRecord",
    "Conflict",
    "ContestCase",
    "Context",
    "Corrupt",
    "Credenda",
    "CredendaError",
    "DeletionReceipt",
    "DeletionReport",
    "Diff",
    "EraseReceipt",
    "Event",
    "EventDetails",
    "Explanation",
    "Forbidden",
    "Hit",
    "ImportReport",
    "Invalid",
    "LimitExceeded",
    "Memory",
    "MemoryUnit",
    "NotFound",
    "Page",
    "Receipt",
    "Resolution",
    "SearchResult",
    "SlotVersion",
    "Stats",
    "Unauthenticated",
    "Unavailable",
    "UndoReport",
    "__version__",
    "restore_backup",
]

__version__ = "0.1.0"

_LAZY = {
    "AsyncCredenda": "credenda.client_async",
    "ChangeRecord": "credenda.model.change",
    "ContestCase": "credenda.model.change",
    "Context": "credenda.model.query",
    "Credenda": "credenda.client",
    "DeletionReceipt": "credenda.model.governance",
    "DeletionReport": "credenda.model.report",
    "Diff": "credenda.model.browse",
    "EraseReceipt": "credenda.model.report",
    "Event": "credenda.model.event",
    "EventDetails": "credenda.model.query",
    "Explanation": "credenda.model.query",
    "Hit": "credenda.model.query",
    "ImportReport": "credenda.model.report",
    "Memory": "credenda.model.memory",
    "MemoryUnit": "credenda.model.memory",
    "Page": "credenda.model.query",
    "Receipt": "credenda.model.event",
    "Resolution": "credenda.model.report",
    "SearchResult": "credenda.model.query",
    "SlotVersion": "credenda.model.query",
    "Stats": "credenda.model.report",
    "UndoReport": "credenda.model.report",
    "restore_backup": "credenda.bootstrap",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:  # noqa: ANN401 - what is loaded on first use, so that importing stays cheap
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'credenda' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - see above

    value = getattr(import_module(module), name)
    globals()[name] = value
    return value
