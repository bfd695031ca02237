"""The ledger of erased tenants, beside a database and beside its backups: what a restored backup is cleaned by.

Each line is a JSON table. A tenant is named by HMAC-SHA-256 of its name, under a key that stands in the same line, and
by the random tag that its ids had; neither tells the name to who does not know it already. A line with `lifted` takes
the entry of its tag back: that tenant was imported again on purpose.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from credenda.errors import Corrupt, Unavailable

__all__ = ["ErasedTenant", "add_to_ledger", "locate_ledger", "read_ledger", "remove_from_ledger"]


@dataclass(frozen=True, slots=True)
class ErasedTenant:
    """One erased tenant."""

    digest: bytes
    tag: str
    key: bytes
    erased_us: int


def locate_ledger(path: str | Path) -> Path:
    """Return where the ledger of a database or backup stands."""
    return Path(f"{path}.erasures")


def read_ledger(path: str | Path) -> dict[str, ErasedTenant]:
    """Read the entries of a ledger by tag; {} where there is none. Raises `Corrupt` for what is none."""
    try:
        lines = locate_ledger(path).read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Unavailable(f"{locate_ledger(path)} cannot be read", why=error.strerror or "") from error
    found: dict[str, ErasedTenant] = {}
    for number, line in enumerate(lines, 1):
        try:
            row = cast("dict[str, Any]", json.loads(line))
            if row.get("lifted"):
                found.pop(row["tag"], None)
            else:
                digest, key = bytes.fromhex(row["digest"]), bytes.fromhex(row["key"])
                found[row["tag"]] = ErasedTenant(digest, row["tag"], key, int(row["erased_us"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if number == len(lines):  # cut off by a crash: what it would have said is written again
                break
            raise Corrupt(f"line {number} of {locate_ledger(path)} is damaged", fix="restore an intact copy") from error
    return found


def add_to_ledger(path: str | Path, entries: Iterable[ErasedTenant]) -> None:
    """Add what a ledger lacks, durably."""
    known = read_ledger(path)
    _append(
        path,
        [
            {"digest": one.digest.hex(), "tag": one.tag, "key": one.key.hex(), "erased_us": one.erased_us}
            for one in entries
            if one.tag not in known
        ],
    )


def remove_from_ledger(path: str | Path, tag: str) -> None:
    """Take an entry back, if there is one."""
    if tag in read_ledger(path):
        _append(path, [{"tag": tag, "lifted": True}])


def _append(path: str | Path, lines: list[dict[str, object]]) -> None:
    if not lines:
        return
    place = locate_ledger(path)
    text = "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines).encode()
    try:
        handle = os.open(place, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            whole = os.pread(handle, os.fstat(handle).st_size, 0).rpartition(b"\n")
            os.ftruncate(handle, len(whole[0]) + len(whole[1]))  # a line that a crash has torn goes
            os.write(handle, text)
            os.fsync(handle)
        finally:
            os.close(handle)
        with suppress(OSError):  # a system without folder handles
            folder = os.open(place.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise Unavailable(
            f"{place} cannot be written", why=error.strerror or type(error).__name__, fix="make room or give leave"
        ) from error
