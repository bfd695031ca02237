"""The shape of JSON from its first bytes: which keys stand where, so that a format is known by its structure.

A word inside a text or deep in a foreign object says nothing about a file; its place does.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_TOKEN: Final = re.compile(rb'"((?:[^"\\]++|\\.)*+)"(\s*:)?|[\[\]{}]', re.DOTALL)
_HEAD: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")
_DEPTH_MAX: Final = 12
_PATHS_MAX: Final = 2_000


@lru_cache(maxsize=2)
def list_key_paths(head: bytes) -> frozenset[str]:
    """Return the keys at the beginning of JSON or JSON Lines, with those above; lists have no part in a path.

    >>> sorted(list_key_paths(b'[{"a": {"b": 1}, "c": [{"d": "e"'))
    ['a', 'a.b', 'c', 'c.d']
    >>> list_key_paths(b'a text with "a": 1')
    frozenset()
    """
    if _HEAD.match(head) is None:
        return frozenset()
    found: set[str] = set()
    above: list[str] = []
    key = ""
    for token in _TOKEN.finditer(head):
        if token[2] is not None:
            name = token[1].decode("utf-8", "replace")
            key = f"{above[-1]}.{name}" if above and above[-1] else name
            found.add(key)
        elif token[0] in (b"{", b"["):
            above.append(key)
        elif token[0] in (b"}", b"]"):
            key = above.pop() if above else ""
            key = above[-1] if above else ""
        if len(above) > _DEPTH_MAX or len(found) > _PATHS_MAX:
            break
    return frozenset(found)
