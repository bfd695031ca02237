"""Cursors of lists: they say where the next page begins, and nothing that a caller could make use of."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from hashlib import blake2b
from typing import Final

from credenda.errors import NotFound
from credenda.validation import check_text

__all__ = ["read_cursor", "write_cursor"]

_NUMBER_BYTES: Final = 8
_CHECK_BYTES: Final = 4


def write_cursor(name: str, user: str, number: int) -> str:
    """Write the cursor of a list: the number that the next page continues after, and which list of which user it is of.

    >>> read_cursor("memories", "ana", write_cursor("memories", "ana", 7))
    7
    """
    body = number.to_bytes(_NUMBER_BYTES, "big")
    return urlsafe_b64encode(body + _make_check(name, user, body)).decode()


def read_cursor(name: str, user: str, cursor: str | None) -> int | None:
    """Return the number in a cursor of this list; None without one. Raises `NotFound` for anything else."""
    if cursor is None or not check_text(cursor, "cursor"):
        return None
    try:
        packed = urlsafe_b64decode(cursor.encode("ascii"))
    except (Base64Error, UnicodeEncodeError, ValueError):
        packed = b""
    body, check = packed[:_NUMBER_BYTES], packed[_NUMBER_BYTES:]
    if (
        len(body) != _NUMBER_BYTES
        or check != _make_check(name, user, body)
        or write_cursor(name, user, _to_number(body)) != cursor
    ):
        raise NotFound(
            "there is no page at this cursor",
            why="it was changed, or is of another list",
            fix="copy `next_cursor` of the page before",
        )
    return _to_number(body)


def _to_number(body: bytes) -> int:
    return int.from_bytes(body, "big")


def _make_check(name: str, user: str, body: bytes) -> bytes:
    owner = blake2b(user.encode()).digest()
    return blake2b(body, digest_size=_CHECK_BYTES, person=name.encode(), key=owner).digest()
