"""When each token last called, to the second for calls to this process and without a write for each."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

from credenda.clock import SECOND_US
from credenda.model.server import AccessToken

_KNOWN: Final = 4_096
_RECORDED_EVERY_US: Final = 60 * SECOND_US


class LastCalls:
    """The last calls of the tokens that this process has seen; any thread may call any method."""

    def __init__(self) -> None:
        """Begin without any."""
        self._lock = Lock()
        self._times: OrderedDict[str, int] = OrderedDict()

    def note(self, token: AccessToken, now_us: int) -> bool:
        """Note a call; return whether the database should hear of it, which it does at most once a minute a token."""
        with self._lock:
            self._times[token.id] = now_us
            self._times.move_to_end(token.id)
            if len(self._times) > _KNOWN:
                self._times.popitem(last=False)
        return token.last_used_us is None or now_us - token.last_used_us >= _RECORDED_EVERY_US

    def find(self, token: AccessToken) -> int | None:
        """Return when a token last called: as this process knows it, or another one has recorded it."""
        with self._lock:
            known = self._times.get(token.id)
        times = [one for one in (known, token.last_used_us) if one is not None]
        return max(times) if times else None


# Paths of this server that a request names as the place to go on.


def find_local_path(wanted: str) -> str:
    """Return a path of this server to go on with; the first page for anything that could lead elsewhere."""
    is_local = wanted.startswith("/") and not wanted.startswith("//") and wanted.isprintable() and "\\" not in wanted
    return wanted if is_local else "/"
