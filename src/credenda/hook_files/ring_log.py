"""The log of hooks: one line a call, without any words, which `credenda doctor` reads.

The file is cut to its newest half when it is full, so that it never grows beyond its bound.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Final

from credenda.hook_files.places import Places, write_durably

_BYTES: Final = 65_536


def add_line(places: Places, line: Mapping[str, object]) -> None:
    """Add a line. Raises OSError."""
    os.makedirs(places.folder, mode=0o700, exist_ok=True)
    told = {"at": int(time.time()), **line}
    number = os.open(places.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(number, json.dumps(told, separators=(",", ":")).encode() + b"\n")
        size = os.fstat(number).st_size
    finally:
        os.close(number)
    if size > _BYTES:
        with open(places.log, "rb") as file:
            kept = file.read()[-_BYTES // 2 :]
        write_durably(places.folder, "log", kept[kept.find(b"\n") + 1 :], flush=False)


def read_lines(places: Places) -> list[dict[str, object]]:
    """Return the lines, oldest first; damaged lines are left out."""
    try:
        with open(places.log, "rb") as file:
            data = file.read(2 * _BYTES)
    except OSError:
        return []
    found: list[dict[str, object]] = []
    for line in data.splitlines():
        try:
            told: object = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict):
            found.append(told)  # pyright: ignore[reportUnknownArgumentType]
    return found
