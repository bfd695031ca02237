"""The verbs of `mem.data`. No logic lives here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from credenda.errors import Invalid
from credenda.model.code import ScanReport
from credenda.model.report import BackupReport, DoctorReport, ExportReport, ImportReport, RebuildReport, ReembedReport
from credenda.model.sync_report import SyncReport
from credenda.paths import check_path
from credenda.runtime import Parts
from credenda.services import maintenance, rebuild

__all__ = ["Data"]


class Data:
    """Moving and looking after a whole memory: `mem.data`."""

    def __init__(self, parts: Parts) -> None:
        """Belong to an open memory."""
        self._parts = parts

    def export(self, path: str | Path, format: str = "credenda") -> ExportReport:
        """Write everything of this tenant as JSON Lines, without loss; `.gz` is compressed.

        The format `mcp-memory` writes what is held now, and only that, as the MCP reference memory server keeps it.
        """
        from credenda.portability.exporting import export_file

        return export_file(self._parts, check_path(path), format)

    def import_(
        self, path: str | Path, format: str | None = None, *, progress: Callable[[int, int | None], None] | None = None
    ) -> ImportReport:
        """Read a file, folder or zip: an export, talk, another memory or documents; repeating it adds nothing twice.

        What is read can be searched while the rest is. `progress` is told how many bytes have been read, and of how
        many (None where that is not known). The formats: docs/how-to/import.md.
        """
        from credenda.portability.importing import import_file

        return import_file(self._parts, check_path(path), format, progress=progress)

    def scan(self, path: str | Path) -> ScanReport:
        """Keep what the code in a folder declares: one memory a file, one of its tree, one of its dependencies.

        They are of the layer `codebase` and answer only a search that asks for it (`mode="codebase"`). A second scan
        replaces what changed and ends what is gone. What is read, and what is not: docs/how-to/code.md.
        """
        from credenda.services.code_scan import scan

        return scan(self._parts, check_path(path))

    def reembed(
        self, model: str | None = None, *, progress: Callable[[int, int | None], None] | None = None
    ) -> ReembedReport:
        """Give every text a vector of `model`, by default the one in use; those it has stay, and searches go on.

        Open the memory with that model afterwards. Broken off, it goes on where it stopped when it is called again.
        `progress` is told how many events are done, and of how many.
        """
        return maintenance.reembed(self._parts, model, progress=progress)

    def rebuild(
        self,
        *,
        reextract: bool = False,
        model: bool = False,
        dry_run: bool = False,
        from_files: str | Path | None = None,
    ) -> RebuildReport:
        """Make memories, evidence and contests again from the change log, and put right the rows that differ.

        With `reextract` they are derived afresh from what was said, by the rules of today; what persons decided and
        what models read is applied again, what was deleted stays deleted, and the difference becomes changes. With
        `model` too, the model of this memory reads everything anew, within the day's budget: what it said is kept
        until all is read, so that a run that was broken off goes on where it stopped. What differs is replaced in one
        transaction: whatever breaks it off leaves everything as it was, and searches go on. `dry_run` only says what
        differs (a model is asked all the same).

        With `from_files` an empty memory is filled with what a folder of `sync_files` says, its events, beliefs and
        questions; what was deleted stays away. Raises `Conflict` for a memory that is not empty.

        Raises `Corrupt` where journal or change log are damaged themselves, `Conflict` where others keep writing,
        `Invalid` where a model is wanted and there is none.
        """
        if from_files is not None and (reextract or model):
            raise Invalid("a rebuild is from files or from what was said, not both", fix="give one of the two")
        if from_files is not None:
            from credenda.services.restore_from_files import rebuild_from_files

            return rebuild_from_files(self._parts, check_path(from_files), dry_run=dry_run)
        return rebuild.rebuild(self._parts, reextract=reextract, model=model, dry_run=dry_run)

    def sync_files(self, dir: str | Path, *, missing: str = "ask") -> SyncReport:  # noqa: A002 - the public contract
        """Keep a folder of Markdown in step, both ways: pages are written, and what people changed in them comes back.

        An edited entry is corrected, a removed one deleted, a new line remembered; what changed on both sides is asked
        about. `missing` says what it means when many entries are gone at once: "ask" leaves them, "delete" deletes
        them, "restore" writes them again. A second call right after changes nothing. The pages: docs/how-to/files.md.

        Raises `Invalid` for what is no folder, `Unavailable` where it cannot be written or is being synchronised.
        """
        from credenda.services.file_sync import sync_files

        return sync_files(self._parts, check_path(dir), missing=missing)

    def backup(self, path: str | Path) -> BackupReport:
        """Copy the whole database, with all its users, to a file, while others go on reading and writing.

        What was acknowledged before the call is in the copy; `restore_backup` puts it in place again. An earlier backup
        of that name is replaced, another file never. Raises `Invalid`, `Conflict` or `Unavailable`.
        """
        from credenda.bootstrap import back_up_file

        return back_up_file(self._parts, check_path(path))

    def doctor(self, *, repair: bool = False) -> DoctorReport:
        """Verify the store; `repair` rebuilds derived indexes that differ."""
        return maintenance.doctor(self._parts, repair=repair)
