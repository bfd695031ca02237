"""Search for erased bytes: keyed hashes of windows of the erased values, searched in whole files.

A probe is the keyed hash of 16 bytes of an erased value, or of 8 bytes from within a long erased word (full text stores
words, not sentences). For windows a and b (little-endian halves, odd random keys k): a·k1 + b·k2 mod 2^64, and a·k3 for
the short ones. A search hashes every position of a file, so that its cost does not depend on the number of probes (0.6
s for 100 MB). Another process can repeat it without knowing the words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from credenda.ids import draw_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONG_BYTES: Final = 16
SHORT_BYTES: Final = 8
_KEY_BYTES: Final = 24
_HALF: Final = 8
_SIEVE_BITS: Final = 20
_DISTINCT: Final = {LONG_BYTES: 6, SHORT_BYTES: 5}
"""Windows with fewer different bytes (zeros, ramps, dashes) are too common and are left out."""
CHUNK_BYTES: Final = 1 << 21


class _WindowSearch(NamedTuple):
    """Windows of one size, and the sieve that passes their hashes."""

    size: int
    wanted: NDArray[np.uint64]
    sieve: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Probes:
    """The probes of a search: the key, and sorted hashes of long and of short windows (uint64)."""

    key: bytes
    long: NDArray[np.uint64]
    short: NDArray[np.uint64]

    @classmethod
    def of(cls, windows: Iterable[bytes]) -> Probes:
        """Hash windows of `LONG_BYTES` or `SHORT_BYTES` under a new key; other sizes are left out."""
        import numpy as np

        telling = {window for window in windows if len(set(window)) >= _DISTINCT.get(len(window), 1 << 10)}
        key = draw_key()[:_KEY_BYTES]
        found: list[NDArray[np.uint64]] = []
        for size in (LONG_BYTES, SHORT_BYTES):
            joined = b"".join(window for window in telling if len(window) == size)
            halves = np.frombuffer(joined, "<u8").reshape(-1, size // _HALF)
            found.append(np.unique(_hash_windows(halves[:, 0], halves[:, -1], key, size)))
        return cls(key, *found)

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.long) + len(self.short)

    def to_bytes(self) -> bytes:
        """Serialise the probes; `from_bytes` reads them back."""
        return self.key + len(self.long).to_bytes(8, "little") + self.long.tobytes() + self.short.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Probes:
        """Deserialise the output of `to_bytes`."""
        import numpy as np

        start = _KEY_BYTES + _HALF
        split = start + _HALF * int.from_bytes(data[_KEY_BYTES:start], "little")
        return cls(data[:_KEY_BYTES], np.frombuffer(data[start:split], "<u8"), np.frombuffer(data[split:], "<u8"))

    def found_in(self, pieces: Iterable[bytes]) -> set[int]:
        """Return the hashes of the windows that occur in any of the pieces; a window never spans two pieces."""
        found: set[int] = set()
        sought = [
            _WindowSearch(size, wanted, _build_sieve(wanted))
            for size, wanted in ((LONG_BYTES, self.long), (SHORT_BYTES, self.short))
            if len(wanted)
        ]
        for piece in pieces:
            for one in sought:
                found |= _search(piece, self.key, one)
        return found


def read_chunks(handle: int, size: int) -> Iterator[bytes]:
    """Read an open file up to `size` in overlapping chunks, so that no window is cut."""
    for start in range(0, size, CHUNK_BYTES):
        yield os.pread(handle, CHUNK_BYTES + LONG_BYTES - 1, start)


def join_values(values: Iterable[bytes]) -> Iterator[bytes]:
    """Join short values into larger pieces; a run of separators keeps the values apart."""
    held: list[bytes] = []
    size = 0
    for value in values:
        held.append(value)
        size += len(value) + 1
        if size >= CHUNK_BYTES:
            yield b"\xff".join(held)
            held, size = [], 0
    yield b"\xff".join(held)


def _hash_windows(first: NDArray[np.uint64], last: NDArray[np.uint64], key: bytes, size: int) -> NDArray[np.uint64]:
    import numpy as np

    one, two, three = (np.uint64(int.from_bytes(key[at : at + _HALF], "little") | 1) for at in (0, 8, 16))
    return first * one + last * two if size == LONG_BYTES else first * three


def _build_sieve(wanted: NDArray[np.uint64]) -> NDArray[np.bool_]:
    import numpy as np

    sieve = np.zeros(1 << _SIEVE_BITS, np.bool_)
    sieve[(wanted >> np.uint64(64 - _SIEVE_BITS)).astype(np.intp)] = True
    return sieve


def _search(piece: bytes, key: bytes, sought: _WindowSearch) -> set[int]:
    """Hash the windows at every position, those of every eighth byte at once, and look up those that pass the sieve."""
    import numpy as np

    size, wanted, sieve = sought
    found: set[int] = set()
    for offset in range(_HALF):
        count = (len(piece) - offset) // _HALF
        if count < size // _HALF:
            break
        halves = np.frombuffer(piece, "<u8", count, offset)
        hashes = (
            _hash_windows(halves[:-1], halves[1:], key, size)
            if size == LONG_BYTES
            else _hash_windows(halves, halves, key, size)
        )
        likely = hashes[sieve[(hashes >> np.uint64(64 - _SIEVE_BITS)).astype(np.intp)]]
        if len(likely):
            places = np.searchsorted(wanted, likely).clip(max=len(wanted) - 1)
            found.update(likely[wanted[places] == likely].tolist())
    return found
