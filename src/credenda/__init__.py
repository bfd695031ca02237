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
    from credenda.model.browse import (
        Browse,
        Diff,
        DirectoryEntry,
        DirectoryMatch,
        DirectoryPage,
        EntityMap,
        MemoryUses,
        SessionDetails,
        SessionSummary,
    )
    from credenda.model.change import ChangeRecord, ContestCase, SlotLoop
    from credenda.model.core import Core, Item
    from credenda.model.evaluation import (
        BeliefTestReport,
        ContextPreview,
        ExtractionPreview,
        FaithfulnessScore,
        RebuildReport,
        ReplayReport,
        ScoreRecord,
    )
    from credenda.model.event import Event, Receipt
    from credenda.model.governance import (
        ComplianceReport,
        CostSummary,
        DeletionPlan,
        DeletionReceipt,
        LegalHold,
        RetentionPolicy,
    )
    from credenda.model.job import JobInfo
    from credenda.model.memory import Memory, MemoryUnit
    from credenda.model.query import (
        Context,
        EventDetails,
        Explanation,
        Hit,
        Outcome,
        Page,
        SearchResult,
        SlotVersion,
        StatusStep,
    )
    from credenda.model.report import (
        BackupReport,
        CompressReport,
        ConsolidationReport,
        DecayReport,
        DeletionReport,
        DoctorReport,
        DreamReport,
        DriftReport,
        EraseReceipt,
        ExpiryReport,
        ExportReport,
        ExtractionReport,
        ImportReport,
        LifecycleReport,
        ReembedReport,
        Resolution,
        RetentionCurves,
        ScanReport,
        ScheduleReport,
        Stats,
        SyncReport,
        UndoReport,
    )
    from credenda.model.server import AuditRecord, AuditReport

__all__ = [
    "AsyncCredenda",
    "AuditRecord",
    "AuditReport",
    "BackupReport",
    "BeliefTestReport",
    "Browse",
    "ChangeRecord",
    "ComplianceReport",
    "CompressReport",
    "Conflict",
    "ConsolidationReport",
    "ContestCase",
    "Context",
    "ContextPreview",
    "Core",
    "Corrupt",
    "CostSummary",
    "Credenda",
    "CredendaError",
    "DecayReport",
    "DeletionPlan",
    "DeletionReceipt",
    "DeletionReport",
    "Diff",
    "DirectoryEntry",
    "DirectoryMatch",
    "DirectoryPage",
    "DoctorReport",
    "DreamReport",
    "DriftReport",
    "EntityMap",
    "EraseReceipt",
    "Event",
    "EventDetails",
    "ExpiryReport",
    "Explanation",
    "ExportReport",
    "ExtractionPreview",
    "ExtractionReport",
    "FaithfulnessScore",
    "Forbidden",
    "Hit",
    "ImportReport",
    "Invalid",
    "Item",
    "JobInfo",
    "LegalHold",
    "LifecycleReport",
    "LimitExceeded",
    "Memory",
    "MemoryUnit",
    "MemoryUses",
    "NotFound",
    "Outcome",
    "Page",
    "RebuildReport",
    "Receipt",
    "ReembedReport",
    "ReplayReport",
    "Resolution",
    "RetentionCurves",
    "RetentionPolicy",
    "ScanReport",
    "ScheduleReport",
    "ScoreRecord",
    "SearchResult",
    "SessionDetails",
    "SessionSummary",
    "SlotLoop",
    "SlotVersion",
    "Stats",
    "StatusStep",
    "SyncReport",
    "Unauthenticated",
    "Unavailable",
    "UndoReport",
    "__version__",
    "restore_backup",
]

__version__ = "0.1.0"

_LAZY = {
    "AsyncCredenda": "credenda.client_async",
    "AuditRecord": "credenda.model.server",
    "AuditReport": "credenda.model.server",
    "BackupReport": "credenda.model.report",
    "BeliefTestReport": "credenda.model.evaluation",
    "Browse": "credenda.model.browse",
    "ChangeRecord": "credenda.model.change",
    "ComplianceReport": "credenda.model.governance",
    "CompressReport": "credenda.model.report",
    "ConsolidationReport": "credenda.model.report",
    "ContestCase": "credenda.model.change",
    "Context": "credenda.model.query",
    "ContextPreview": "credenda.model.evaluation",
    "Core": "credenda.model.core",
    "CostSummary": "credenda.model.governance",
    "Credenda": "credenda.client",
    "DecayReport": "credenda.model.report",
    "DeletionPlan": "credenda.model.governance",
    "DeletionReceipt": "credenda.model.governance",
    "DeletionReport": "credenda.model.report",
    "Diff": "credenda.model.browse",
    "DirectoryEntry": "credenda.model.browse",
    "DirectoryMatch": "credenda.model.browse",
    "DirectoryPage": "credenda.model.browse",
    "DoctorReport": "credenda.model.report",
    "DreamReport": "credenda.model.report",
    "DriftReport": "credenda.model.report",
    "EntityMap": "credenda.model.browse",
    "EraseReceipt": "credenda.model.report",
    "Event": "credenda.model.event",
    "EventDetails": "credenda.model.query",
    "ExpiryReport": "credenda.model.report",
    "Explanation": "credenda.model.query",
    "ExportReport": "credenda.model.report",
    "ExtractionPreview": "credenda.model.evaluation",
    "ExtractionReport": "credenda.model.report",
    "FaithfulnessScore": "credenda.model.evaluation",
    "Hit": "credenda.model.query",
    "ImportReport": "credenda.model.report",
    "Item": "credenda.model.core",
    "JobInfo": "credenda.model.job",
    "LegalHold": "credenda.model.governance",
    "LifecycleReport": "credenda.model.report",
    "Memory": "credenda.model.memory",
    "MemoryUnit": "credenda.model.memory",
    "MemoryUses": "credenda.model.browse",
    "Outcome": "credenda.model.query",
    "Page": "credenda.model.query",
    "RebuildReport": "credenda.model.evaluation",
    "Receipt": "credenda.model.event",
    "ReembedReport": "credenda.model.report",
    "ReplayReport": "credenda.model.evaluation",
    "Resolution": "credenda.model.report",
    "RetentionCurves": "credenda.model.report",
    "RetentionPolicy": "credenda.model.governance",
    "ScanReport": "credenda.model.report",
    "ScheduleReport": "credenda.model.report",
    "ScoreRecord": "credenda.model.evaluation",
    "SearchResult": "credenda.model.query",
    "SessionDetails": "credenda.model.browse",
    "SessionSummary": "credenda.model.browse",
    "SlotLoop": "credenda.model.change",
    "SlotVersion": "credenda.model.query",
    "Stats": "credenda.model.report",
    "StatusStep": "credenda.model.query",
    "SyncReport": "credenda.model.report",
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
