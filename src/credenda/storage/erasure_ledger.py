"""The ledger of erased tenants, a file beside a database and beside its backups; a restore applies it to the backup.

Each line is a JSON object. It identifies a tenant by the HMAC-SHA-256 of its name, with the key in the same line, and
by the random tag of its ids. Neither reveals the name to a reader who does not know it already. A line with `lifted`
cancels the entry with its tag: that tenant was imported again on purpose.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from credenda.errors import Corrupt
from credenda.paths import make_file_error

__all__ = ["ErasedTenant", "add_to_ledger", "locate_ledger", "read_ledger", "remove_from_ledger"]


@dataclass(frozen=True, slots=True)
class ErasedTenant:
    """One erased tenant."""

    digest: bytes
    tag: str
    key: bytes
    erased_us: int


def locate_ledger(path: str | Path) -> Path:
    """Return the path of the ledger of a database or backup."""
    return Path(f"{path}.erasures")


def read_ledger(path: str | Path) -> dict[str, ErasedTenant]:
    """Read the entries of a ledger by tag; {} without a file. Raises `Corrupt` for an invalid ledger."""
    try:
        lines = locate_ledger(path).read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise make_file_error(locate_ledger(path), error, "read") from error
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
            if number == len(lines):  # a crash cut this line off; its entry is written again
                break
            raise Corrupt(f"line {number} of {locate_ledger(path)} is damaged", fix="restore an intact copy") from error
    return found


def add_to_ledger(path: str | Path, entries: Iterable[ErasedTenant]) -> None:
    """Append the entries that a ledger lacks, durably."""
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
    """Cancel the entry of a tag, if there is one."""
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
            os.ftruncate(handle, len(whole[0]) + len(whole[1]))  # drop a line that a crash has torn
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
        raise make_file_error(place, error) from error
