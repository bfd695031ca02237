"""The interface of an import format: how to recognise a file, and how to convert it to messages."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Final

from credenda.model.memory import Draft
from credenda.portability.sources import Lines, Place
from credenda.private import cut_private
from credenda.write.intake.validate import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The file being imported, and its user; `modified_us` is None if the file has no modification time.

    `place` is set for a file in a zip, whose `path` has only its name.
    """

    path: Path
    user_id: str
    modified_us: int | None
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMemory:
    """How another memory holds a statement, with its status: stored as it stands, not read like a message.

    `id` is its id there, `successor` that of the memory that replaced it. `draft` has its status, layer and times;
    without a slot it gets that of the one claim that its text makes. Text, topic and metadata are those of the message.
    `accessed_us` is its last use. One that `may_compete` has no slot there, so that a newer value replaces it.
    """

    id: str
    draft: Draft
    successor: str = ""
    accessed_us: int | None = None
    may_compete: bool = False
    reason: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One message, and its place in the file, for error messages.

    `by_content` means that its key identifies its text: with another time, it is the same message. A memory that keeps
    its status is `held`.
    """

    place: str
    submission: Submission
    by_content: bool = False
    held: ForeignMemory | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """Words that the user deleted in the other memory, and that do not come back."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A malformed item that was skipped. `what` never contains text of the file.

    Not `lost` means that the item was read, and only something about it, such as its time, was not.
    """

    place: str
    what: str
    lost: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """Marks the beginning of another conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Omitted:
    """Items that an import leaves out on purpose: `what` is their kind, in the plural."""

    what: str
    count: int = 1


LINES_ENDINGS: Final = (".jsonl", ".jsonl.gz")
JSON_ENDINGS: Final = (".json", ".json.gz", *LINES_ENDINGS, ".ndjson", ".ndjson.gz")
Parsed = Piece | Problem | Boundary | Omitted | Deletion
"""Everything that a format may yield."""


class Format(ABC):
    """An import format. Reading is lazy and keeps one line, one block of lines or one item of a list in memory."""

    name: ClassVar[str]
    """The name for `import --format`."""
    of_persons: ClassVar[bool] = False
    """Whether it holds chats of persons, of whom the one who exported them is known only by name."""
    endings: ClassVar[tuple[str, ...]] = JSON_ENDINGS
    """How the names of its files end."""
    shape: ClassVar[frozenset[str]] = frozenset()
    """The paths of keys with which its JSON begins; see `list_key_paths`."""
    marks: ClassVar[tuple[tuple[bytes, ...], ...]] = ()
    """What else stands near the beginning of its JSON: all of one of these rows."""

    def takes(self, member: str) -> bool:
        """Return, by its path inside a folder or zip, whether to read a file; a file given directly is always read."""
        return member.casefold().endswith(self.endings)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file with this beginning has this format; `path` is without `.gz`."""
        del path
        marked = not self.marks or any(is_json_with(head, *row) for row in self.marks)
        return marked and (not self.shape or list_key_paths(head) >= self.shape)

    @abstractmethod
    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Read a file to its end."""


def make_stable_key(kind: str, *parts: str) -> str:
    """Return a key from the identifying fields without private text, so that a repeated import stores nothing twice."""
    body = json.dumps([cut_private(part) for part in parts], ensure_ascii=False)
    return f"{kind}:{hashlib.blake2b(body.encode('utf-8', 'replace'), digest_size=16).hexdigest()}"


# The shape of JSON from its first bytes: which keys stand where, so that a format is known by its structure.


_TOKEN: Final = re.compile(rb'"((?:[^"\\]++|\\.)*+)"(\s*:)?|[\[\]{}]', re.DOTALL)
_HEAD: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")
_DEPTH_MAX: Final = 12
_PATHS_MAX: Final = 2_000


def is_json_with(head: bytes, *marks: bytes) -> bool:
    """Return whether a file begins with a JSON list or object, and has all of some marks near its beginning."""
    return _HEAD.match(head) is not None and all(mark in head for mark in marks)


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
