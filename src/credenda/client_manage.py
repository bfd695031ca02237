"""The verbs of `mem.manage`. No logic lives here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from credenda.model.code import DriftReport
from credenda.model.compression_report import CompressReport
from credenda.model.consolidation import ConsolidationReport
from credenda.model.contest import ContestCase, SlotLoop
from credenda.model.core import Core
from credenda.model.dream import DreamReport
from credenda.model.memory import Memory
from credenda.model.query import StatusStep
from credenda.model.report import (
    DecayReport,
    ExpiryReport,
    ExtractionReport,
    LifecycleReport,
    Resolution,
    RetentionCurves,
    ScheduleReport,
    UndoReport,
)
from credenda.model.retention_policy import LegalHold, RetentionPolicy
from credenda.paths import check_path
from credenda.runtime import Parts
from credenda.services import edit, erase, flip_flop_audit, memory_status, undo
from credenda.validation import check_words
from credenda.workers.expiry import apply_policies

__all__ = ["Manage"]


class Manage:
    """What happens to beliefs after they are held: `mem.manage`."""

    def __init__(self, parts: Parts) -> None:
        """Belong to an open memory."""
        self._parts = parts

    def contests(self) -> Sequence[ContestCase]:
        """List slots whose value cannot be decided, with their questions; open ones first."""
        return edit.list_contests(self._parts)

    def resolve(
        self, contest_id: str, *, keep: str | None = None, scopes: Mapping[str, str] | None = None
    ) -> Resolution:
        """Answer a contest: keep one value, or give each its scope, such as {"consulting": "morning"}.

        The scope "default" means none. `keep` may also say when each holds: "morning when consulting, else afternoon".
        Raises `Invalid` for a value that is unknown or ambiguous, and lists the choices; `Conflict` for a contest that
        is resolved.
        """
        return edit.resolve(self._parts, contest_id, keep=keep, scopes=scopes)

    def extract(
        self,
        path: str | Path | None = None,
        *,
        text: str | None = None,
        model: str | None = None,
        dry_run: bool = False,
    ) -> ExtractionReport:
        """Read again with the model, now, what waits for it; or, as a dry run, only say what reading would cost.

        A dry run prices the file or text given, else what waits, for `model` or the one in use; it asks no model and
        writes nothing. Raises `Invalid` where there is no model.
        """
        from credenda.services.llm_extraction import extract

        return extract(self._parts, None if path is None else check_path(path), text=text, model=model, dry_run=dry_run)

    def pin(self, id: str) -> Memory:
        """Keep a memory in every context."""
        return edit.pin(self._parts, id, pinned=True)

    def unpin(self, id: str) -> Memory:
        """Take a memory's pin away."""
        return edit.pin(self._parts, id, pinned=False)

    def policy(
        self, days: int | None = None, *, topic: str | None = None, remove: bool = False
    ) -> Sequence[RetentionPolicy]:
        """Return the retention policies; with `days` set one first, for all that is said or for a topic.

        What was said longer ago is deleted by `apply_policies`, which background workers call. `remove` takes the
        policy of a topic, or the general one, away. Raises `Invalid` for days outside 1 to 36,525.
        """
        return erase.set_policy(self._parts, days, topic, remove=remove)

    def apply_policies(self, *, dry_run: bool = False) -> ExpiryReport:
        """Delete what has expired, and what is older than the policies allow; `dry_run` only counts.

        It leaves no tombstones: the same words may be said again. Raises `Conflict` under a legal hold.
        """
        return apply_policies(self._parts, dry_run=dry_run)

    def hold(self, reason: str) -> LegalHold:
        """Set a legal hold: nothing is deleted, neither by hand nor by age, until it is lifted.

        Raises `Conflict` where one is in force, `Invalid` without a reason.
        """
        return erase.hold(self._parts, reason)

    def lift_hold(self, reason: str) -> LegalHold:
        """Lift the legal hold; raises `Conflict` where there is none."""
        return erase.lift_hold(self._parts, reason)

    def holds(self) -> Sequence[LegalHold]:
        """Return every legal hold there was and is, oldest first, with the reasons."""
        return erase.list_holds(self._parts)

    def core(self) -> Core:
        """Return the core: the few memories that every prompt should have, within a hard cap of tokens and lines.

        It is made of standing instructions, pins, who the user is, and what is recalled often, each line a memory as it
        is held now. Where it has changed it is filed, and `diff` says what this rewrite changed against the one before.
        """
        from credenda.services import core

        return core.core(self._parts)

    def decay(self, *, dry_run: bool = False) -> DecayReport:
        """Compute afresh how much of each held memory is retained; scores move, and nothing is believed otherwise.

        `dry_run` returns every score that would move. Curves and their sources: docs/explanation/lifecycle.md.
        """
        from credenda.services import lifecycle

        return lifecycle.decay(self._parts, dry_run=dry_run)

    def lifecycle(self, *, dry_run: bool = False) -> LifecycleReport:
        """Promote what has proved itself and put away what has faded; `dry_run` returns what would move."""
        from credenda.services import lifecycle

        return lifecycle.run_lifecycle(self._parts, dry_run=dry_run)

    def consolidate(
        self,
        topic: str | None = None,
        similarity_threshold: float = 0.85,
        dry_run: bool = False,  # noqa: FBT001, FBT002 - the signature of the public contract
        force: bool = False,  # noqa: FBT001, FBT002
    ) -> ConsolidationReport:
        """Merge what says the same, and let one entry say what changed: "now X; previously Y".

        Likeness nominates, a judge decides, and in doubt everything stays: by rules exact and slot-equal duplicates
        alone are merged, with a model phrasings of the same too. `similarity_threshold` only moves how far neighbours
        are looked for. It runs once in 24 hours, when 20 memories are new; `force` skips both, never the lock. With
        `topic` all of that topic is looked at. `dry_run` returns the groups and the proposed texts, and writes nothing.
        Raises `Invalid` for a threshold outside 0 to 1.
        """
        from credenda.services.consolidation import consolidate

        return consolidate(
            self._parts, topic=topic, similarity_threshold=similarity_threshold, dry_run=dry_run, force=force
        )

    def compress(self, *, dry_run: bool = True) -> CompressReport:
        """Keep the vectors of memories at 8, 4 or 2 bits as they fade; recall gives a memory its precision back.

        A dry run, the default, returns bytes and fidelity by tier and changes nothing. Nothing is believed otherwise
        afterwards; what has faded far ranks a little lower by meaning.
        """
        from credenda.services import embedding_compression

        return embedding_compression.compress(self._parts, dry_run=dry_run)

    def promote(self, id: str) -> Memory:
        """Move a memory one layer up: working, episodic, semantic. Raises `Conflict` where there is no way up."""
        from credenda.services import lifecycle

        return lifecycle.move_layer(self._parts, id, up=True)

    def demote(self, id: str) -> Memory:
        """Move a memory one layer down: semantic, episodic, working. Raises `Conflict` where there is no way down."""
        from credenda.services import lifecycle

        return lifecycle.move_layer(self._parts, id, up=False)

    def retention(self, *, plot: str | Path | None = None, limit: int = 200) -> RetentionCurves:
        """Give the forgetting curves over days, and where the newest memories stand on them (`limit`: 1 to 2,000).

        `plot` also draws them into an SVG file.
        """
        from credenda.services import lifecycle

        return lifecycle.compute_retention_curves(
            self._parts, plot=None if plot is None else check_path(plot), limit=limit
        )

    def drift(self, roots: str | Path | Sequence[str | Path] | None = None, *, fix: bool = False) -> DriftReport:
        """Hold what memories claim about code against the code in these folders; nothing outside them is looked at.

        Without `roots` they are those of the setting `drift_roots`; raises `Invalid` where that names none.
        The score is 100 less 10 for each error, 3 for each warning, 1 for each information. `fix` gives up the memories
        with errors (status `invalidated`), which `undo` takes back. The codes: docs/how-to/code.md.
        """
        from credenda.services.drift import drift

        return drift(self._parts, roots, fix=fix)

    def dream(self, steps: Sequence[str] | None = None, *, dry_run: bool = False) -> DreamReport:
        """Run the nightly cycle, or the steps named: forgetting, merge, cards, bridges, probe, drift, prune.

        They run in this order. `dry_run` changes nothing and shows exactly what would. A step that fails is reported
        and passed over; a second run finds nothing to do. While another process dreams, nothing runs and `reason` says
        so. The steps and their numbers: docs/explanation/dream.md. Raises `Invalid` for a step that there is not.
        """
        from credenda.services.dream.run import dream

        return dream(self._parts, steps, dry_run=dry_run)

    def loops(self, *, days: int | None = None) -> Sequence[SlotLoop]:
        """Audit what goes in circles: slots replaced three or more times within 30 (or these) days, worst first."""
        return flip_flop_audit.find_loops(self._parts, days=days)

    def set_status(self, id: str, status: str, reason: str = "") -> Memory:
        """Move a memory to another status by hand, and return the memory that now holds its value.

        `reason` is kept in the log. What becomes active takes the place of an active value that it cannot stand beside.
        Raises `Conflict` for a way that the table of transitions does not have, `Invalid` for no status.
        """
        return memory_status.set_status(self._parts, id, status, reason)

    def status_history(self, id: str) -> Sequence[StatusStep]:
        """Return every status that a memory had, oldest first, with who set it and why."""
        return memory_status.read_status_history(self._parts, id)

    def undo(
        self,
        change_id: str | None = None,
        *,
        session: str | None = None,
        source: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        cascade: bool = False,
        dry_run: bool = False,
    ) -> UndoReport:
        """Take back a change, or all changes that meet the conditions (see `undo_where`); name one or the others.

        It appends the inverse: nothing is lost, and undoing the undo takes the change up again. Where later changes
        rest on it, `Conflict` names them, or `cascade` takes them back too. `dry_run` changes nothing and shows what
        would. A decision that was taken back is not taken again on the same evidence. Raises `NotFound` for an unknown
        change, `Conflict` for one that is undone already or deleted something: that is for good.
        """
        conditions = {"session": session, "source": source, "since": since, "until": until}
        return undo.undo_any(self._parts, change_id, conditions, cascade=cascade, dry_run=dry_run)

    def undo_where(
        self,
        *,
        session: str | None = None,
        source: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        cascade: bool = False,
        dry_run: bool = False,
    ) -> UndoReport:
        """Take back every change caused by what was said in a session or came from a source, or applied in a time.

        All conditions must hold; `until` itself lies outside. What was deleted is named in `lasting` and stays.
        """
        conditions = {"session": session, "source": source, "since": since, "until": until}
        return undo.undo_any(self._parts, None, conditions, cascade=cascade, dry_run=dry_run)

    def schedule(self, *, run: bool = False, only: Sequence[str] = ()) -> ScheduleReport:
        """Say how every duty stands: its cadence, its last run and result, and whether it is overdue.

        `run` first runs those that are due, or with `only` those named, unless another process leads. Raises `Invalid`
        for a name that is no duty.
        """
        from credenda.services import schedule

        return (
            schedule.run_duties(self._parts, check_words(only, "only"))
            if run or only
            else schedule.schedule(self._parts)
        )
