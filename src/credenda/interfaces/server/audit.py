"""Record every call to a server, in a thread of its own: calls do not wait for their records."""

from __future__ import annotations

import logging
from collections import deque
from threading import Condition, Event, Thread
from typing import Final

from credenda import limits
from credenda.errors import CredendaError
from credenda.model.audit import AuditDraft
from credenda.storage.audit import AuditStore

__all__ = ["AuditLog"]

_log: Final = logging.getLogger(__name__)
_BATCH: Final = 256
_GATHER_SECONDS: Final = 0.05
"""How long a first record waits for others, which share its transaction."""
_RETRY_SECONDS: Final = 1.0


class AuditLog:
    """The queue of calls that wait for their records. All methods may be called from any thread.

    Where records cannot be written, they stay in the queue; when it is full, the server refuses calls (`is_full`), so
    that no call goes unrecorded. A kill may lose the records of the last moments.
    """

    def __init__(self, store: AuditStore) -> None:
        """Start the thread."""
        self._store = store
        self._waiting: deque[AuditDraft] = deque()
        self._changed = Condition()
        self._closing = False
        self._thread = Thread(target=self._work, name="credenda-audit")
        self._thread.start()

    def add(self, draft: AuditDraft) -> None:
        """Queue the record of a call."""
        with self._changed:
            self._waiting.append(draft)
            self._changed.notify_all()

    @property
    def is_full(self) -> bool:
        """Whether no further call may begin."""
        return len(self._waiting) >= limits.AUDIT_WAITING

    def close(self) -> None:
        """Write the records that wait, and end the thread; closing twice does nothing."""
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
                batch = list(self._waiting)[:_BATCH]
            if not batch:
                return
            if self._write(batch):
                with self._changed:
                    for _ in batch:
                        self._waiting.popleft()
            elif self._closing:
                attempts -= 1
        _log.error("%d audit records could not be written", len(self._waiting))

    def _write(self, batch: list[AuditDraft]) -> bool:
        try:
            self._store.append_audit(batch)
        except CredendaError as error:
            _log.warning("%d audit records cannot be written now", len(batch), extra={"code": error.code})
            Event().wait(_RETRY_SECONDS)
            return False
        return True
