"""Keep the key of keyed hashes apart from the database: the database then holds only a seed.

Without a key file a tenant's key stands in the database, and whoever holds the file can test guesses against its
tombstones. With one, the tenant's key is the HMAC-SHA-256 of its seed under the key of that file. A stored seed begins
with a fixed mark and ends with a check, so that a missing or another key file is noticed.
"""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import Final

from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import draw_key

SEALED: Final = "sealed:"
"""Prefix of a sealed idempotency key."""
_MARK: Final = b"CREDKEY1"
_SEED_BYTES: Final = 16
_CHECK_BYTES: Final = 8
_LEAST_BYTES: Final = 16
"""A shorter key file could be guessed."""


def read_key_file(path: str) -> bytes:
    """Read the key of a key file (32 bytes, hashed from its content); b"" for no path.

    Raises `NotFound` for a missing or unreadable file, `Invalid` for one of fewer than 16 bytes.
    """
    if not path:
        return b""
    try:
        content = Path(path).expanduser().read_bytes()
    except OSError as error:
        raise NotFound(
            f"the tombstone key file {path} cannot be read",
            why=error.strerror or "it is missing",
            fix="restore it; for a new memory, create it with `head -c 32 /dev/urandom > FILE`",
        ) from error
    if len(content) < _LEAST_BYTES:
        raise Invalid(
            f"the tombstone key file {path} has only {len(content)} bytes",
            why="so short a key can be guessed",
            fix="write at least 32 random bytes into it: `head -c 32 /dev/urandom > FILE`",
        )
    return hashlib.blake2b(content, digest_size=32).digest()


def draw_stored_key(key: bytes) -> bytes:
    """Draw what the database stores for a new tenant (32 bytes): its key, or a seed if `key` is that of a key file."""
    if not key:
        return draw_key()
    seed = _MARK + draw_key()[:_SEED_BYTES]
    return seed + _compute_check(key, seed)


def open_stored_key(stored: bytes, key: bytes) -> bytes:
    """Return the tenant's key; raises `Conflict` if the key file is missing, another, or was not used for it."""
    if not stored.startswith(_MARK):
        if key:
            raise Conflict(
                "this memory was begun without a tombstone key file",
                why="its key stands in the database, and a key file cannot take it out",
                fix="leave out tombstone_key_file, or begin a new memory with it",
            )
        return stored
    if not key:
        raise Conflict(
            "this memory needs its tombstone key file",
            why="it was begun with one, and tombstone_key_file is not set",
            fix="set tombstone_key_file to that file",
        )
    seed = stored[:-_CHECK_BYTES]
    if not hmac.compare_digest(stored[-_CHECK_BYTES:], _compute_check(key, seed)):
        raise Conflict(
            "this memory was begun with another tombstone key file",
            why="its seed does not match the given key",
            fix="set tombstone_key_file to the file with which it was begun",
        )
    return hmac.digest(key, seed, "sha256")


def _compute_check(key: bytes, seed: bytes) -> bytes:
    return hmac.digest(key, b"check" + seed, "sha256")[:_CHECK_BYTES]


def seal_key(key: bytes, name: str) -> str:
    """Return the form in which the idempotency key of deleted events is kept: a keyed hash."""
    return SEALED + hmac.digest(key, name.encode(), "sha256").hex()
