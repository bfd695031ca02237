"""What was the same on both sides when they last met: the third side of every comparison. Pure.

It belongs to one machine and one memory, is written last, and holds hashes under the tenant's own key, never words.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from credenda.portability.files.markers import to_file_text

__all__ = ["AWAY", "Base", "State", "dump_state", "hash_tenant", "hash_text", "load_state"]

VERSION: Final = 1
AWAY: Final = ""
"""Stands for "nothing here": an entry of another memory that this one only keeps."""
_HASH_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Base:
    """An entry as both sides had it: the id here, the file, the hash of its text, and whether it was held.

    `away` says that it is gone from the files, and waits for somebody to say what that means.
    """

    local: str
    path: str
    digest: str
    held: bool
    away: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a synchronisation left behind; `mark` names the tenant, `round` counts, `entries` go by the id in the file.

    `pages` are the files of entities by their keys, `core` the ids here of what the always-on page showed.
    """

    mark: str = ""
    tag: str = ""
    round: int = 0
    entries: Mapping[str, Base] = field(default_factory=dict[str, Base])
    pages: Mapping[str, str] = field(default_factory=dict[str, str])
    core: frozenset[str] = frozenset()


def hash_tenant(key: bytes) -> str:
    """Name a tenant for a state file: a keyed hash that says nothing to anybody else; "" for one that never wrote."""
    return hmac.digest(key, b"files", "sha256").hex()[:32] if key else ""


def hash_text(key: bytes, text: str) -> str:
    """Hash a text as a file holds it."""
    return hashlib.blake2b(to_file_text(text).encode(), key=key, digest_size=_HASH_BYTES).hexdigest()


def dump_state(state: State) -> bytes:
    """Write a state; the same one gives the same bytes."""
    entries = {
        name: [one.local, one.path, one.digest, int(one.held) + 2 * int(one.away)]
        for name, one in sorted(state.entries.items())
    }
    table = {
        "version": VERSION,
        "mark": state.mark,
        "tag": state.tag,
        "round": state.round,
        "pages": dict(sorted(state.pages.items())),
        "core": sorted(state.core),
        "entries": entries,
    }
    return json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def load_state(data: bytes) -> State:
    """Read a state; one that is damaged or of another version says nothing, which is always safe.

    >>> state = State(mark="a", tag="b", round=3, entries={"m1-b": Base("m1-b", "x.md", "00", True)})
    >>> load_state(dump_state(state)) == state, load_state(b"{") == State()
    (True, True)
    """
    try:
        table = cast("dict[str, Any]", json.loads(data))
        if table["version"] != VERSION:
            return State()
        entries = {
            str(name): Base(str(local), str(path), str(hashed), held=bool(marks & 1), away=bool(marks & 2))
            for name, (local, path, hashed, marks) in cast("dict[str, list[Any]]", table["entries"]).items()
        }
        pages = {str(name): str(path) for name, path in cast("dict[str, Any]", table["pages"]).items()}
        return State(
            mark=str(table["mark"]),
            tag=str(table["tag"]),
            round=int(table["round"]),
            entries=entries,
            pages=pages,
            core=frozenset(str(name) for name in table["core"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return State()
