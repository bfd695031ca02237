"""Ask a process that holds the memory open, over a local socket that only its user can reach."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from credenda.hook_files.places import Places

if TYPE_CHECKING:
    pass

_ANSWER_BYTES: Final = 262_144


def ask_engine(places: Places, request: Mapping[str, object], *, seconds: float) -> dict[str, Any] | None:
    """Send a request and return the answer; None if no engine answers within `seconds`."""
    if sys.platform == "win32" or not _is_own(places.socket):
        return None
    import socket

    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(seconds)
            line.connect(places.socket)
            line.sendall(json.dumps(request).encode() + b"\n")
            data = b""
            while not data.endswith(b"\n") and len(data) < _ANSWER_BYTES:
                part = line.recv(65_536)
                if not part:
                    break
                data += part
            told: object = json.loads(data)
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) else None  # pyright: ignore[reportUnknownVariableType]


def _is_own(path: str) -> bool:
    """Return whether a socket exists and belongs to this user, to whom alone words are sent."""
    try:
        return os.lstat(path).st_uid == os.getuid()
    except OSError:
        return False
