"""Read JSON Lines files of benchmarks."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any, Final

from credenda.errors import Invalid

__all__ = ["read_numbered_lines"]

_GZIP: Final = b"\x1f\x8b"


def read_numbered_lines(path: Path, *, may_be_empty: bool = False) -> list[tuple[int, Any]]:
    """Read JSON Lines, gzipped or not, with line numbers; raise `Invalid` naming the malformed line.

    A file without lines is refused as well, unless it `may_be_empty`, because its figures would mean nothing.
    """
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw.startswith(_GZIP) else raw).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise Invalid(f"cannot read {path}", why=str(error), fix="give a JSON Lines file, .gz or plain") from error
    found = [(number, _read(path, number, line)) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not (found or may_be_empty):
        raise Invalid(f"{path} has no lines", why="there is nothing to measure", fix="give a file with some")
    return found


def _read(path: Path, number: int, line: str) -> Any:  # noqa: ANN401 - foreign JSON
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"line {number} of {path} is not JSON", why=str(error), fix="repair the line") from error
