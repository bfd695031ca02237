"""What a format is: how a file of it is recognised, and how it becomes things that were said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from credenda.portability.line_reader import Lines
from credenda.write.intake.validate import Submission

__all__ = ["Boundary", "Format", "Piece", "Problem", "Source", "make_stable_key"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The file that is read, and for whom; `modified_us` is None where the file has no such time."""

    path: Path
    user_id: str
    modified_us: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One thing that was said, and where in the file, for messages.

    `by_content` says that its key names its words: met again with another time, it is the same thing still.
    """

    place: str
    submission: Submission
    by_content: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something malformed that was passed over. `what` never holds words of the file."""

    place: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """Another conversation begins."""


class Format(Protocol):
    """A kind of file. Reading is lazy and holds one line, one block of lines or one item of a list at a time."""

    @property
    def name(self) -> str:
        """How the format is called in `import --format`."""
        ...

    def takes(self, member: str) -> bool:
        """Say, by its path inside a folder or zip, whether a file is one to read; a file given by itself is read."""
        ...

    def recognises(self, head: bytes, path: Path) -> bool:
        """Say whether a file that begins so is of this format; `path` has lost its `.gz`."""
        ...

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem | Boundary]:
        """Read a file to its end."""
        ...


def make_stable_key(kind: str, *parts: str) -> str:
    """Name a thing by what makes it the same, so that importing it again files nothing twice."""
    body = json.dumps(parts, ensure_ascii=False)
    return f"{kind}:{hashlib.blake2b(body.encode('utf-8', 'replace'), digest_size=16).hexdigest()}"
