"""The ledger of erased tenants, a file beside a database and beside its backups; a restore applies it to the backup.

Each line is a JSON object. It identifies a tenant by the HMAC-SHA-256 of its name, with the key in the same line, and
by the random tag of its ids. Neither reveals the name to a reader who does not know it already. A line with `lifted`
cancels the entry with its tag: that tenant was imported again on purpose.
"""

from __future__ import annotations

import glob
import hmac
import json
import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

from credenda.errors import Corrupt, Invalid
from credenda.paths import make_file_error
from credenda.storage.tenant_transfer import ErasedTenant

try:
    import fcntl
except ImportError:  # a system without flock: two processes that erase at once may lose a line, which is written again
    fcntl = None

__all__ = [
    "ErasedTenant",
    "add_to_ledger",
    "hash_tenant_name",
    "list_damaged_ledgers",
    "locate_ledger",
    "name_owner",
    "read_ledger",
    "remove_from_ledger",
]

_log: Final = logging.getLogger(__name__)
_DAMAGED: Final = ".damaged-"
_ENDING: Final = ".erasures"


def hash_tenant_name(key: bytes, user_id: str) -> bytes:
    """Hash a tenant's name in the form that the erasure ledger stores."""
    return hmac.digest(key, b"erased\x00" + user_id.encode(), "sha256")


def locate_ledger(path: str | Path) -> Path:
    """Return the path of the ledger of a database or backup."""
    return Path(f"{path}{_ENDING}")


def name_owner(ledger: str | Path) -> str:
    """Return the name under which the functions of this module know a ledger file; raises `Invalid` for other files."""
    text = str(ledger)
    if not text.endswith(_ENDING) or Path(text).name == _ENDING:
        raise Invalid(f"{text} is no ledger of erasures", why=f"its name does not end in {_ENDING}", fix="rename it")
    return text.removesuffix(_ENDING)


def read_ledger(path: str | Path, *, partial: bool = False) -> dict[str, ErasedTenant]:
    """Read the entries of a ledger by tag; {} without a file.

    With `partial` an invalid ledger gives the entries of its valid lines; otherwise it raises `Corrupt`.
    """
    found, damaged = _read_lines(path)
    if damaged and not partial:
        raise Corrupt(
            f"line {damaged} of {locate_ledger(path)} is damaged",
            why="users erased since the backup was made may be listed there",
            fix="restore an intact copy of it, or move it away to do without",
        )
    return found


def _read_lines(path: str | Path) -> tuple[dict[str, ErasedTenant], int]:
    """Return the entries of the valid lines, and the number of the first damaged line, 0 without one."""
    try:
        lines = locate_ledger(path).read_bytes().splitlines()
    except FileNotFoundError:
        return {}, 0
    except OSError as error:
        raise make_file_error(locate_ledger(path), error, "read") from error
    found: dict[str, ErasedTenant] = {}
    damaged = 0
    for number, line in enumerate(lines, 1):
        try:
            row = cast("dict[str, Any]", json.loads(line))
            if row.get("lifted"):
                found.pop(row["tag"], None)
            else:
                digest, key = bytes.fromhex(row["digest"]), bytes.fromhex(row["key"])
                found[row["tag"]] = ErasedTenant(digest, row["tag"], key, int(row["erased_us"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            if number < len(lines):  # a crash cuts off the last line; its entry is written again
                damaged = damaged or number
    return found, damaged


def list_damaged_ledgers(path: str | Path) -> list[str]:
    """Return the damaged ledgers of a database or backup that were set aside."""
    place = locate_ledger(path)
    return sorted(str(one) for one in place.parent.glob(f"{glob.escape(place.name)}{_DAMAGED}*"))


def _set_damaged_aside(path: str | Path) -> dict[str, ErasedTenant]:
    """Rename a damaged ledger, start a new one with its valid lines, and return their entries; {} for a sound one."""
    found, damaged = _read_lines(path)
    if not damaged:
        return {}
    place, number = locate_ledger(path), 1
    while (aside := Path(f"{place}{_DAMAGED}{number}")).exists():
        number += 1
    try:
        place.rename(aside)
    except OSError as error:
        raise make_file_error(place, error, "set aside") from error
    _log.warning("a damaged ledger of erasures was set aside")
    return found


def add_to_ledger(path: str | Path, entries: Iterable[ErasedTenant]) -> None:
    """Append the entries that a ledger lacks, durably. A damaged ledger is set aside, and its valid lines are kept."""
    kept = _set_damaged_aside(path)
    entries = [*kept.values(), *(one for one in entries if one.tag not in kept)]
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
    """Cancel the entry of a tag, if there is one. A damaged ledger is set aside, and its valid lines are kept."""
    add_to_ledger(path, ())
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
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX)
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
