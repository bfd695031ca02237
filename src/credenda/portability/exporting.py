"""Export a memory to a file, as an archive or in the format of another memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from credenda.errors import Invalid
from credenda.model.report import ExportReport
from credenda.portability.archive import export_archive
from credenda.portability.export_mcp_memory import MCP_MEMORY, export_mcp_memory
from credenda.portability.export_pam import export_pam
from credenda.portability.importers.pam import PAM
from credenda.runtime import Parts

__all__ = ["EXPORTS", "export_file"]

_ARCHIVE: Final = "credenda"
EXPORTS: Final[Mapping[str, Callable[[Parts, Path], ExportReport]]] = {
    _ARCHIVE: export_archive,
    MCP_MEMORY: export_mcp_memory,
    PAM: export_pam,
}


def export_file(parts: Parts, path: Path, format: str, *, skip_damaged: bool = False) -> ExportReport:
    """Write a file; raise `Invalid` for an unknown format or a folder, `Unavailable` if it cannot be written.

    Damaged rows raise `Corrupt`; `skip_damaged` leaves them out of an archive.
    """
    write = EXPORTS.get(format) if isinstance(format, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if write is None:
        raise Invalid(f"{format!r} is not an export format", fix=f"choose one of {', '.join(EXPORTS)}")
    if not skip_damaged:
        return write(parts, path)
    if format != _ARCHIVE:
        why = "only an archive names the rows that it lacks"
        raise Invalid("damaged rows cannot be left out of this format", why=why, fix=f"export as {_ARCHIVE}")
    return export_archive(parts, path, skip_damaged=True)
