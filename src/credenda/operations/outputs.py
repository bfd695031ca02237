"""The type of the result of every operation, by the method that carries it out.

They stand apart from the entries because most commands need no type of a result, and these take time to load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from credenda.model.browse import Browse, Diff, EntityMap, MemoryUses, SessionDetails, SessionSummary
from credenda.model.change import ChangeRecord
from credenda.model.code import DriftReport, ScanReport
from credenda.model.compression_report import CompressReport
from credenda.model.consolidation import ConsolidationReport
from credenda.model.contest import ContestCase, SlotLoop
from credenda.model.core import Core
from credenda.model.deletion import DeletionPlan, DeletionReceipt
from credenda.model.dream import DreamReport
from credenda.model.evaluation import (
    BeliefTestReport,
    ContextPreview,
    ExtractionPreview,
    FaithfulnessScore,
    ReplayReport,
    ScoreRecord,
)
from credenda.model.event import Receipt
from credenda.model.governance import ComplianceReport, CostSummary
from credenda.model.job import JobInfo
from credenda.model.memory import Memory
from credenda.model.query import (
    Context,
    EventDetails,
    Explanation,
    Outcome,
    Page,
    SearchResult,
    SlotVersion,
    StatusStep,
)
from credenda.model.report import (
    BackupReport,
    DecayReport,
    DeletionReport,
    DoctorReport,
    EraseReceipt,
    ExpiryReport,
    ExportReport,
    ExtractionReport,
    ImportReport,
    LifecycleReport,
    RebuildReport,
    ReembedReport,
    Resolution,
    RetentionCurves,
    ScheduleReport,
    Stats,
    UndoReport,
)
from credenda.model.retention_policy import LegalHold, RetentionPolicy
from credenda.model.server import AuditRecord, AuditReport
from credenda.model.sync_report import SyncReport

OUTPUTS: Final[Mapping[str, Any]] = {
    "remember": Receipt,
    "search": SearchResult,
    "context": Context,
    "list": Page[Memory],
    "get": Memory,
    "event": EventDetails,
    "why": Explanation,
    "changes": Sequence[ChangeRecord],
    "history": Sequence[SlotVersion],
    "diff": Diff,
    "correct": Memory,
    "forget": Memory,
    "restore": Memory,
    "delete": DeletionReceipt,
    "delete_where": DeletionReport,
    "manage.plan_deletion": DeletionPlan,
    "erase": EraseReceipt,
    "feedback": None,
    "stats": Stats,
    "manage.pin": Memory,
    "manage.unpin": Memory,
    "manage.contests": Sequence[ContestCase],
    "manage.contest": ContestCase,
    "manage.resolve": Resolution,
    "manage.outcome": Outcome,
    "manage.loops": Sequence[SlotLoop],
    "manage.set_status": Memory,
    "manage.status_history": Sequence[StatusStep],
    "manage.undo": UndoReport,
    "manage.undo_where": UndoReport,
    "manage.core": Core,
    "manage.decay": DecayReport,
    "manage.lifecycle": LifecycleReport,
    "manage.consolidate": ConsolidationReport,
    "manage.dream": DreamReport,
    "manage.promote": Memory,
    "manage.demote": Memory,
    "manage.retention": RetentionCurves,
    "manage.compress": CompressReport,
    "manage.schedule": ScheduleReport,
    "manage.policy": Sequence[RetentionPolicy],
    "manage.apply_policies": ExpiryReport,
    "manage.hold": LegalHold,
    "manage.lift_hold": LegalHold,
    "manage.holds": Sequence[LegalHold],
    "manage.extract": ExtractionReport,
    "manage.drift": DriftReport,
    "data.audit": Page[AuditRecord],
    "data.backup": BackupReport,
    "data.doctor": DoctorReport,
    "data.rebuild": RebuildReport,
    "data.reembed": ReembedReport,
    "data.export": ExportReport,
    "data.import_": ImportReport,
    "data.scan": ScanReport,
    "data.sync_files": SyncReport,
    "inspect.browse": Browse,
    "inspect.uses": MemoryUses,
    "inspect.sessions": Page[SessionSummary],
    "inspect.session": SessionDetails,
    "inspect.extraction": ExtractionPreview,
    "inspect.context": ContextPreview,
    "inspect.test": BeliefTestReport,
    "inspect.replay": ReplayReport,
    "inspect.entities": EntityMap,
    "inspect.score": FaithfulnessScore,
    "inspect.scores": Page[ScoreRecord],
    "inspect.costs": CostSummary,
    "inspect.verify_audit": AuditReport,
    "inspect.export_audit": ComplianceReport,
    "inspect.export_compliance": ComplianceReport,
    "jobs.list": Page[JobInfo],
    "jobs.get": JobInfo,
    "jobs.retry": JobInfo,
    "jobs.cancel": JobInfo,
}
"""Result types by `Operation.call`; a test compares each with what the method declares."""
