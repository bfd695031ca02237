"""Tombstones beside the pages: keyed hashes of deletions, so that no rebuild from the files restores them.

`.tombstones.jsonl` contains only hashes, and ids of removed entries, and may be shared; the key of the hashes is in
`.credenda/key`, which stays on the machine. An id tells other memories that share the folder that the entry is missing
on purpose. Lines of other memories, which a merge may have added, stay unchanged.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, cast

from credenda.portability.files.folder import KEY, TOMBSTONES, Folder
from credenda.portability.files.state import hash_tenant
from credenda.runtime import Parts
from credenda.storage.store import Tombstone

__all__ = ["read_key", "read_removed", "read_tombstones", "write_tombstones"]

_TABLE: Final = "tombstones"
_KEY_BYTES: Final = 32


def write_tombstones(
    parts: Parts, folder: Folder, *, removed: Collection[str] = (), shown: Collection[str] = ()
) -> None:
    """Write the tombstones of a memory and their key; write nothing if neither it nor the files have any.

    `removed` are ids of entries that were deleted in this synchronisation, `shown` those that the pages show.
    """
    with parts.store.dump(parts.user_id, only={_TABLE}) as dump:
        rows = [dict(row) for _, row in dump.rows]
        key, tag = dump.origin.key, dump.origin.tag
    mark = hash_tenant(key)
    erased_key = read_key(folder)
    gone = {mark, hash_tenant(erased_key) if erased_key and erased_key != key else mark}
    theirs = [line for line in _read_lines(folder) if line.get("key") not in gone]
    mine = [
        {
            "digest": cast("bytes", row["digest"]).hex(),
            "kind": row["kind"],
            "normaliser": row["normaliser"],
            "created_us": row["created_at"],
            "key": mark,
        }
        for row in rows
    ]
    gone_entries = [line for line in _read_removed(folder) if line["key"] not in gone - {mark}]
    gone_entries += [{"entry": name, "key": mark} for name in removed if tag]
    ids = [line for line in gone_entries if line["entry"] not in shown]
    lines = sorted({json.dumps(line, sort_keys=True) for line in [*mine, *theirs, *ids]})
    if lines:
        folder.save(TOMBSTONES, "".join(f"{line}\n" for line in lines).encode())
    else:
        folder.remove(TOMBSTONES)
    if tag:
        folder.save(KEY, json.dumps({"key": base64.b64encode(key).decode(), "mark": mark}).encode() + b"\n")
    else:
        folder.remove(KEY)


def read_key(folder: Folder) -> bytes:
    """Read the key of the memory that wrote the folder; empty if it is missing or damaged."""
    try:
        table = cast("Mapping[str, Any]", json.loads(folder.load(KEY) or b"{}"))
        key = base64.b64decode(str(table.get("key", "")), validate=True)
    except (ValueError, AttributeError):
        return b""
    return key if len(key) == _KEY_BYTES else b""


def read_tombstones(folder: Folder, key: bytes) -> tuple[list[Tombstone], int]:
    """Read the tombstones under a key, and count those under other keys, which cannot be checked."""
    mark = hash_tenant(key)
    found: list[Tombstone] = []
    others = 0
    for line in _read_lines(folder):
        if line.get("key") != mark:
            others += 1
            continue
        found.append(
            Tombstone(
                digest=bytes.fromhex(str(line["digest"])),
                kind=str(line["kind"]),
                normaliser=int(line["normaliser"]),
                created_us=int(line["created_us"]),
            )
        )
    return found, others


def read_removed(folder: Folder) -> frozenset[str]:
    """Read the ids of entries that a memory sharing the folder deleted."""
    return frozenset(line["entry"] for line in _read_removed(folder))


def _read_removed(folder: Folder) -> Iterator[dict[str, str]]:
    for line in _parse_lines(folder):
        if isinstance(line.get("entry"), str) and isinstance(line.get("key"), str):
            yield {"entry": line["entry"], "key": line["key"]}


def _parse_lines(folder: Folder) -> Iterator[dict[str, Any]]:
    for text in folder.load(TOMBSTONES).decode("utf-8", "replace").splitlines():
        with suppress(ValueError, RecursionError):
            line: object = json.loads(text)
            if isinstance(line, dict):
                yield cast("dict[str, Any]", line)


def _read_lines(folder: Folder) -> Iterator[dict[str, Any]]:
    """Read the complete lines; skip merge markers and truncated lines."""
    for line in _parse_lines(folder):
        try:
            if len(bytes.fromhex(line["digest"])) == _KEY_BYTES and isinstance(line["kind"], str):
                yield {**line, "normaliser": int(line["normaliser"]), "created_us": int(line["created_us"])}
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
