"""The verbs of `mem.data` and `mem.jobs`. No logic lives here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from credenda import services
from credenda.errors import Conflict, Corrupt, Invalid, LimitExceeded, NotFound, Unavailable
from credenda.lazy import import_on_use
from credenda.model.job import JobInfo, JobState
from credenda.operation import CURSOR, ID, ITEMS, LOCAL, PERSONS, Door, Operation, Param, Rest
from credenda.paths import check_path
from credenda.telemetry import record_group

if TYPE_CHECKING:
    from credenda import bootstrap, portability
    from credenda.model.evaluation import RebuildReport
    from credenda.model.query import Page
    from credenda.model.report import (
        BackupReport,
        DoctorReport,
        ExportReport,
        ImportReport,
        ReembedReport,
        ScanReport,
        SyncReport,
    )
    from credenda.model.server import AuditRecord
    from credenda.runtime import Parts
else:
    bootstrap, portability = import_on_use("credenda.bootstrap"), import_on_use("credenda.portability")
    from credenda.model.query import Page
    from credenda.runtime import Parts


_Written = Literal["credenda", "mcp-memory", "pam"]
_Read = Literal[
    "credenda",
    "codex",
    "copilot",
    "gemini-cli",
    "claude-code",
    "chatgpt",
    "claude",
    "mcp-memory",
    "telegram",
    "open-webui",
    "sillytavern",
    "gemini-takeout",
    "pam",
    "letta",
    "hindsight",
    "openmemory",
    "recall",
    "engram",
    "suzent",
    "zep",
    "cognee",
    "mem0",
    "conversation",
    "messages",
    "whatsapp",
    "hermes",
    "openclaw",
    "memory-folder",
    "memories",
    "obsidian",
    "markdown",
    "text",
]
_Missing = Literal["ask", "delete", "restore"]


@record_group("data")
class Data:
    """Operations on a whole memory: `mem.data`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @Operation(
        "Export all data of this user as JSON Lines, without loss; or the current memories, for another tool.",
        "memory:read",
        Rest("POST", "/v1/export"),
        inputs={
            "path": Param("File to write; .gz is compressed.", remote="download"),
            "format": Param(
                "The archive, the file of the MCP reference memory server, or Portable AI Memory.", _Written
            ),
            "skip_damaged": "Leave out rows of a damaged database that cannot be read, and name them.",
        },
        errors=(Invalid, Corrupt, Unavailable),
        idempotent=False,
        closed={**PERSONS, "mcp": LOCAL["mcp"]},
    )
    def export(self, path: str | Path, format: str = "credenda", *, skip_damaged: bool = False) -> ExportReport:
        """Write everything of this tenant as JSON Lines, without loss; `.gz` is compressed.

        The format `mcp-memory` writes only current memories, in the form of the MCP reference memory server.

        Raises `Corrupt` if the database is damaged. With `skip_damaged` an archive leaves out the rows that cannot be
        read, and the report names them in `damaged`.
        """
        return portability.archive.export_file(self._parts, check_path(path), format, skip_damaged=skip_damaged)

    @Operation(
        "Import an export, conversations, another tool's memory, or documents; repeating it adds nothing.",
        "memory:write",
        Rest("POST", "/v1/imports"),
        inputs={
            "path": Param("File or folder to read; .gz and .zip too.", remote="upload"),
            "format": Param("Format of the file. [default: detected]", _Read),
            "me": 'Your name in the chats of the file; "" if you are nobody in them. [default: the user]',
            "dry_run": "Only count what would be stored.",
        },
        errors=(Invalid, NotFound, Conflict, LimitExceeded),
        writes=True,
        remotely={"uploaded": True},
        closed={**PERSONS, "mcp": LOCAL["mcp"]},
    )
    def import_(
        self,
        path: str | Path,
        format: str | None = None,
        *,
        me: str | None = None,
        dry_run: bool = False,
        uploaded: bool = False,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> ImportReport:
        """Import a file, folder or zip: exports, conversations, other memories or documents; repeatable.

        A repeated import adds nothing. Imported data is searchable while the rest is still being read. `progress` gets
        the number of bytes read and the total (None if unknown). `dry_run` reads all of it and stores nothing. With
        `uploaded`, for a file that a server received, standing instructions wait until the user confirms them. `me`
        is the name that chats of persons have for the user, "" if none of them is; without it that is the user's own
        name. The formats: docs/how-to/import.md.
        """
        return portability.importing.import_file(
            self._parts, check_path(path), format, me=me, dry_run=dry_run, uploaded=uploaded, progress=progress
        )

    @Operation(
        "Store the declarations of the code in a folder, in a layer of their own; a second scan adds nothing.",
        "memory:write",
        inputs={"path": Param("The folder of the project.", remote="nothing")},
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        closed=LOCAL,
    )
    def scan(self, path: str | Path) -> ScanReport:
        """Store the declarations of a folder's code: one memory per file, one for its tree, one for dependencies.

        They have the layer `codebase` and are found only by a search with `mode="codebase"`. A second scan replaces
        changed memories and ends those of deleted files. The files it reads: docs/how-to/code.md.
        """
        return services.code_scan.scan(self._parts, check_path(path))

    @Operation(
        "Embed every text with a model; vectors of other models stay, unless they are to be deleted.",
        "memory:admin",
        Rest("POST", "/v1/reindex"),
        inputs={
            "model": Param("Such as minilm or openai:MODEL. [default: the configured model]", positional=True),
            "clear_existing": "Also embed texts that have a vector of this model; the new one takes its place.",
            "drop_others": "Delete the vectors of other models at the end; the memory must be open with this model.",
            "dry_run": "Only count the texts.",
        },
        errors=(Invalid, Unavailable),
        writes=True,
        long=True,
        closed={**PERSONS, "mcp": "a model must not start work that may cost money"},
    )
    def reembed(
        self,
        model: str | None = None,
        *,
        clear_existing: bool = False,
        drop_others: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> ReembedReport:
        """Embed every text with `model`, by default the current one; existing vectors stay, and searches continue.

        Open the memory with that model afterwards. After an interruption the next call continues from there. `progress`
        gets the number of finished events and the total. With `clear_existing` the texts that have a vector of this
        model get a new one too, in place of the old. With `drop_others` the vectors of other models are deleted at the
        end; raises `Invalid` unless the memory is open with `model`. `dry_run` only counts the texts.
        """
        return services.rebuild.reembed(
            self._parts,
            model,
            clear_existing=clear_existing,
            drop_others=drop_others,
            dry_run=dry_run,
            progress=progress,
        )

    @Operation(
        "Rebuild the beliefs from the change log, and repair rows that differ.",
        "memory:admin",
        inputs={
            "reextract": "Derive them again from the events, with the current rules.",
            "model": "Use the LLM for --reextract, not rules alone.",
            "dry_run": "Only report the differences.",
            "from_files": Param("Fill an empty memory from a folder of `files sync` instead.", remote="nothing"),
        },
        errors=(Corrupt, Conflict, Invalid, NotFound, Unavailable),
        writes=True,
        closed={**PERSONS, "rest": "it may run for hours, and a person answers its questions"},
    )
    def rebuild(
        self,
        *,
        reextract: bool = False,
        model: bool = False,
        dry_run: bool = False,
        from_files: str | Path | None = None,
    ) -> RebuildReport:
        """Rebuild memories, evidence and contests from the change log, and correct the rows that differ.

        With `reextract` they are derived from the journal with the present rules; decisions of persons and answers of
        models are applied once more, deleted data stays deleted, and the differences become changes. With `model` too,
        the model of this memory extracts every message once more, within the day's budget: its answers are stored until
        all are complete, so that an interrupted run continues. One transaction replaces the differences: an
        interruption leaves everything unchanged, and searches continue. `dry_run` only reports the differences (a model
        is called all the same).

        With `from_files` an empty memory is filled from a folder of `sync_files`: its events, beliefs and questions;
        deleted data stays deleted. Raises `Conflict` for a memory that is not empty.

        Raises `Corrupt` if journal or change log are damaged, `Conflict` while other processes keep writing, `Invalid`
        if `model` is set without a model.
        """
        if from_files is not None and (reextract or model):
            raise Invalid("a rebuild is either from files or from the journal, not both", fix="give one of the two")
        if from_files is not None:
            return services.restore_from_files.rebuild_from_files(self._parts, check_path(from_files), dry_run=dry_run)
        return services.rebuild.rebuild(self._parts, reextract=reextract, model=model, dry_run=dry_run)

    @Operation(
        "Synchronise a folder of Markdown pages, in both directions.",
        "memory:admin",
        name="files",
        inputs={
            "dir": "The folder; created if missing.",
            "missing": Param(
                "What to do with entries that are missing but not certainly removed by a person.", _Missing
            ),
            "dry_run": "Change nothing; list what would be written and deleted.",
            "by_agent": "For the memory folder of an agent: what it removes is forgotten, which undo takes back.",
        },
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        destructive=True,
        closed=LOCAL,
    )
    def sync_files(
        self,
        dir: str | Path,  # noqa: A002 - the public contract
        *,
        missing: str = "ask",
        dry_run: bool = False,
        by_agent: bool = False,
    ) -> SyncReport:
        """Synchronise a folder of Markdown: pages are written, and people's edits in them are applied.

        An edited entry is corrected, a removed one deleted, a new line remembered; an entry changed on both sides
        becomes a question. `missing` decides about entries that are missing but not certainly removed by a person, such
        as many at once or those of a vanished page: "ask" leaves them, "delete" deletes them, "restore" writes them
        again. While any page cannot be read, nothing is deleted. Files that it did not write are read, and stay byte
        for byte. `dry_run` does the same in a copy and changes nothing: its report is that of the run, and lists the
        entries that would be deleted in `pending`. With `by_agent`, for the memory folder of an agent, a removed entry
        is forgotten, which `undo` takes back, and new lines are the agent's words. A second call right after changes
        nothing. The pages: docs/how-to/files.md.

        Raises `Invalid` if the path is not a folder, `NotFound` if a dry run finds none, `Unavailable` if it cannot be
        written or is being synchronised.
        """
        place = check_path(dir)
        with bootstrap.open_copy(self._parts) if dry_run else nullcontext() as trial:
            return services.file_sync.sync_files(self._parts, place, missing=missing, by_agent=by_agent, trial=trial)

    @Operation(
        "Copy the whole database, with all its users, without stopping writers; `restore FILE` restores it.",
        "memory:admin",
        inputs={"path": Param("File to write.", remote="nothing")},
        errors=(Invalid, Conflict, Unavailable),
        idempotent=False,
        closed={**LOCAL, "rest": "the copy holds every user, and a caller is one of them"},
    )
    def backup(self, path: str | Path) -> BackupReport:
        """Copy the whole database, with all its users, to a file, while others read and write.

        The copy contains everything acknowledged before the call; `restore_backup` restores it. It replaces an earlier
        backup of this database, unless that was opened for writing since, and never another file or a link. Raises
        `Invalid`, `Conflict` or `Unavailable`.
        """
        return bootstrap.back_up_file(self._parts, check_path(path))

    @Operation(
        "List the calls of a server that reached this memory, oldest first.",
        "memory:admin",
        Rest("GET", "/v1/audit"),
        inputs={"limit": ITEMS, "cursor": CURSOR},
        errors=(Invalid, NotFound),
        closed={**PERSONS, "cli": "it is `audit export` there"},
    )
    def audit(self, *, limit: int = 20, cursor: str | None = None) -> Page[AuditRecord]:
        """List the calls of a server with tokens that reached this memory, oldest first, in pages.

        Calls from Python or the command line have no record. `credenda audit` verifies the records of all users.
        """
        return services.access.list_audit(self._parts, limit=limit, cursor=cursor)

    @Operation(
        "Verify the store, and repair derived data.",
        "memory:admin",
        Rest("POST", "/v1/doctor"),
        inputs={"repair": "Rebuild derived indexes that differ."},
        errors=(Unavailable,),
        writes=True,
    )
    def doctor(self, *, repair: bool = False) -> DoctorReport:
        """Verify the store; `repair` rebuilds derived indexes that differ."""
        return services.stats.doctor(self._parts, repair=repair)


_Kind = Literal["extract", "embed", "think", "reread", "keep", "call"]
_CLOSED: Final[Mapping[Door, str]] = {**PERSONS, "mcp": "an operator watches jobs, not a model"}


@record_group("jobs")
class Jobs:
    """Work in the background: `mem.jobs`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @Operation(
        "List jobs, the newest first: what is processed in the background, and what failed.",
        "memory:read",
        Rest("GET", "/v1/jobs"),
        name="jobs",
        inputs={
            "state": Param("Only jobs in this state.", JobState),
            "kind": Param("Only jobs of this kind; call is an operation in the background.", _Kind),
            "limit": "Maximum number of jobs, 1 to 50.",
            "cursor": CURSOR,
        },
        errors=(Invalid, NotFound),
        closed=_CLOSED,
    )
    def list(
        self, *, state: str | None = None, kind: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> Page[JobInfo]:
        """List jobs, newest first, in pages.

        `state` is queued, processing, failed, complete, dead or cancelled; `kind` extract, embed, think, reread, keep
        or call.
        """
        return services.jobs.list_jobs(self._parts, state=state, kind=kind, limit=limit, cursor=cursor)

    def start(self, operation: str, inputs: Mapping[str, object] | None = None) -> JobInfo:
        """Have a long operation called in the background: consolidate, dream, reembed or compress.

        The job is on disk when this returns. `credenda serve` and `credenda worker --all-users` run it. `inputs` are
        those of the operation, as JSON has them. Raises `LimitExceeded` while a hundred wait already.
        """
        return services.jobs.start_call(self._parts, services.jobs.Call(operation, dict(inputs or {})))

    @Operation(
        "Show a job: its state, its progress and its result.",
        "memory:read",
        Rest("GET", "/v1/jobs/{id}", versioned=True),
        name="job",
        inputs={"id": ID},
        errors=(
            Invalid,
            NotFound,
        ),
        closed=_CLOSED,
    )
    def get(self, id: str) -> JobInfo:
        """Return a job: its state, its progress, and the result of one that called an operation."""
        return services.jobs.get_job(self._parts, id)

    @Operation(
        "Queue a dead or cancelled job again.",
        "memory:admin",
        Rest("POST", "/v1/jobs/{id}/retry", status=202, versioned=True),
        inputs={"id": ID},
        errors=(Invalid, NotFound, Conflict, Unavailable),
        writes=True,
        idempotent=False,
        closed=_CLOSED,
    )
    def retry(self, id: str) -> JobInfo:
        """Queue a dead or cancelled job again; raises `Conflict` for any other job."""
        return services.jobs.retry_job(self._parts, id)

    @Operation(
        "Cancel a job that calls an operation; what it has committed stays.",
        "memory:admin",
        Rest("POST", "/v1/jobs/{id}/cancel", status=202, versioned=True),
        inputs={"id": ID},
        errors=(Invalid, NotFound, Conflict, Unavailable),
        writes=True,
        idempotent=False,
        closed=_CLOSED,
    )
    def cancel(self, id: str) -> JobInfo:
        """Cancel a job that calls an operation; what it has committed stays.

        A job that runs ends within a second or two. Raises `Conflict` for a job that has ended, and for one that
        processes messages: those were acknowledged.
        """
        return services.jobs.cancel_job(self._parts, id)
