"""An index as bytes: written beside the data, read at the next start, thrown away at the slightest doubt.

Layout: magic, CRC-32 of all that follows, length of a JSON head, the head, then the arrays end to end, each on an
8-byte border. A CRC finds every single damaged byte; forgery is no concern, since whoever can write into the database
can write anything.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np

from credenda import limits
from credenda.storage.store import Heads
from credenda.text.tokens import TOKENIZER
from credenda.vectors.columns import Column, Names
from credenda.vectors.postings import Run
from credenda.vectors.table import Table

__all__ = ["IMAGE_VERSION", "Head", "read", "write"]

IMAGE_VERSION: Final = 1
_MAGIC: Final = b"CREDIDX\n"
_PREFIX: Final = struct.Struct("<8sII")
_ALIGNMENT: Final = 8
_COLUMNS: Final = (
    ("codes", np.int64),
    ("state", np.uint8),
    ("session", np.int32),
    ("speaker", np.int32),
    ("occurred_us", np.int64),
    ("length", np.uint16),
    ("has_vector", np.bool_),
    ("bits", np.uint64),
)
_LISTS: Final = (("terms", np.uint64), ("offsets", np.int32), ("docs", np.int32), ("tf", np.uint8))
"""Names of the fields of `Table` and `Run` that are written, in this order, `by_code` between them."""


class Head(NamedTuple):
    """What an image says of itself besides its arrays."""

    model_id: str | None
    dims: int
    heads: Heads


def write(head: Head, table: Table, base: Run) -> tuple[bytes, ...]:
    """Return the image in pieces of at most `limits.SNAPSHOT_BLOB_BYTES`."""
    arrays = [getattr(table, name).view(table.rows) for name, _ in _COLUMNS]
    arrays += [table.by_code, *(getattr(base, name) for name, _ in _LISTS)]
    about = {
        "version": [IMAGE_VERSION, TOKENIZER],
        "model_id": head.model_id,
        "dims": head.dims,
        "heads": [head.heads.event, head.heads.change, head.heads.vector],
        "rows": table.rows,
        "words": len(table.bits.view(0)),
        "terms": [len(base.terms), len(base.docs)],
        "sessions": table.sessions.names,
        "speakers": table.speakers.names,
    }
    text = json.dumps(about).encode()
    body = b"".join(map(_padded, [text, *(np.ascontiguousarray(array).tobytes() for array in arrays)]))
    whole = _PREFIX.pack(_MAGIC, zlib.crc32(body, len(text)), len(text)) + body
    step = limits.SNAPSHOT_BLOB_BYTES
    return tuple(whole[start : start + step] for start in range(0, len(whole), step))


def read(blobs: Sequence[bytes]) -> tuple[Head, Table, Run]:
    """Read an image; its arrays lie in the bytes read and must not be written.

    Raises `ValueError` when it is damaged, or was made by another version of the image or of the tokenizer.
    """
    whole = b"".join(blobs)
    about, start = _read_head(whole)
    rows, (terms, postings) = about["rows"], about["terms"]
    shapes = [(name, dtype, (rows,)) for name, dtype in _COLUMNS[:-1]]
    shapes += [("bits", np.uint64, (about["words"], rows)), ("by_code", np.int32, (rows,))]
    sizes = (terms, terms + 1, postings, postings)
    shapes += [(name, dtype, (size,)) for (name, dtype), size in zip(_LISTS, sizes, strict=True)]
    arrays: dict[str, Any] = {}
    for name, dtype, shape in shapes:
        flat = np.frombuffer(whole, np.dtype(dtype).newbyteorder("<"), int(np.prod(shape)), start)
        arrays[name] = flat.reshape(shape)
        start += len(flat.data.cast("B")) + -flat.nbytes % _ALIGNMENT
    return _assemble(about, rows, arrays)


def _read_head(whole: bytes) -> tuple[dict[str, Any], int]:
    """Check the image and return its head and where the arrays begin."""
    if len(whole) < _PREFIX.size:
        raise ValueError("an index image is cut short")
    magic, checksum, length = _PREFIX.unpack_from(whole)
    if magic != _MAGIC or zlib.crc32(memoryview(whole)[_PREFIX.size :], length) != checksum:
        raise ValueError("an index image is damaged")
    stop = _PREFIX.size + length
    about = cast("dict[str, Any]", json.loads(whole[_PREFIX.size : stop]))
    if about["version"] != [IMAGE_VERSION, TOKENIZER]:
        raise ValueError("an index image was made by another version")
    return about, stop + -length % _ALIGNMENT


def _assemble(about: dict[str, Any], rows: int, arrays: dict[str, Any]) -> tuple[Head, Table, Run]:
    head = Head(about["model_id"], about["dims"], Heads(*about["heads"]))
    table = Table(
        rows=rows,
        by_code=arrays["by_code"],
        sessions=Names(about["sessions"]),
        speakers=Names(about["speakers"]),
        **{name: Column(arrays[name]) for name, _ in _COLUMNS},
    )
    return head, table, Run(**{name: arrays[name] for name, _ in _LISTS})


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNMENT)
