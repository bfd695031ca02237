"""The verbs of `mem.manage`. No logic lives here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from credenda import services, workers
from credenda.errors import Conflict, Invalid, NotFound, Unavailable
from credenda.model.memory import Memory, Status
from credenda.operation import ID, LOCAL, NOT_A_SKILL, PERSONS, REASON, TOPIC, WHOLE_MESSAGE, Operation, Param, Rest
from credenda.paths import check_path
from credenda.telemetry import record_group
from credenda.validation import check_words

if TYPE_CHECKING:
    from credenda.model.change import ContestCase, SlotLoop
    from credenda.model.core import Core
    from credenda.model.governance import DeletionPlan, LegalHold, RetentionPolicy
    from credenda.model.query import Outcome, StatusStep
    from credenda.model.report import (
        CompressReport,
        ConsolidationReport,
        DecayReport,
        DreamReport,
        DriftReport,
        ExpiryReport,
        ExtractionReport,
        LifecycleReport,
        Resolution,
        RetentionCurves,
        ScheduleReport,
        UndoReport,
    )
    from credenda.runtime import Parts


_Curve = Literal["huber", "huber_linear", "l2", "elastic"]


@record_group("manage")
class Manage:
    """Operations on existing beliefs: `mem.manage`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @Operation(
        "List slots with an undecided value, each with its question; open ones first.",
        "memory:read",
        Rest("GET", "/v1/contests"),
        closed={},
    )
    def contests(self) -> Sequence[ContestCase]:
        """List slots whose value is undecided, with their questions; open ones first."""
        return services.edit.list_contests(self._parts)

    @Operation(
        "Show one contest.",
        "memory:read",
        Rest("GET", "/v1/contests/{id}", versioned=True),
        inputs={"id": Param("The id of a contest.", argument="contest_id")},
        errors=(Invalid, NotFound),
        closed={**NOT_A_SKILL, "cli": "`contests` shows every one", "mcp": "`contests` shows every one"},
    )
    def contest(self, contest_id: str) -> ContestCase:
        """Return one contest; raises `NotFound`."""
        return services.edit.get_contest(self._parts, contest_id)

    @Operation(
        "Resolve a contest: keep one value or both, or give each value a scope.",
        "memory:review",
        Rest("POST", "/v1/contests/{id}/resolution", versioned=True),
        inputs={
            "id": Param("A contest, or a contradicting memory.", argument="contest_id"),
            "keep": "The value, both, or: X when …, else Y.",
            "scopes": Param("A value for each scope; the scope `default` means no scope.", option="scope"),
        },
        errors=(Invalid, NotFound, Conflict),
        writes=True,
        idempotent=False,
        closed={},
    )
    def resolve(
        self, contest_id: str, *, keep: str | None = None, scopes: Mapping[str, str] | None = None
    ) -> Resolution:
        """Answer a contest: keep one value, or give each its scope, such as {"consulting": "morning"}.

        The scope "default" means none. `keep` may also give conditions, "morning when consulting, else afternoon", or
        say "both". The id of a memory, as in `outcome`, answers the contradiction between it and earlier values.
        Raises `Invalid` for an unknown or ambiguous value, with the choices; `Conflict` for a contest that is resolved.
        """
        return services.edit.resolve(self._parts, contest_id, keep=keep, scopes=scopes)

    @Operation(
        "Show the outcome of messages: their memories, and the values that they contradict.",
        "memory:read",
        Rest("GET", "/v1/outcome"),
        inputs={"event_ids": "The ids of events, from the receipt of the messages."},
        errors=(Invalid, NotFound),
        closed={
            "mcp": "the receipt of the messages tells a model what it needs",
            "cli": "`contests` and `why` show the same for a person",
        },
    )
    def outcome(self, event_ids: Sequence[str]) -> Outcome:
        """Show whether messages were processed, the memories that rest on them, and what they contradict.

        `event_ids` are those of the receipt of `remember`. Raises `NotFound` for an unknown one.
        """
        return services.edit.get_outcome(self._parts, check_words(event_ids, "event_ids"))

    @Operation(
        "Process the messages that wait for the LLM; or estimate the cost without calling it.",
        "memory:admin",
        Rest("POST", "/v1/extractions"),
        inputs={
            "path": Param("With --dry-run: a file to estimate.", positional=True, remote="upload"),
            "text": "With --dry-run: a text to estimate.",
            "model": "With --dry-run: another model, such as openai:gpt-5-mini.",
            "dry_run": "Only estimate the cost.",
        },
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        closed={**PERSONS, "mcp": "a model must not start work that may cost money"},
    )
    def extract(
        self,
        path: str | Path | None = None,
        *,
        text: str | None = None,
        model: str | None = None,
        dry_run: bool = False,
    ) -> ExtractionReport:
        """Run the pending extractions with the model now; as a dry run, only estimate their cost.

        A dry run prices the file or text given, else the pending messages, for `model` or the current one; it calls no
        model and writes nothing. Raises `Invalid` without a model.
        """
        return services.llm_extraction.extract(
            self._parts, None if path is None else check_path(path), text=text, model=model, dry_run=dry_run
        )

    @Operation(
        "Say what deleting a memory or an event would remove, and what shares its words; nothing is deleted.",
        "memory:read",
        Rest("GET", "/v1/memories/{id}/deletion"),
        inputs={"id": ID, "whole_message": WHOLE_MESSAGE},
        errors=(Invalid, NotFound, Conflict),
        closed={**PERSONS, "cli": "it is `delete --dry-run` there"},
    )
    def plan_deletion(self, id: str, *, whole_message: bool = False) -> DeletionPlan:
        """Say what deleting a memory or an event would remove, and what shares its words; nothing is deleted.

        A short id will do.
        """
        return services.delete.plan_deletion(self._parts, id, whole_message=whole_message)

    @Operation(
        "Pin a memory: it is in every context.",
        "memory:review",
        Rest("POST", "/v1/memories/{id}/pin", versioned=True),
        inputs={"id": ID},
        errors=(NotFound, Conflict),
        writes=True,
    )
    def pin(self, id: str) -> Memory:
        """Keep a memory in every context."""
        return services.edit.pin(self._parts, id, pinned=True)

    @Operation(
        "Unpin a memory.",
        "memory:review",
        Rest("DELETE", "/v1/memories/{id}/pin", versioned=True),
        inputs={"id": ID},
        errors=(NotFound,),
        writes=True,
    )
    def unpin(self, id: str) -> Memory:
        """Unpin a memory."""
        return services.edit.pin(self._parts, id, pinned=False)

    @Operation(
        "Show, set or remove retention policies.",
        "memory:admin",
        Rest("POST", "/v1/policies"),
        inputs={
            "days": "Keep events for this many days.",
            "topic": TOPIC,
            "remove": "Remove the policy.",
        },
        errors=(Invalid,),
        writes=True,
        closed=PERSONS,
    )
    def policy(
        self, days: int | None = None, *, topic: str | None = None, remove: bool = False
    ) -> Sequence[RetentionPolicy]:
        """Return the retention policies; with `days` set one first, for all events or for a topic.

        `apply_policies`, which background workers call, deletes older events. `remove` deletes the policy of a topic,
        or the general one. Raises `Invalid` for days outside 1 to 36,525.
        """
        return services.delete.set_policy(self._parts, days, topic, remove=remove)

    @Operation(
        "Delete everything that has expired or is older than the policies allow.",
        "memory:erase",
        Rest("POST", "/v1/policies/apply"),
        inputs={"dry_run": "Only count what to delete."},
        errors=(Conflict,),
        writes=True,
        destructive=True,
        closed=PERSONS,
    )
    def apply_policies(self, *, dry_run: bool = False) -> ExpiryReport:
        """Delete expired rows, and rows older than the policies allow; `dry_run` only counts.

        It leaves no tombstones: the same words may be stored later. Raises `Conflict` under a legal hold.
        """
        return workers.handlers.apply_policies(self._parts, dry_run=dry_run)

    @Operation(
        "Set a legal hold: nothing of this user is deleted until it is lifted.",
        "memory:admin",
        Rest("POST", "/v1/holds"),
        inputs={"reason": "The reason; it is recorded."},
        errors=(Invalid, Conflict),
        writes=True,
        idempotent=False,
        closed=PERSONS,
    )
    def hold(self, reason: str) -> LegalHold:
        """Set a legal hold: nothing is deleted, neither by hand nor by age, until it is lifted.

        Raises `Conflict` if one is in force, `Invalid` without a reason.
        """
        return services.delete.hold(self._parts, reason)

    @Operation(
        "Lift the legal hold.",
        "memory:admin",
        Rest("POST", "/v1/holds/lift"),
        inputs={"reason": "The reason; it is recorded."},
        errors=(Invalid, Conflict),
        writes=True,
        idempotent=False,
        closed=PERSONS,
    )
    def lift_hold(self, reason: str) -> LegalHold:
        """Lift the legal hold; raises `Conflict` without one."""
        return services.delete.lift_hold(self._parts, reason)

    @Operation(
        "List all legal holds, current and past, oldest first.",
        "memory:read",
        Rest("GET", "/v1/holds"),
        closed=PERSONS,
    )
    def holds(self) -> Sequence[LegalHold]:
        """Return all legal holds, past and present, oldest first, with the reasons."""
        return services.delete.list_holds(self._parts)

    @Operation(
        "Show the core and the changes of its last rewrite.",
        "memory:read",
        Rest("GET", "/v1/core"),
        errors=(Unavailable,),
    )
    def core(self) -> Core:
        """Return the core: the few memories that every prompt should have, within a hard cap of tokens and lines.

        It consists of standing instructions, pins, the user's identity, and memories recalled often; each line is the
        current version of a memory. A changed core is stored, and `diff` compares it with the one before.
        """
        return services.core.core(self._parts)

    @Operation(
        "Recompute the retention score of each memory; no belief changes.",
        "memory:admin",
        Rest("POST", "/v1/decay"),
        inputs={"dry_run": "Only show the planned changes."},
        errors=(Unavailable,),
        writes=True,
    )
    def decay(self, *, dry_run: bool = False) -> DecayReport:
        """Recompute the retention of each current memory; scores move, beliefs stay the same.

        `dry_run` returns every score that would move. Curves and their sources: docs/explanation/lifecycle.md.
        """
        return services.lifecycle.decay(self._parts, dry_run=dry_run)

    @Operation(
        "Promote proven memories, and archive faded ones.",
        "memory:admin",
        Rest("POST", "/v1/lifecycle"),
        inputs={"dry_run": "Only show the planned changes."},
        errors=(Unavailable,),
        writes=True,
    )
    def lifecycle(self, *, dry_run: bool = False) -> LifecycleReport:
        """Promote confirmed memories and archive faded ones; `dry_run` returns the planned moves."""
        return services.lifecycle.run_lifecycle(self._parts, dry_run=dry_run)

    @Operation(
        "Merge equivalent memories, and combine successive values into one entry.",
        "memory:admin",
        Rest("POST", "/v1/consolidations"),
        inputs={
            "topic": TOPIC,
            "similarity_threshold": "Minimum similarity of memories to compare, 0 to 1; it never decides.",
            "dry_run": "Only show the planned changes.",
            "force": "Run even without 20 new memories and a day since the last run.",
        },
        errors=(Invalid, Unavailable),
        writes=True,
        long=True,
    )
    def consolidate(
        self,
        topic: str | None = None,
        similarity_threshold: float = 0.85,
        dry_run: bool = False,  # noqa: FBT001, FBT002 - the signature of the public contract
        force: bool = False,  # noqa: FBT001, FBT002
    ) -> ConsolidationReport:
        """Merge duplicates, and combine a value and its successor in one entry: "now X; previously Y".

        Similarity proposes candidates, a judge decides, and in doubt everything stays: the rules merge only exact and
        slot-equal duplicates, a model also paraphrases. `similarity_threshold` only sets how distant candidates may be.
        It runs once in 24 hours, after 20 new memories; `force` skips both conditions, never the lock. `topic` covers
        all memories of that topic. `dry_run` returns the groups and the proposed texts, and writes nothing. Raises
        `Invalid` for a threshold outside 0 to 1.
        """
        return services.consolidation.consolidate(
            self._parts, topic=topic, similarity_threshold=similarity_threshold, dry_run=dry_run, force=force
        )

    @Operation(
        "Store the vectors of fading memories with fewer bits; a recall restores their precision.",
        "memory:admin",
        Rest("POST", "/v1/compress"),
        inputs={"dry_run": Param("Only show the savings and the loss of precision.", option="dry-run/apply")},
        errors=(Unavailable,),
        writes=True,
        long=True,
    )
    def compress(self, *, dry_run: bool = True) -> CompressReport:
        """Store the vectors of memories at 8, 4 or 2 bits as they fade; recall restores a memory's precision.

        A dry run, the default, returns bytes and fidelity by tier and changes nothing. Beliefs stay the same; faded
        memories rank a little lower by embedding.
        """
        return services.rebuild.compress(self._parts, dry_run=dry_run)

    @Operation(
        "Move a memory one layer up: working, episodic, semantic.",
        "memory:review",
        Rest("POST", "/v1/memories/{id}/promote", versioned=True),
        inputs={"id": ID},
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=False,
    )
    def promote(self, id: str) -> Memory:
        """Move a memory one layer up: working, episodic, semantic. Raises `Conflict` if there is no higher layer."""
        return services.edit.move_layer(self._parts, id, up=True)

    @Operation(
        "Move a memory one layer down: semantic, episodic, working.",
        "memory:review",
        Rest("POST", "/v1/memories/{id}/demote", versioned=True),
        inputs={"id": ID},
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=False,
    )
    def demote(self, id: str) -> Memory:
        """Move a memory one layer down: semantic, episodic, working. Raises `Conflict` if there is no lower layer."""
        return services.edit.move_layer(self._parts, id, up=False)

    @Operation(
        "Show the forgetting curves, and the positions of the newest memories on them.",
        "memory:read",
        Rest("GET", "/v1/retention"),
        inputs={
            "plot": Param("SVG file for the drawing.", remote="nothing"),
            "limit": "Maximum number of memories, 1 to 2,000.",
            "decay_profile": Param("As if the setting had this value.", Literal["layered", "recall"]),
            "retention_mode": Param("As if the setting had this value.", _Curve),
            "half_life_days": "As if the setting had this value.",
            "trust_kappa": "As if the setting had this value.",
        },
        errors=(Invalid, Unavailable),
        idempotent=False,
        closed={**PERSONS, "mcp": "curves are for people to look at"},
    )
    def retention(
        self,
        *,
        plot: str | Path | None = None,
        limit: int = 200,
        decay_profile: str | None = None,
        retention_mode: str | None = None,
        half_life_days: float | None = None,
        trust_kappa: float | None = None,
    ) -> RetentionCurves:
        """Return the forgetting curves over days, and the newest memories' positions on them (`limit`: 1 to 2,000).

        `plot` also draws them into an SVG file. The others are settings of these names: the answer is as if they had
        these values, and nothing is changed.
        """
        given = {
            "decay_profile": decay_profile,
            "retention_mode": retention_mode,
            "half_life_days": half_life_days,
            "trust_kappa": trust_kappa,
        }
        return services.lifecycle.compute_retention_curves(
            self._parts,
            plot=None if plot is None else check_path(plot),
            limit=limit,
            what_if={name: value for name, value in given.items() if value is not None},
        )

    @Operation(
        "Check what memories claim about code against the code in the given folders.",
        "memory:admin",
        inputs={
            "roots": Param(
                "Project folders. [default: the setting drift_roots]",
                Sequence[Path],
                positional=True,
                person_only=True,
                remote="nothing",
            ),
            "fix": "Invalidate memories with errors; `undo` reverses it.",
        },
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        closed={**NOT_A_SKILL, "rest": LOCAL["rest"]},
    )
    def drift(self, roots: str | Path | Sequence[str | Path] | None = None, *, fix: bool = False) -> DriftReport:
        """Compare the memories' claims about code with the code in these folders; no other path is read.

        `roots` defaults to the setting `drift_roots`; raises `Invalid` if that is empty. The score is 100 less 10 for
        each error, 3 for each warning, 1 for each information. `fix` invalidates the memories with errors; `undo`
        reverts it. The codes: docs/how-to/code.md.
        """
        return services.code_scan.drift(self._parts, roots, fix=fix)

    @Operation(
        "Run the dream (nightly maintenance) or some of its steps; a second run finds nothing to do.",
        "memory:admin",
        Rest("POST", "/v1/dreams"),
        inputs={
            "steps": "Only this step: forgetting, merge, cards, bridges, probe, drift or prune.",
            "dry_run": "Only show the planned changes.",
        },
        errors=(Invalid, Unavailable),
        writes=True,
        long=True,
    )
    def dream(self, steps: Sequence[str] | None = None, *, dry_run: bool = False) -> DreamReport:
        """Run the dream cycle, or the steps named: forgetting, merge, cards, bridges, probe, drift, prune.

        They run in this order. `dry_run` changes nothing and returns the exact changes. A failed step is reported
        and the others run; a second run finds nothing to do. While another process runs it, nothing runs and `reason`
        tells so. The steps and their numbers: docs/explanation/dream.md. Raises `Invalid` for an unknown step.
        """
        return services.scheduled_tasks.dream(self._parts, steps, dry_run=dry_run)

    @Operation(
        "List slots whose value was replaced three or more times within 30 days, the worst first.",
        "memory:read",
        Rest("GET", "/v1/loops"),
        inputs={"days": "Number of days. [default: 30]"},
        errors=(Invalid,),
        closed={**NOT_A_SKILL, "cli": "it is `contests --audit` there"},
    )
    def loops(self, *, days: int | None = None) -> Sequence[SlotLoop]:
        """Audit alternating slots: those replaced three or more times within 30 (or these) days, worst first."""
        return services.edit.find_loops(self._parts, days=days)

    @Operation(
        "Move a memory to another status by hand, such as a candidate to active.",
        "memory:review",
        Rest("POST", "/v1/memories/{id}/status", versioned=True),
        inputs={
            "id": ID,
            "status": Param(
                "The new status.", Status, among=tuple(one.value for one in Status if one is not Status.DELETED)
            ),
            "reason": REASON,
        },
        errors=(Invalid, NotFound, Conflict),
        writes=True,
    )
    def set_status(self, id: str, status: str, reason: str = "") -> Memory:
        """Set the status of a memory by hand, and return the memory that now has its value.

        `reason` is stored in the log. A memory that becomes active replaces an active value that conflicts with it.
        Raises `Conflict` for a transition that the table does not allow, `Invalid` for an unknown status.
        """
        return services.edit.set_status(self._parts, id, status, reason)

    @Operation(
        "Show every status that a memory has had, and why.",
        "memory:read",
        Rest("GET", "/v1/memories/{id}/status"),
        inputs={"id": ID},
        errors=(NotFound,),
    )
    def status_history(self, id: str) -> Sequence[StatusStep]:
        """Return every status that a memory had, oldest first, with actor and reason."""
        return services.edit.read_status_history(self._parts, id)

    @Operation(
        "Undo a change, or all changes of a session, a source or a span of time.",
        "memory:review",
        (
            Rest("POST", "/v1/changes/{change_id}/undo", without=("session", "source", "since", "until")),
            Rest("POST", "/v1/undo", without=("change_id",)),
        ),
        inputs={
            "change_id": Param("The id of a change.", positional=True),
            "session": "All changes caused by this session.",
            "source": "All changes caused by this source, such as ingest.",
            "since": "All changes from this time on.",
            "until": "All changes before this time.",
            "cascade": "Also undo later changes that depend on it.",
            "dry_run": "Change nothing, and show the planned changes.",
        },
        errors=(Invalid, NotFound, Conflict),
        writes=True,
        idempotent=False,
    )
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
        """Undo a change, or all changes that meet the conditions (see `undo_where`); give one or the others.

        It appends the inverse: nothing is lost, and undoing the undo applies the change once more. If later changes
        depend on it, `Conflict` lists them, or `cascade` undoes them too. `dry_run` only returns the changes. An undone
        decision is not repeated on the same evidence. Raises `NotFound` for an unknown change, `Conflict` for a change
        that is undone already or that deleted data, which is permanent.
        """
        conditions = {"session": session, "source": source, "since": since, "until": until}
        return services.edit.undo_any(self._parts, change_id, conditions, cascade=cascade, dry_run=dry_run)

    @Operation(
        "Undo all changes of a session, a source or a span of time.",
        "memory:review",
        inputs={
            "session": "All changes caused by this session.",
            "source": "All changes caused by this source, such as ingest.",
            "since": "All changes from this time on.",
            "until": "All changes before this time.",
            "cascade": "Also undo later changes that depend on it.",
            "dry_run": "Change nothing, and show the planned changes.",
        },
        errors=(Invalid, Conflict),
        writes=True,
        idempotent=False,
        closed={
            **NOT_A_SKILL,
            "cli": "`undo` takes the same conditions",
            "mcp": "`undo` takes the same conditions",
            "rest": "`undo` takes the same conditions",
        },
    )
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
        """Undo every change caused by the events of a session or source, or applied within a time.

        All conditions must hold; `until` itself is excluded. Deletions stay and are listed in `lasting`.
        """
        conditions = {"session": session, "source": source, "since": since, "until": until}
        return services.edit.undo_any(self._parts, None, conditions, cascade=cascade, dry_run=dry_run)

    @Operation(
        "Show the scheduled tasks: when each last ran, its result, and when it is due.",
        "memory:admin",
        Rest("POST", "/v1/schedule"),
        inputs={"run": "First run the tasks that are due.", "only": "Run this task, due or not."},
        errors=(Invalid, Unavailable),
        writes=True,
        idempotent=False,
        closed=PERSONS,
    )
    def schedule(self, *, run: bool = False, only: Sequence[str] = ()) -> ScheduleReport:
        """Return the state of every scheduled task: its cadence, its last run and result, and whether it is overdue.

        `run` first runs those that are due, or with `only` those named, unless another process has the lease. Raises
        `Invalid` for an unknown task.
        """
        return (
            services.scheduled_tasks.run_duties(self._parts, check_words(only, "only"))
            if run or only
            else services.scheduled_tasks.schedule(self._parts)
        )
