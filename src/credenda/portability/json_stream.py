"""Stream the items of a JSON array that may be larger than memory.

The standard parser needs the whole text. Here a scan finds the end of each item by counting brackets outside strings,
one match of a regular expression per bracket; then only the item is parsed. A malformed item is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from credenda import limits
from credenda.portability.line_reader import Lines

__all__ = ["Element", "read_elements", "read_sections"]

_CHUNK_BYTES: Final = 1 << 16
_PLAIN: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
"""The text between two brackets, strings included; stops before a string that does not end in the buffer."""
_STRING: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_KEY: Final = re.compile(rb'"([A-Za-z_]{1,64})"\s*:\s*$')
_BETWEEN: Final = b" \t\r\n,"
_OPENING: Final = frozenset(b"[{")
_BOM: Final = b"\xef\xbb\xbf"
_QUOTE: Final = ord('"')
_KEY_DEPTH: Final = 3
"""An array with a key is in the outermost object, or in an object there."""
_SHOWN_BYTES: Final = 200
"""The number of bytes to keep before a bracket: a key, or an item that is not an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """An item of an array, counted from 1; `wrong` tells why it could not be read, and then `data` is empty."""

    number: int
    data: bytes = b""
    wrong: str = ""


def read_elements(lines: Lines, *keys: str) -> Iterator[Element]:
    """Yield the items of a file that is an array, or an object with arrays under some of `keys`."""
    for _, element in read_sections(lines, *keys):
        yield element


def read_sections(lines: Lines, *keys: str) -> Iterator[tuple[str, Element]]:
    """Yield the items of all arrays under `keys`, each with its key; the key is "" if the file itself is an array.

    The arrays are in the object that is the file, or in an object in it. Items count from 1 in each array.
    """
    scan = _Scan(lines)
    depth, found = 0, False
    while True:
        key, depth = _enter_array(scan, keys, depth)
        if key is None:
            break
        found = True
        for element in _read_items(scan):
            yield key, element
        if scan.ended:
            return
        depth -= 1
    if not found:
        yield "", Element(number=1, wrong="the file contains no list of items")
    elif depth:
        yield "", Element(number=1, wrong="the file ends after its lists: it is truncated")


def _read_items(scan: _Scan) -> Iterator[Element]:
    """Read up to the end of the array that was just entered."""
    number = 0
    while True:
        between = scan.plain()
        if between.strip(_BETWEEN):
            number += 1
            yield Element(number=number, data=between.strip(_BETWEEN))
        sign = scan.bracket()
        if sign is None:
            scan.ended = True
            yield Element(number=number + 1, wrong="the file ends inside its list: it is truncated")
            return
        if sign not in _OPENING:
            return
        number += 1
        yield _read_item(scan, number)
        if scan.ended:
            return


def _enter_array(scan: _Scan, keys: tuple[str, ...], depth: int) -> tuple[str | None, int]:
    """Go to the first item of the next array; return its key, or None at the end of the file, and the depth."""
    while True:
        before = scan.plain()
        sign = scan.bracket()
        if sign is None:
            return None, depth
        if sign not in _OPENING:
            depth -= 1
            continue
        depth += 1
        if sign == ord("["):
            if depth == 1:
                return "", depth
            key = _KEY.search(before)
            if depth <= _KEY_DEPTH and key and key[1].decode() in keys:
                return key[1].decode(), depth


def _read_item(scan: _Scan, number: int) -> Element:
    """Read up to the bracket that closes the item whose opening bracket was just read."""
    scan.keep()
    depth = 1
    while depth:
        scan.plain()
        sign = scan.bracket()
        if sign is None:
            scan.release()
            return Element(number=number, wrong="the file ends inside it: it is truncated")
        depth += 1 if sign in _OPENING else -1
    data = scan.release()
    if data is None:
        return Element(number=number, wrong=f"it is larger than {limits.IMPORT_ITEM_BYTES} bytes")
    return Element(number=number, data=data)


class _Scan:
    """The position of the scan; buffers the current item, unless it grows too large."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._buffer = lines.read(_CHUNK_BYTES).removeprefix(_BOM)
        self._at = 0
        self._begun = 0
        self._start: int | None = None
        self._in_string = False
        self.ended = False

    def plain(self) -> bytes:
        """Go to the next bracket, or to the end, and return the last bytes before it."""
        self._begun = self._at
        while True:
            if self._in_string:
                self._leave_string()
            if not self._in_string:
                self._at = self._end(_PLAIN)
                if self._at < len(self._buffer) and self._buffer[self._at] != _QUOTE:
                    return self._buffer[max(self._begun, self._at - _SHOWN_BYTES) : self._at]
                if self._at < len(self._buffer):
                    self._at, self._in_string = self._at + 1, True
                    continue
            if not self._fill():
                self._at, self.ended = len(self._buffer), True
                return b""

    def bracket(self) -> int | None:
        """Read the bracket at this position; None at the end of the file."""
        if self._at >= len(self._buffer):
            return None
        self._at += 1
        return self._buffer[self._at - 1]

    def keep(self) -> None:
        """Buffer the input from the last bracket on."""
        self._start = self._at - 1

    def release(self) -> bytes | None:
        """Return the buffered bytes; None if there were too many."""
        start, self._start = self._start, None
        if start is None or self._at - start > limits.IMPORT_ITEM_BYTES:
            return None
        return self._buffer[start : self._at]

    def _end(self, expression: re.Pattern[bytes]) -> int:
        found = expression.match(self._buffer, self._at)
        return found.end() if found else self._at

    def _leave_string(self) -> None:
        """Continue in a string that did not end in the buffer."""
        self._at = self._end(_STRING)
        if self._at < len(self._buffer) and self._buffer[self._at] == _QUOTE:
            self._at, self._in_string = self._at + 1, False

    def _fill(self) -> bool:
        """Read on, as much again as is buffered, so that no byte is copied often."""
        if self._start is not None and len(self._buffer) - self._start > limits.IMPORT_ITEM_BYTES:
            self._start = None
        kept = max(self._begun, self._at - _SHOWN_BYTES) if self._start is None else self._start
        more = self._lines.read(max(_CHUNK_BYTES, len(self._buffer) - kept))
        self._buffer = self._buffer[kept:] + more
        self._at -= kept
        self._begun = max(0, self._begun - kept)
        self._start = None if self._start is None else 0
        return bool(more)
