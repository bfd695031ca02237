"""Record every call to a server, in a thread of its own: calls do not wait for their records."""

from __future__ import annotations

import json
import logging
import os
from collections import deque
from dataclasses import replace
from itertools import islice
from pathlib import Path
from threading import Condition, Event, Thread
from typing import Final

from credenda import limits
from credenda.clock import DAY_US, Clock, format_time
from credenda.errors import CredendaError, Invalid
from credenda.interfaces.server.guard import RateLimit
from credenda.model.server import AUDIT_HEAD, AuditDraft
from credenda.storage.sql.server_rows import AuditStore

# Anchors of the audit: the head of its chain, once a day, in a log and a file that can be kept elsewhere.


ANCHOR_LOG: Final = "credenda.server.audit"
_log: Final = logging.getLogger(ANCHOR_LOG)
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
                # Append a line, durably; only the owner may read the file.
                opened = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                try:
                    os.write(opened, f"{line}\n".encode())
                    os.fsync(opened)
                finally:
                    os.close(opened)
            except OSError as error:
                _log.warning(json.dumps({"warning": "the audit anchor was not written", "why": str(error.strerror)}))
                return False
        self._written = self._head
        return True


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
    if not isinstance(head, str) or not AUDIT_HEAD.fullmatch(head):
        raise Invalid(f"line {number} of {path} is no anchor", why="it was changed or cut off", fix="restore the file")
    return head


_log_audit: Final = logging.getLogger(__name__)
_BATCH: Final = 256
_GATHER_SECONDS: Final = 0.05
"""How long a first record waits for others, which share its transaction."""
_RETRY_SECONDS: Final = 1.0
_STRANGE: Final = frozenset({401, 429})
"""How a call without a known caller is refused."""


class AuditLog:
    """The queue of calls that wait for their records. All methods may be called from any thread.

    Where records cannot be written, they stay in the queue; when it is full, the server refuses calls (`is_full`), so
    that no call goes unrecorded. The refusals share one record, which counts them, and so do those of a flood of calls
    without a known caller, which would fill the disk. A kill may lose the records of the last moments.
    """

    def __init__(self, store: AuditStore, clock: Clock, anchors: Anchors) -> None:
        self._store = store
        self._clock = clock
        self._anchors = anchors
        self._waiting: deque[AuditDraft] = deque()
        self._refused: AuditDraft | None = None
        self._strangers = RateLimit(1, limits.AUDIT_STRANGERS)
        self._changed = Condition()
        self._closing = False
        self._thread = Thread(target=self._work, name="credenda-audit")
        self._thread.start()

    def add(self, draft: AuditDraft) -> None:
        """Queue the record of a call, or count it in one record for all: of a flood, or of a queue twice its bound."""
        with self._changed:
            if len(self._waiting) >= 2 * limits.AUDIT_WAITING or (
                not draft.user and draft.status in _STRANGE and self._strangers.take("") > 0
            ):
                self._refused = _count_one_more(self._refused, draft)
            else:
                self._waiting.append(draft)
                if len(self._waiting) == 1:  # otherwise the thread is at work already, and waking it costs the caller
                    self._changed.notify_all()

    @property
    def is_full(self) -> bool:
        """Whether no further call may begin."""
        return len(self._waiting) >= limits.AUDIT_WAITING

    @property
    def waiting(self) -> int:
        """How many records wait to be written."""
        return len(self._waiting)

    def close(self) -> None:
        """Write the records that wait and the last anchor, and end the thread; closing twice does nothing."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def _work(self) -> None:
        attempts = limits.AUDIT_LAST_ATTEMPTS
        while attempts:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                if not self._closing:
                    self._changed.wait_for(lambda: self._closing, _GATHER_SECONDS)
                # Queue the record that counts calls, at the end or where one may be written again.
                if self._refused is not None and (self._closing or not self._strangers.take("")):
                    self._waiting.append(self._refused)
                    self._refused = None
                batch = list(islice(self._waiting, _BATCH))
            if not batch:
                break
            if self._write(batch):
                count = len(batch)
                with self._changed:
                    for _ in range(count):
                        self._waiting.popleft()
            elif self._closing:
                attempts -= 1
        if self._waiting:
            _log_audit.error("%d audit records could not be written", len(self._waiting))
        self._anchors.close(self._clock.now_us())

    def _write(self, batch: list[AuditDraft]) -> bool:
        try:
            head = self._store.append_audit(batch)
        except CredendaError as error:
            _log_audit.warning("%d audit records cannot be written now", len(batch), extra={"code": error.code})
            Event().wait(_RETRY_SECONDS)
            return False
        self._anchors.note(head, self._clock.now_us())
        return True


def _count_one_more(known: AuditDraft | None, draft: AuditDraft) -> AuditDraft:
    """Count a call in the record that stands for all that could not be queued."""
    if known is not None:
        return replace(known, count=known.count + 1, at_us=draft.at_us)
    return AuditDraft(
        at_us=draft.at_us, request_id=draft.request_id, status=draft.status, code=draft.code, duration_ms=0.0
    )
