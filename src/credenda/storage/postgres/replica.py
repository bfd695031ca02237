"""Which reads a replica may serve: those of a user of whom it has everything that this process has written or seen."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Final

from credenda.errors import Unavailable
from credenda.storage.postgres.address import connect
from credenda.storage.postgres.connections import Connections, Scope
from credenda.storage.postgres.errors import translate_errors
from credenda.storage.postgres.roles import check_service, read_login
from credenda.storage.store import IndexPosition, Reader

__all__ = ["SeenRows", "describe_replica", "open_replica"]

_log = logging.getLogger(__name__)

_STATE: Final = "SELECT extract(epoch FROM now() - pg_last_xact_replay_timestamp())::bigint"
_USERS_MAX: Final = 10_000
"""Users of whom it is known how far their rows have grown; any other one reads the primary first."""


def open_replica(url: str) -> Connections | None:
    """Open a replica whose login the walls bind; None, with a warning, where it cannot be reached.

    Raises `Forbidden` for a login with too much power, as the primary does.
    """
    try:
        with translate_errors(), connect(url) as connection:
            role = check_service(connection, read_login(connection))
    except Unavailable as error:
        _log.warning("the replica is not used", extra={"error": error.code})
        return None
    return Connections(url, role)


def describe_replica(connections: Connections | None) -> str:
    """Say for a person whether a replica serves searches, and how old its last change is."""
    if connections is None:
        return "was not reachable when this process began: not used"
    try:
        with connections.transaction(Scope()) as session:
            row = session.execute(_STATE).fetchone()
    except Unavailable as error:
        return f"not reachable: {error.code}"
    return "in use" if row is None or row[0] is None else f"in use; its last change is {row[0]} s old"


@dataclass(slots=True)
class _Known:
    """How far the rows of a user have grown; None after a write of this process, until the primary was read again."""

    writes: int
    heads: IndexPosition | None = None
    tag: str = ""
    """That of the tenant: a user who was erased has another one, or none."""


class SeenRows:
    """How far the rows of users had grown when this process last read or wrote them. Safe to call from any thread."""

    def __init__(self, *, users_max: int = _USERS_MAX) -> None:
        """Begin without knowing any user."""
        self._users_max = users_max
        self._lock = Lock()
        self._numbers = count(1)
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def begin(self, user_id: str) -> int:
        """Return what to give to `note` after a read of the primary that begins now."""
        with self._lock:
            return self._find(user_id).writes

    def note(self, user_id: str, begun: int, view: Reader) -> None:
        """Note what the primary has shown, unless this process has written since the read began."""
        with self._lock:
            known = self._known.get(user_id)
            if known is not None and known.writes == begun:
                known.heads, known.tag = view.duties.heads, view.tenant.tag

    def mark_written(self, user_id: str) -> None:
        """Let the next read of a user go to the primary: this process has written."""
        with self._lock:
            known = self._find(user_id)
            known.writes, known.heads = next(self._numbers), None

    def is_covered(self, user_id: str, view: Reader) -> bool:
        """Return whether a view has everything that is known of a user."""
        with self._lock:
            known = self._known.get(user_id)
            if known is None or known.heads is None or known.tag != view.tenant.tag:
                return False
            least, heads = known.heads, view.duties.heads
        return heads.event >= least.event and heads.change >= least.change and heads.vector >= least.vector

    def _find(self, user_id: str) -> _Known:
        if user_id not in self._known:
            self._known[user_id] = _Known(next(self._numbers))
        self._known.move_to_end(user_id)
        if len(self._known) > self._users_max:
            self._known.popitem(last=False)
        return self._known[user_id]
