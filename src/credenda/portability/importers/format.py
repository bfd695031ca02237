"""The interface of an import format: how to recognise a file, and how to convert it to messages."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Final, cast

from credenda import limits
from credenda.clock import from_datetime, parse_time, to_datetime
from credenda.errors import Invalid
from credenda.model.memory import Draft
from credenda.portability.sources import Line, Lines, Place
from credenda.private import PrivateParts, cut_private, cut_tagged
from credenda.text.normalize import normalise_text
from credenda.text.sentences import REMOVED
from credenda.write.forget.copies import is_label
from credenda.write.forget.scope import BLANK
from credenda.write.intake.validate import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The file being imported, and its user; `modified_us` is None if the file has no modification time.

    `place` is set for a file in a zip, whose `path` has only its name. `uploaded` says that a server received the file,
    in a folder that means nothing to its sender.
    """

    path: Path
    user_id: str
    modified_us: int | None
    place: Place | None = None
    uploaded: bool = False


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
    members: ClassVar[str] = ""
    """An expression for the paths of its files in a folder or zip, where their endings do not tell them."""
    signs: ClassVar[Signs] = ()
    """How its JSON begins: with the paths of keys of one of these rows (see `list_key_paths`) and with its bytes."""
    named: ClassVar[re.Pattern[str] | None] = None
    """The names of its text files, where not every file that it takes from a folder is recognised."""
    begins: ClassVar[re.Pattern[bytes] | None] = None
    """What stands near the beginning of its text; without it, the name of a text file is enough."""

    def takes(self, member: str) -> bool:
        """Return, by its path inside a folder or zip, whether to read a file; a file given directly is always read."""
        if self.members:
            return re.fullmatch(self.members, member, re.IGNORECASE | re.DOTALL) is not None
        return member.casefold().endswith(self.endings)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file with this beginning has this format; `path` is without `.gz`."""
        if self.signs:
            return any(list_key_paths(head) >= keys and is_json_with(head, *marks) for keys, marks in self.signs)
        known = self.takes(path.name) if self.named is None else self.named.fullmatch(path.name) is not None
        return known and b"\x00" not in head and (self.begins is None or self.begins.search(head) is not None)

    @abstractmethod
    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Read a file to its end."""


Signs = tuple[tuple[frozenset[str], tuple[bytes, ...]], ...]


def make_signs(*marks: tuple[bytes, ...], keys: Iterable[str] = ()) -> Signs:
    """Return rows of the same keys, each with other bytes."""
    return tuple((frozenset(keys), row) for row in marks or ((),))


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


# Split plain documents into blocks of lines, separated by blank lines, within the size of one event.


BLOCK_CHARACTERS_MAX: Final = limits.EVENT_TEXT_BYTES // 4
"""A character takes at most four bytes, so a block of this length always fits into an event."""
_WORD: Final = re.compile(r"\w")
_BOM: Final = "\ufeff"
_SESSION_CHARACTERS: Final = limits.NAME_CHARACTERS - 8


@dataclass(frozen=True, slots=True)
class TextLine:
    """A decoded line without its end."""

    number: int
    text: str


def decode_lines(lines: Iterable[Line]) -> Iterator[TextLine | Problem]:
    """Decode lines, without their private parts; a run of undecodable lines is one problem."""
    broken = False
    private = PrivateParts()
    for line in lines:
        try:
            text = None if line.too_long else line.data.decode().rstrip()
        except UnicodeDecodeError:
            text = None
        if text is None:
            if not broken:
                what = "too long" if line.too_long else "not UTF-8 text; save the file as UTF-8"
                yield Problem(place=f"line {line.number}", what=what)
            broken = True
            private.cut(line.data.decode("utf-8", "replace"))
            continue
        broken = False
        text = private.cut(text.removeprefix(_BOM) if line.number == 1 else text)
        yield TextLine(line.number, text.rstrip())


def has_words(text: str) -> bool:
    """Return whether a text contains words."""
    return _WORD.search(text) is not None


def cut(text: str) -> Iterator[str]:
    """Split a text into parts that fit into an event, at a space if possible; private parts are cut before."""
    rest = cut_tagged(text)
    while len(rest) > BLOCK_CHARACTERS_MAX:
        place = max(rest.rfind(sign, BLOCK_CHARACTERS_MAX // 2, BLOCK_CHARACTERS_MAX) for sign in "\n .")
        end = place + 1 if place > 0 else BLOCK_CHARACTERS_MAX
        yield rest[:end]
        rest = rest[end:]
    yield rest


def name_file_session(source: Source) -> str:
    """Return the session of a file's content, so that it can be deleted as a whole."""
    path = source.path.name if source.uploaded else source.path.as_posix()
    path = path.encode("utf-8", "replace").decode()
    return f"file:{path[-_SESSION_CHARACTERS:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A run of lines of a document; `details` name the page and its headings."""

    text: str
    line: int
    occurred_us: int | None
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    tags: tuple[str, ...] = ()


def make_document_pieces(
    text: str,
    source: Source,
    place: str,
    *,
    occurred_us: int | None = None,
    details: Mapping[str, object] | None = None,
    tags: tuple[str, ...] = (),
) -> Iterator[Piece]:
    """Make a text statements of a document, without a time with that of the file; equal text is the same everywhere."""
    moment_us = source.modified_us if occurred_us is None else occurred_us
    for part in filter(has_words, cut(text)):
        message: dict[str, object] = {"role": "document", "content": part}
        if moment_us is not None:
            message["timestamp"] = to_datetime(moment_us)
        submission = Submission(
            content=[message],
            user_id=source.user_id,
            session=name_file_session(source),
            source="ingest",
            tags=tags,
            metadata={"document": read_whole_name(source.path), **(details or {})},
            idempotency_key=make_stable_key("document", part),
        )
        yield Piece(place=place, submission=submission, by_content=True)


def read_whole_name(path: Path) -> str:
    """Return the name of a file as text that can be stored."""
    return path.name.encode("utf-8", "replace").decode()


# Front matter: a tolerant parser of the subset of YAML that notes use.


_PAIR: Final = re.compile(r"([A-Za-z][\w -]*?)\s*:(?:\s+(.*))?$")
_ITEM: Final = re.compile(r"\s*-\s+(.*)$")
_DATES: Final = ("date", "created", "created_at")
_QUOTES: Final = "\"'"


def read_front(lines: Iterable[TextLine]) -> Mapping[str, tuple[int, list[str]]]:
    """Parse the lines between the dashes: for each lower-case key that has values, its line and these."""
    pairs: dict[str, tuple[int, list[str]]] = {}
    values: list[str] = []
    for line in lines:
        if found := _PAIR.match(line.text):
            values = _read_values(found[2] or "")
            pairs[found[1].casefold()] = (line.number, values)
        elif found := _ITEM.match(line.text):
            values += _read_values(found[1], listed=True)
    return {name: found for name, found in pairs.items() if found[1]}


def read_tags(words: Iterable[str]) -> tuple[str, ...]:
    """Return tags without `#`, limited in number and length."""
    names = (name for word in words for part in word.replace(",", " ").split() if (name := part.lstrip("#")))
    found = dict.fromkeys(name for name in names if len(name) <= limits.NAME_CHARACTERS)
    return tuple(found)[: limits.TAGS]


def _read_values(text: str, *, listed: bool = False) -> list[str]:
    text = text.strip()
    if not listed and text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        return [value for part in text[1:-1].split(",") if (value := part.strip().strip(_QUOTES))]
    value = text.strip(_QUOTES).strip()
    return [value] if value else []


# Remove the placeholders of deleted text from imported texts: they are not content.


_PLACEHOLDER: Final = re.compile(rf"{re.escape(REMOVED)}|{BLANK}(?:[{BLANK} \t]*{BLANK})?")
_SPACES: Final = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")


def remove_placeholders(text: str) -> str:
    r"""Remove the placeholders from a text, and lines that consist only of them and a label.

    >>> remove_placeholders("I live in Linz. [deleted]\nAna: \u2588\u2588\u2588 \u2588\u2588\nBen: tea")
    'I live in Linz.\nBen: tea'
    """
    if _PLACEHOLDER.search(text) is None:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        left = _PLACEHOLDER.sub("", line)
        if left == line:
            lines.append(line)
        elif normalise_text(left) and not is_label(left.strip()):
            lines.append(_SPACES.sub(" ", left).rstrip())
    return "\n".join(lines).strip("\n")


def require_content(text: str) -> str:
    """Return a text without placeholders; raise `Invalid` if it consists only of them, or of private text."""
    if text.strip() and not cut_private(text):
        raise Invalid("a line is private as a whole", fix="put what may be kept outside of the private tags")
    left = remove_placeholders(text)
    if left != text and not normalise_text(left):
        raise Invalid("a line contains only the placeholder of deleted text", fix="remove the line")
    return left


def remove_placeholders_in_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Remove the values that contain placeholders, at any depth."""
    return {name: _clean(value) for name, value in fields.items() if not _is_placeholder(value)}


def _clean(value: object) -> object:
    if isinstance(value, Mapping):
        return remove_placeholders_in_fields(cast("Mapping[str, object]", value))
    if isinstance(value, list | tuple):
        return [_clean(one) for one in cast("list[object]", value) if not _is_placeholder(one)]
    return value


def _is_placeholder(value: object) -> bool:
    return isinstance(value, str) and _PLACEHOLDER.search(value) is not None


# Split Markdown into blocks of lines, separated by blank lines, with the headings and the front matter above each.


_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ABOUT: Final = ("type", "permalink", "owner", "author", "name", "description")
_DAILY: Final = re.compile(r"(\d{4})[-_.](\d{2})[-_.](\d{2})(?!\d)")
_FRONT_LINES_MAX: Final = 200
_TITLE_CHARACTERS: Final = 200


def read_blocks(lines: Lines, source: Source) -> Iterator[Block | Problem]:
    """Parse a page block by block."""
    day = find_day(source.path)
    page = _Page(occurred_us=source.modified_us if day is None else from_datetime(day))
    for line in decode_lines(lines):
        if isinstance(line, Problem):
            yield line
        else:
            yield from page.take(line)
    yield from page.end()


def find_day(path: Path) -> datetime | None:
    """Return the day that the name of a daily note begins with; None for any other note.

    >>> find_day(Path("notes/2026-03-01 Sunday.md")), find_day(Path("2026-13-01.md"))
    (datetime.datetime(2026, 3, 1, 0, 0, tzinfo=datetime.timezone.utc), None)
    """
    found = _DAILY.match(path.name)
    if found is None:
        return None
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC)
    except ValueError:
        return None


@dataclass(slots=True)
class _Page:
    """The parser state at a line: the headings above it, and the current block."""

    occurred_us: int | None
    title: str = ""
    tags: tuple[str, ...] = ()
    about: dict[str, object] = field(default_factory=dict[str, object])
    _front: list[TextLine] = field(default_factory=list[TextLine])
    _path: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    _block: list[TextLine] = field(default_factory=list[TextLine])
    _held: int = 0
    _bare: bool = True
    """The block contains only headings, and waits for text below them."""
    _fence: str = ""

    def take(self, line: TextLine) -> Iterator[Block | Problem]:
        """Parse one line; return the block that it completes, if any."""
        if (line.number == 1 and line.text == "---") or self._front:
            # Front matter without an end is ordinary text.
            self._front.append(line)
            if len(self._front) > 1 and line.text in {"---", "..."}:
                front, self._front = self._front, []
                yield from self._read_front(front[1:-1])
            elif len(self._front) > _FRONT_LINES_MAX:
                yield from self._not_front()
        else:
            yield from self._body_line(line)

    def end(self) -> Iterator[Block | Problem]:
        """Return the last block."""
        yield from self._not_front()
        yield from self._flush()

    def _not_front(self) -> Iterator[Block | Problem]:
        lines, self._front = self._front, []
        for line in lines:
            yield from self._body_line(line)

    def _read_front(self, lines: list[TextLine]) -> Iterator[Problem]:
        front = read_front(lines)
        values = {name: found for name, (_, found) in front.items()}
        self.title = values.get("title", [self.title])[0][:_TITLE_CHARACTERS]
        self.tags = read_tags([*values.get("tags", ()), *values.get("tag", ())])
        self.about = {name: values[name][0][:_TITLE_CHARACTERS] for name in _ABOUT if name in values}
        dated = next((front[name] for name in _DATES if name in front), None)
        if dated is None:
            return
        number, dates = dated
        try:
            self.occurred_us = parse_time(dates[0], UTC)
        except Invalid:
            what = "its date is not RFC 3339; the file's date was used"
            yield Problem(place=f"line {number}", what=what, lost=False)

    def _body_line(self, line: TextLine) -> Iterator[Block]:
        heading = None if self._fence else _HEADING.match(line.text)
        blank = not line.text and not self._fence
        is_full = bool(self._block) and self._held + len(line.text) > BLOCK_CHARACTERS_MAX
        if ((heading or blank) and not self._bare) or is_full:
            yield from self._flush()
        if heading:
            level = len(heading[1])
            title = (heading[2] or "").strip()
            self._path = [(above, name) for above, name in self._path if above < level]
            self._path.append((level, title[:_TITLE_CHARACTERS]))
            if level == 1 and not self.title:
                self.title = title[:_TITLE_CHARACTERS]
        elif not blank:
            self._bare = False
        if line.text or self._block:
            self._block.append(line)
            self._held += len(line.text) + 1
        text = line.text
        found = _FENCE.match(text)
        if found is None:
            return
        if not self._fence:
            self._fence = found[1]
        elif found[1].startswith(self._fence) and not text.strip(" `~"):
            self._fence = ""

    def _flush(self) -> Iterator[Block]:
        block, self._block, self._held, self._bare = self._block, [], 0, True
        if not block:
            return
        details = {**({"title": self.title} if self.title else {}), **self.about}
        if self._path:
            details["headings"] = [name for _, name in self._path]
        for text in cut("\n".join(line.text for line in block).strip("\n")):
            if has_words(text):
                number = block[0].number
                yield Block(text=text, line=number, details=details, tags=self.tags, occurred_us=self.occurred_us)
