"""Answers by Idempotency-Key, so that a repeated request does nothing twice and gets the first answer.

They are in the memory of this process, for a day. `remember` passes its key on to the journal, so that it holds beyond
a restart. An answer is not given once more after anything of its user was deleted, because it may hold those words.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

from credenda import limits
from credenda.clock import seconds
from credenda.errors import Conflict, Invalid
from credenda.interfaces.server.memories import Memories, StoreMark


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that went well: its status and body; None for a body that was too long to keep."""

    status: int
    body: str | None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True)
class _Entry:
    digest: bytes
    mark: StoreMark
    at: float
    answer: Answer | None = None


class Replays:
    """The keyed requests of all users. All methods may be called from any thread."""

    def __init__(self, memories: Memories) -> None:
        """Know nothing yet."""
        self._memories = memories
        self._lock = Lock()
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()

    def begin(self, user: str, key: str, digest: bytes) -> Answer | None:
        """Return the first answer of a request, or None for a new one, which `finish` or `abandon` must follow.

        Raises `Conflict` while the first one runs or where its answer is gone, `Invalid` for another request.
        """
        mark = self._memories.mark(user)
        with self._lock:
            self._drop_old()
            entry = self._entries.get((user, key))
            if entry is None:
                self._entries[user, key] = _Entry(digest, mark, seconds())
                return None
        if entry.digest != digest:
            why = "an earlier request with other content has it"
            raise Invalid("this Idempotency-Key is in use", why=why, fix="use a new key for each request")
        answer = entry.answer
        if answer is None:
            raise Conflict("the first request with this key is under way", fix="wait for its answer")
        why = "its answer was too long to keep"
        if answer.body is not None:
            if not answer.body or not self._memories.has_deleted_since(user, entry.mark):
                return answer
            why = "something was deleted since, which the first answer may contain"
        raise Conflict("this request was done already", why=why, fix="read the present state")

    def finish(self, user: str, key: str, answer: Answer) -> None:
        """Keep the answer of a request that went well."""
        with self._lock:
            entry = self._entries.get((user, key))
            if entry is not None:
                fits = answer.body is not None and len(answer.body) <= limits.HTTP_REPLAY_CHARACTERS
                entry.answer = answer if fits else Answer(answer.status, None)

    def abandon(self, user: str, key: str) -> None:
        """Forget a request that failed, so that it may be repeated."""
        with self._lock:
            self._entries.pop((user, key), None)

    def _drop_old(self) -> None:
        """Drop the entries that are too old or too many, the oldest first, but none that is under way."""
        until = seconds() - limits.HTTP_REPLAY_SECONDS
        for name, entry in list(self._entries.items()):
            if entry.at > until and len(self._entries) < limits.HTTP_REPLAYS:
                return
            if entry.answer is not None:
                del self._entries[name]
