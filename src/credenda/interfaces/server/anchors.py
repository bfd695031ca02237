"""Anchors of the audit: the head of its chain, once a day, in a log and a file that can be kept elsewhere.

Someone who can write the database can make a whole chain anew. It does not lead through the anchors of earlier days.
"""

from __future__ import annotations

import json
import logging
import os
import re
from pathlib import Path
from typing import Final

from credenda.clock import DAY_US, format_time
from credenda.errors import Invalid

__all__ = ["ANCHOR_LOG", "Anchors", "read_anchors"]

ANCHOR_LOG: Final = "credenda.server.audit"
_log: Final = logging.getLogger(ANCHOR_LOG)
_HEAD: Final = re.compile(r"[0-9]{1,18}:[0-9a-f]{64}")
_FILE_BYTES: Final = 64 << 20


class Anchors:
    """Writes the first head of each day, and the last one of a process; one thread may use it."""

    def __init__(self, path: Path | None) -> None:
        """Write to a file too, unless `path` is None; it is made with the first anchor."""
        self._path = path
        self._day = -1
        self._head = ""
        self._written = ""

    def note(self, head: str, now_us: int) -> None:
        """Note the present head, and write it if it is the first one of a day."""
        self._head = head
        if now_us // DAY_US != self._day and self._write(now_us):
            self._day = now_us // DAY_US

    def close(self, now_us: int) -> None:
        """Write the last head."""
        if self._head != self._written:
            self._write(now_us)

    def _write(self, now_us: int) -> bool:
        line = json.dumps({"at": format_time(now_us), "audit_head": self._head})
        _log.info(line)
        if self._path is not None:
            try:
                _append_line(self._path, line)
            except OSError as error:
                _log.warning(json.dumps({"warning": "the audit anchor was not written", "why": str(error.strerror)}))
                return False
        self._written = self._head
        return True


def _append_line(path: Path, line: str) -> None:
    """Append a line, durably; only the owner may read the file."""
    opened = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(opened, f"{line}\n".encode())
        os.fsync(opened)
    finally:
        os.close(opened)


def read_anchors(path: Path) -> list[str]:
    """Return the heads of an anchor file; raises `Invalid` for a file that cannot be read as one."""
    try:
        if path.stat().st_size > _FILE_BYTES:
            raise Invalid(f"the anchor file {path} is too large", fix="give the file that the server wrote")
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = str(getattr(error, "strerror", None) or error)
        raise Invalid(f"the anchor file {path} cannot be read", why=why, fix="check its name and permissions") from None
    return [_read_head(line, number, path) for number, line in enumerate(lines, 1) if line.strip()]


def _read_head(line: str, number: int, path: Path) -> str:
    try:
        head = json.loads(line)["audit_head"]
    except (ValueError, KeyError, TypeError):
        head = ""
    if not isinstance(head, str) or not _HEAD.fullmatch(head):
        raise Invalid(f"line {number} of {path} is no anchor", why="it was changed or cut off", fix="restore the file")
    return head
