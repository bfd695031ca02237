"""Checked access to foreign JSON; errors describe the malformed part and never repeat its text."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from credenda import limits
from credenda.clock import parse_time, to_datetime
from credenda.errors import Invalid
from credenda.portability.importers.format import (
    ForeignMemory,
    Omitted,
    Parsed,
    Piece,
    Problem,
    Source,
    cut,
    make_stable_key,
    name_file_session,
)
from credenda.portability.importers.wording import word_about_user
from credenda.portability.sources import Element, Lines, read_sections
from credenda.text.normalize import normalise_name
from credenda.text.recalled_block import cut_recalled
from credenda.write.intake.validate import Submission

_BOM: Final = b"\xef\xbb\xbf"
_ID_CHARACTERS: Final = 200
_SECOND_US: Final = 1_000_000
_MILLISECONDS: Final = 1e11
"""Numbers above this are milliseconds since 1970, below it seconds."""


class MalformedError(ValueError):
    """An item does not match the format; the message never contains text of the file."""


def parse_table(data: bytes) -> Mapping[str, Any]:
    """Parse one JSON object."""
    try:
        text = data.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        raise MalformedError(f"byte {error.start + 1} is not UTF-8; save the file as UTF-8") from error
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise MalformedError(f"not JSON at character {error.pos + 1}") from error
    except RecursionError as error:
        raise MalformedError("nested too deeply") from error
    except ValueError as error:
        raise MalformedError("a number in it has too many digits") from error
    return require_table(value)


def parse_tables(data: bytes) -> tuple[list[Mapping[str, Any]], str]:
    """Parse a line that should be one JSON object, and return its objects with the fault of the rest.

    Objects that were written at once stand on one line, and a write that was cut off leaves the beginning of one.

    >>> parse_tables(b'{"a": 1}{"a": 2}, '), parse_tables(b'{"a": 1}{"a')
    (([{'a': 1}, {'a': 2}], ''), ([{'a': 1}], 'not JSON at character 9'))
    """
    try:
        return [parse_table(data)], ""
    except MalformedError as error:
        wrong = str(error)
        decoder, found, at = json.JSONDecoder(), list[Mapping[str, Any]](), 0
        try:
            text = data.removeprefix(_BOM).decode()
            while (at := len(text) - len(text[at:].lstrip(" \t\r\n,"))) < len(text):
                value, at = decoder.raw_decode(text, at)
                found.append(require_table(value))
        except (ValueError, RecursionError):
            return found, wrong
        return found, ""


def parse_item(element: Element) -> Table:
    """Parse an item of a list that must be a JSON object."""
    if element.wrong:
        raise MalformedError(element.wrong)
    return parse_table(element.data)


def catch_malformed(place: str, pieces: Iterator[Parsed]) -> Iterator[Parsed]:
    """Pass on what an item yields; where it is malformed, yield a problem and end."""
    try:
        yield from pieces
    except MalformedError as error:
        yield Problem(place=place, what=str(error))


def require_table(value: object, name: str = "it") -> Mapping[str, Any]:
    """Return a value that must be a JSON object; `name` is its name in the error."""
    if not isinstance(value, dict):
        raise MalformedError(f"{name} is not an object")
    return cast("Mapping[str, Any]", value)


def list_of(table: Mapping[str, Any], name: str) -> Sequence[object]:
    """Return a list that must be present."""
    value = table.get(name)
    if not isinstance(value, list):
        raise MalformedError(f"it has no list of {name}")
    return cast("Sequence[object]", value)


def read_json_table(found: object) -> dict[str, object]:
    """Return a table, or one that stands in a text as JSON; empty for anything else."""
    if isinstance(found, str):
        with suppress(ValueError, RecursionError):
            found = json.loads(found)
    return dict(cast("dict[str, object]", found)) if isinstance(found, dict) else {}


def read_text(table: Mapping[str, Any], *names: str) -> str:
    """Return the first of some fields that has a text; "" if none has."""
    found = (table.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value.strip()), "")


def read_moment(value: object) -> datetime | None:
    """Parse a time: RFC 3339, in UTC unless it has a zone, or seconds since 1970; None if there is none."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str):
            return to_datetime(parse_time(value, UTC))
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return to_datetime(round(value * _SECOND_US))
    except (Invalid, OverflowError):
        pass
    raise MalformedError("its time cannot be read")


def read_stamp(value: object) -> object:
    """Return a time in seconds, where it is a number of milliseconds."""
    if isinstance(value, int | float) and abs(value) > _MILLISECONDS:
        return value / 1_000
    return value


def parse_date(text: str, forms: Sequence[str]) -> datetime | None:
    """Parse a time in one of some forms, in UTC; None for any other text."""
    for form in forms:
        with suppress(ValueError):
            return datetime.strptime(text, form).replace(tzinfo=UTC)
    return None


def read_moment_or_none(value: object) -> datetime | None:
    """Parse a time that has a fallback; None for an invalid time."""
    try:
        return read_moment(value)
    except MalformedError:
        return None


def describe_item(item: object, number: int | str, *names: str) -> str:
    """Identify an item in a message: by its id, or by its position."""
    table = cast("dict[str, object]", item) if isinstance(item, dict) else {}
    return make_showable(str(next((table[name] for name in names if isinstance(table.get(name), str | int)), number)))


def make_showable(name: str) -> str:
    """Make a foreign id or file name safe to print: short, without control characters."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in name[:_ID_CHARACTERS])


# JSON files of several lists: each list has a reader for its items, and a malformed item is one problem.


Table = Mapping[str, Any]
Reader = Callable[[Table, str], Iterator[Parsed]]
"""Converts one item of a list; the second argument is its place, for problems."""
_IDS: Final = ("id", "uuid", "source_id", "name", "label")


def read_tables(
    lines: Lines,
    path: Path,
    readers: Mapping[Any, Reader],
    *,
    nouns: Mapping[Any, str] = MappingProxyType({}),
    ids: Sequence[str] = _IDS,
) -> Iterator[Parsed]:
    """Read the lists of a file, each item with the reader of its list.

    The reader of "" gets the items of a file that is itself a list, and the lines of JSON Lines. Problems call an item
    by the noun of its list, else as that is called, and name it by the first of `ids` that it has.
    """
    as_lines = {".jsonl", ".ndjson"} & {one.casefold() for one in path.suffixes}
    found = _list_lines(lines) if as_lines else read_sections(lines, *filter(None, readers))
    for key, element in found:
        place = f"{nouns.get(key) or key.replace('_', ' ') or 'item'} {element.number}"
        try:
            table = parse_item(element)
        except MalformedError as error:
            yield Problem(place=place, what=str(error))
            continue
        place = f"{place} ({describe_item(table, element.number, *ids)})" if ids else place
        if reader := readers.get(key):
            yield from catch_malformed(place, reader(table, place))
        else:
            yield Problem(place=place, what="it is in no list of a name that this format has")


def _list_lines(lines: Lines) -> Iterator[tuple[str, Element]]:
    for line in lines:
        if line.too_long:
            yield "", Element(number=line.number, wrong="the line is too long")
        elif line.data.strip():
            yield "", Element(number=line.number, data=line.data)


def read_whole(lines: Lines) -> bytes:
    """Return the content of a file; raise `MalformedError` if it is larger than an item may be."""
    data = b""
    while more := lines.read(limits.IMPORT_ITEM_BYTES + 1 - len(data)):
        data += more
    if len(data) > limits.IMPORT_ITEM_BYTES:
        raise MalformedError(f"it is larger than {limits.IMPORT_ITEM_BYTES} bytes")
    return data


def omit_items(what: str) -> Reader:
    """Return a reader that leaves out every item of a list."""

    def omit(table: Table, place: str) -> Iterator[Parsed]:
        del table, place
        yield Omitted(what=what)

    return omit


def list_tables(table: Table, name: str) -> list[Table]:
    """Return the tables in a list; empty if there is no such list."""
    found = table.get(name)
    items = cast("Sequence[object]", found) if isinstance(found, list) else ()
    return [cast("Table", one) for one in items if isinstance(one, dict)]


def list_texts(table: Table, name: str) -> list[str]:
    """Return the texts in a list; empty if there is no such list."""
    found = table.get(name)
    items = cast("Sequence[object]", found) if isinstance(found, list) else ()
    return [one for one in items if isinstance(one, str) and one.strip()]


_OMITTED_BLOCKS: Final = {"tool_use": "tool calls", "tool_result": "tool results", "thinking": "thoughts"}


def count_omitted_blocks(content: object) -> Iterator[Omitted]:
    """Yield the blocks of a message of Claude that are not read: calls of tools, their results, and thoughts."""
    for block in list_tables({"content": content}, "content"):
        if what := _OMITTED_BLOCKS.get(read_text(block, "type")):
            yield Omitted(what=what)


def read_message_text(content: object) -> str:
    """Return the text of a message: plain, in blocks of type text, or in an object with a text."""
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, dict):
        table = cast("Table", content)
        parts = table.get("parts")
        return read_message_text(cast("object", parts)) if isinstance(parts, list) else read_text(table, "text").strip()
    if not isinstance(content, list):
        return ""
    texts: list[str] = []
    for block in cast("Sequence[object]", content):
        if isinstance(block, str):
            texts.append(block.strip())
        elif isinstance(block, dict) and cast("Table", block).get("type", "text") in _SPOKEN:
            texts.append(read_text(cast("Table", block), "text", "content").strip())
    return "\n\n".join(text for text in texts if text)


_SPOKEN: Final = ("text", "input_text", "output_text")


# Conversations with an assistant, common to all transcripts: alternating messages.


_TITLE_CHARACTERS: Final = 200
_NAME_CHARACTERS: Final = 100
_MESSAGE_ID_CHARACTERS: Final = 64


@dataclass(slots=True, kw_only=True)
class Talk:
    """One conversation while it is parsed.

    `latest` is the latest time so far, which a message without a time gets; before any, it gets the file's time,
    `aged_us`.
    """

    agent: str
    session: str
    user_id: str
    latest: datetime | None = None
    aged_us: int | None = None
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])

    @classmethod
    def begin(cls, agent: str, source: Source, session: str, *, title: str = "", begun: object = None) -> Talk:
        """Make a conversation; in an export it may have a title and a time of its own."""
        named = mend_surrogates(title)[:_TITLE_CHARACTERS]
        return cls(
            agent=agent,
            session=session,
            user_id=source.user_id,
            latest=read_moment_or_none(begun),
            aged_us=source.modified_us,
            metadata={"title": named} if named else {},
        )

    def pieces(
        self, place: str, role: str, said: str, key: tuple[str, ...], *, moment: object, id: str = "", name: str = ""
    ) -> Iterator[Parsed]:
        """Yield a message without recalled memories; one that is larger than an event is split, without loss.

        `key` identifies it permanently, `place` is its position in the file, `moment` the time as written there.
        """
        if not said.strip():
            yield Omitted(what="messages without words")
            return
        try:
            self.latest = read_moment(moment) or self.latest
        except MalformedError as error:
            yield Problem(place=place, what=f"{error}; the time of the previous message was used")
        text = cut_recalled(mend_surrogates(said))
        if not text.strip():
            return
        parts = [text] if len(text.encode()) <= limits.EVENT_TEXT_BYTES else list(cut(text))
        aged = None if self.aged_us is None else to_datetime(self.aged_us)
        for number, part in enumerate(parts):
            more = (str(number),) if number else ()
            named = {"name": name} if name else {}
            submission = Submission(
                content=[{"role": role, "content": part, "id": id[:_MESSAGE_ID_CHARACTERS], **named}],
                user_id=self.user_id,
                session=self.session,
                agent=self.agent or None,
                occurred_at=self.latest or aged,
                metadata=self.metadata,
                idempotency_key=make_stable_key(self.agent or "messages", *key, *more),
            )
            yield Piece(place=place, submission=submission, by_content=self.latest is None)


def name_speaker(name: str, user_id: str) -> tuple[str, str]:
    """Return role and name of a person in a chat; only one with the name of the memory's user is the user.

    >>> name_speaker("Ana", "ana"), name_speaker(" Ben", "ana")
    (('user', ''), ('person', 'Ben'))
    """
    shown = mend_surrogates(name).strip().lstrip("~\u200e\u202a").strip()
    mine = normalise_name(shown) in {"user", "you", normalise_name(user_id)}
    return ("user", "") if mine else ("person", shown[:_NAME_CHARACTERS])


def mend_surrogates(text: str) -> str:
    r"""Join separate surrogate pairs, and replace lone surrogates.

    >>> mend_surrogates("\ud83d\ude00"), mend_surrogates("cut \ud83d")
    ('😀', 'cut �')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


# Facts from another memory: statements that were extracted already.


def make_statement(  # noqa: PLR0913 - what another memory says about one
    source: Source,
    place: str,
    text: str,
    key: tuple[str, ...],
    *,
    role: str = "user",
    memory_type: str = "fact",
    occurred_at: datetime | int | None = None,
    expires_at: datetime | None = None,
    session: str = "",
    topic: str | None = None,
    tags: tuple[str, ...] = (),
    metadata: Mapping[str, object] | None = None,
    held: ForeignMemory | None = None,
    worded: bool = False,
) -> Piece:
    """Make one statement a submission; the same statement with another time is the same.

    `key` identifies it permanently, and without `occurred_at`, a time or its microseconds, it has the time of its file.
    `expires_at` is the time at which the other memory says that it ended. A memory that keeps its status is `held`.
    `worded` means that its text names its subject; otherwise, words of the user are about the user.
    """
    moment = source.modified_us if occurred_at is None else occurred_at
    text = mend_surrogates(text)
    submission = Submission(
        content=[{"role": role, "content": text if role != "user" or worded or held else word_about_user(text)}],
        user_id=source.user_id,
        topic=topic,
        session=session or name_file_session(source),
        source="ingest",
        occurred_at=to_datetime(moment) if isinstance(moment, int) else moment,
        expires_at=expires_at,
        tags=tags,
        metadata=metadata or {},
        memory_type=None if held else memory_type,
        idempotency_key=make_stable_key(*key),
    )
    return Piece(place=place, submission=submission, by_content=True, held=held)
