"""Build the parts of the next common state, and of the report, from what the pages show now."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Protocol, cast

from credenda.ids import parse_serial
from credenda.portability.files.folder import KEY, TOMBSTONES, Folder, Found
from credenda.portability.files.page_plan import Layout
from credenda.portability.files.render import ARCHIVE, PAGES, make_beside
from credenda.portability.files.state import Base, State, Tier, View, hash_tenant, hash_text
from credenda.portability.files.three_way_diff import Plan
from credenda.runtime import Parts
from credenda.storage.store import Tombstone
from credenda.text.normalize import normalise_name

_LISTED_MAX: Final = 100
_PENDING_CHARACTERS: Final = 80


class SmallFiles(Protocol):
    """A folder, on disk or in a zip."""

    def load(self, name: str) -> bytes:
        """Read a small file; empty if it is missing or unreadable."""
        ...


def map_ids(state: State, plan: Plan, after: View) -> dict[str, str]:
    """Return the ids in the files by the ids in the store, where they differ or are known."""
    here = {one.id for one in (*after.memories, *after.events)}
    bound = {name: one.local for name, one in state.entries.items()} | plan.bound
    return {local: name for name, local in bound.items() if local in here and name != local}


def list_pages(found: Found, layout: Layout, standing: Collection[str]) -> dict[str, str]:
    """Return the files of entities that exist; of two files that claimed one entity, the remaining one."""
    pages = [one for one in reversed(found.texts) if one.own and one.tier is Tier.PAGES and one.path in standing]
    left = {normalise_name(one.about): one.path for one in pages if normalise_name(one.about)}
    return left | {key: path for key, path in layout.pages.items() if path in {*found.troubles, *standing}}


def map_bases(layout: Layout, names: Mapping[str, str], failed: Collection[str], key: bytes) -> dict[str, Base]:
    """Return for every entry in a file the state that both sides now share."""
    return {
        names.get(one.local, one.local): Base(one.local, path, hash_text(key, one.text), one.held)
        for path, sheet in layout.sheets.items()
        if path not in failed and path != layout.core
        for one in sheet.entries
    }


def keep_bases(
    state: State, *, skipped: Collection[str], failed: Collection[str], away: Collection[str], stay: Collection[str]
) -> dict[str, Base]:
    """Return the state of entries that were not drawn: those that wait or are hidden, and those of failed pages."""
    return {
        name: replace(one, away=one.local in away)
        for name, one in state.entries.items()
        if one.local in skipped or (one.path in failed and one.local in stay)
    }


def list_pending(gone: Collection[str], lines: Mapping[str, str], state: State, view: View) -> list[str]:
    """List entries, and memories with the pages of their lines, with the beginnings of their texts."""
    texts = {one.id: one.text for one in (*view.memories, *view.events)}
    paths = {one.local: one.path for one in state.entries.values()} | dict(lines)
    gone = {*gone, *lines}
    listed = sorted((paths.get(local, ""), parse_serial(local), local) for local in gone if local in texts)
    shown = [(path, local, " ".join(texts[local].split())) for path, _, local in listed[:_LISTED_MAX]]
    most = _PENDING_CHARACTERS
    return [f"{path}: {local} {line if len(line) <= most else f'{line[:most]}…'}" for path, local, line in shown]


# Tombstones beside the pages: keyed hashes of deletions, so that no rebuild from the files restores them.


_TABLE: Final = "tombstones"
_KEY_BYTES: Final = 32
_MARK: Final = re.compile(r"[0-9a-f]{32}")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_PLACES: Final = ("", f"{PAGES}/", f"{ARCHIVE}/", "memory/")
"""The folders in which other programs have their tombstones."""
_TEXTS: Final = ("text", "content", "fact", "memory", "normalized", "normalised", "normalized_text", "norm", "key")
"""The fields in which other programs name the deleted words."""


def write_tombstones(
    parts: Parts, folder: Folder, *, removed: Collection[str] = (), shown: Collection[str] = ()
) -> list[str]:
    """Write the tombstones of a memory and their key; write nothing if neither it nor the files have any.

    Return notes for the user. `removed` are ids of entries that were deleted in this synchronisation, `shown` those
    that the pages show.
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
    there = folder.list_named(TOMBSTONES)
    own = [one for one in there if _is_own(folder, one)]
    name = TOMBSTONES
    while name in there and name not in own:
        name = make_beside(name)
    if lines:
        folder.save(name, "".join(f"{line}\n" for line in lines).encode())
    for one in own:
        if one != name or not lines:
            folder.remove(one)
    if tag:
        folder.save(KEY, json.dumps({"key": base64.b64encode(key).decode(), "mark": mark}).encode() + b"\n")
    else:
        folder.remove(KEY)
    taken = make_beside(TOMBSTONES)
    odd = lines and name not in (TOMBSTONES, taken)
    return [f"{taken} is not Credenda's and stays as it is; the hashes of deletions are in {name}"] if odd else []


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
        if line.get("key") == mark:
            digest, kind = bytes.fromhex(line["digest"]), line["kind"]
            found.append(
                Tombstone(digest=digest, kind=kind, normaliser=line["normaliser"], created_us=line["created_us"])
            )
        else:
            others += 1
    return found, others


def read_deleted_texts(folder: SmallFiles) -> list[str]:
    """Read the words that another program has in its tombstones, in the order of its files."""
    found: dict[str, None] = {}
    for place in _PLACES:
        for line in _parse_lines(folder, f"{place}{TOMBSTONES}"):
            table = _to_table(line)
            if isinstance(line, str):
                found[line] = None
            elif not _is_ours(table):
                found |= dict.fromkeys(text for name in _TEXTS if isinstance(text := table.get(name), str))
    return [text for text in found if text.strip()]


def _is_own(folder: Folder, name: str) -> bool:
    """Return whether code wrote a file: it can be read and has such lines, and none of another program."""
    lines = list(_parse_lines(folder, name))
    return bool(lines) and all(_is_ours(_to_table(line)) for line in lines)


def _to_table(line: object) -> dict[str, Any]:
    return cast("dict[str, Any]", line) if isinstance(line, dict) else {}


def _is_ours(table: Mapping[str, object]) -> bool:
    marked = _MARK.fullmatch(str(table.get("key"))) is not None
    return marked and (_HASH.fullmatch(str(table.get("digest"))) is not None or isinstance(table.get("entry"), str))


def read_removed(folder: Folder) -> frozenset[str]:
    """Read the ids of entries that a memory sharing the folder deleted."""
    return frozenset(line["entry"] for line in _read_removed(folder))


def _read_removed(folder: Folder) -> Iterator[dict[str, str]]:
    for line in _parse_tables(folder):
        if isinstance(line.get("entry"), str):
            yield {"entry": line["entry"], "key": line["key"]}


def _parse_tables(folder: Folder) -> Iterator[dict[str, Any]]:
    for name in folder.list_named(TOMBSTONES):
        yield from filter(_is_ours, map(_to_table, _parse_lines(folder, name)))


def _parse_lines(folder: SmallFiles, name: str) -> Iterator[object]:
    """Parse the lines of a file; skip merge markers and truncated lines."""
    for text in folder.load(name).decode("utf-8-sig", "replace").splitlines():
        with suppress(ValueError, RecursionError):
            yield json.loads(text)


def _read_lines(folder: Folder) -> Iterator[dict[str, Any]]:
    """Read the complete lines with a hash."""
    for line in _parse_tables(folder):
        try:
            if len(bytes.fromhex(line["digest"])) == _KEY_BYTES and isinstance(line["kind"], str):
                yield {**line, "normaliser": int(line["normaliser"]), "created_us": int(line["created_us"])}
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
