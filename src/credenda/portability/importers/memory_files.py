"""Files of other memories: the MCP memory server, Portable AI Memory, lists copied from a chat, and Suzent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from credenda.clock import from_datetime, parse_time, to_datetime
from credenda.errors import Invalid
from credenda.model.memory import Draft, Layer, MemoryType, Status
from credenda.portability.files.folder import CONSOLIDATION_STATE, Folder, find_days_of_lines
from credenda.portability.files.next_state import read_deleted_texts
from credenda.portability.files.parse import Parsed as Page
from credenda.portability.files.parse import Said, has_marks, keep_statements, parse
from credenda.portability.files.render import ARCHIVE, PAGES
from credenda.portability.files.state import Text, Tier
from credenda.portability.importers.format import (
    BLOCK_CHARACTERS_MAX,
    Boundary,
    Deletion,
    ForeignMemory,
    Format,
    Omitted,
    Parsed,
    Problem,
    Source,
    decode_lines,
    has_words,
    list_key_paths,
    make_document_pieces,
    make_signs,
    read_tags,
)
from credenda.portability.importers.json_checks import (
    MalformedError,
    Reader,
    Table,
    catch_malformed,
    list_of,
    list_texts,
    make_statement,
    mend_surrogates,
    omit_items,
    parse_date,
    parse_tables,
    read_json_table,
    read_moment,
    read_moment_or_none,
    read_tables,
    read_text,
    read_whole,
)
from credenda.portability.importers.messages import read_message, start_talk
from credenda.portability.importers.wording import name_user, show_name, word_observation, word_relation
from credenda.portability.sources import Line, Lines, Place
from credenda.private import cut_tagged

_MCP_MEMORY_HEAD: Final = re.compile(rb'\s*\{[^\n]*"type"\s*:\s*"(?:entity|relation)"')
_SHAPE: Final = re.compile(rb'"(?:entityType|relationType|observations)"\s*:')
_ZERO: Final = b"\x00"
_KEYS: Final = frozenset({"entityType", "relationType", "observations"})
_LISTS: Final = {"entities": "entity", "relations": "relation"}


class McpMemoryFormat(Format):
    """The knowledge graph of `@modelcontextprotocol/server-memory`."""

    name = "mcp-memory"
    endings = (".jsonl", ".json", ".jsonl.gz", ".json.gz")

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with an entity or a relation."""
        del path
        lines = _MCP_MEMORY_HEAD.match(head) is not None and _SHAPE.search(head) is not None
        return lines or (_is_whole(head) and _SHAPE.search(head) is not None)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse each line, or each item of a list, and yield its statements."""
        if _is_whole(lines.head()):
            read = partial(_read_table, source=source)
            readers = dict.fromkeys(("", *_LISTS), read)  # a list, whatever its name says of lines
            yield from read_tables(lines, Path(), readers, nouns=_LISTS, ids=())
            return
        for line in lines:
            if line.too_long:
                yield Problem(place=f"line {line.number}", what="the line is too long")
            elif line.data.strip():
                yield from _read_line(line, source)


def _is_whole(head: bytes) -> bool:
    """Return whether a file is one list, or one object with lists."""
    paths = list_key_paths(head)
    listed = head.lstrip().startswith(b"[") and bool(paths & _KEYS)
    return listed or any(f"{name}.{key}" in paths for name in _LISTS for key in _KEYS)


def _read_line(line: Line, source: Source) -> Iterator[Parsed]:
    place = f"line {line.number}"
    tables, wrong = parse_tables(line.data.replace(_ZERO, b""))
    for table in tables:
        yield from catch_malformed(place, _read_table(table, place, source))
    if wrong or _ZERO in line.data:
        yield Problem(place=place, what=wrong or "zero bytes are left out: what was written there is lost")


def _read_table(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    kind = table.get("type")
    if kind == "entity" or (kind is None and "observations" in table):
        name, entity_kind = _require_name(table, "name"), read_text(table, "entityType")
        observations = list_of(table, "observations")
        about = {"entity": name, "entity_type": entity_kind}
        for number, found in enumerate(observations, 1):
            spot = f"{place}, observation {number}"
            if not isinstance(found, str) or not found.strip():
                yield Problem(place=spot, what="it is not text, or empty")
                continue
            observation = mend_surrogates(found)
            text, key = word_observation(name, observation.strip()), ("mcp-memory", name, observation)
            yield make_statement(source, spot, text, key, metadata={**about, "observation": observation}, worded=True)
        if not observations:
            text = f"{show_name(name)} ({entity_kind})" if entity_kind else show_name(name)
            yield make_statement(source, place, text, ("mcp-memory", name), metadata=about, worded=True)
    elif kind == "relation" or (kind is None and "relationType" in table):
        begin, relation_kind, end = (_require_name(table, name) for name in ("from", "relationType", "to"))
        text, key = word_relation(begin, relation_kind, end), ("mcp-memory", begin, relation_kind, end)
        metadata = {"relation": {"from": begin, "to": end, "type": relation_kind}}
        yield make_statement(source, place, text, key, metadata=metadata, worded=True)
    else:
        raise MalformedError("it is neither an entity nor a relation")


def _require_name(table: Table, name: str) -> str:
    found = read_text(table, name)
    if not found:
        raise MalformedError(f"it has no {name}")
    return found


# Texts of another memory's documents: blocks between blank lines, with the document's name and time.


_BLANK: Final = re.compile(r"\n[ \t]*\n")


def make_prose_pieces(
    text: str, source: Source, *, place: str, name: str = "", moment: datetime | None = None, tags: tuple[str, ...] = ()
) -> Iterator[Parsed]:
    """Yield the blocks of a text as statements of a document; without a time they have that of the file."""
    occurred_us, details = None if moment is None else from_datetime(moment), {"document": name} if name else {}
    for block in _BLANK.split(cut_tagged(mend_surrogates(text))):
        yield from make_document_pieces(
            block.strip(), source, place, occurred_us=occurred_us, details=details, tags=tags
        )


# Portable AI Memory 1.0: memory stores, and the conversations beside them.


PAM: Final = "pam"
_SCHEMA: Final = b"portable-ai-memory"
_TALK: Final = b"portable-ai-memory-conversation"
_VECTORS: Final = b"portable-ai-memory-embeddings"
PAM_TYPES: Final = {"preference": "preference", "instruction": "preference"}
"""Types that have one of ours; `custom_type` may be one of ours too, and any other type is a fact."""
_OURS: Final = frozenset({"decision", "procedure", "preference", "fact", "narrative"})
_ENDED: Final = frozenset({"superseded", "deprecated", "archived"})
_RETRACTED: Final = "retracted"


class PamFormat(Format):
    """Files of Portable AI Memory."""

    name = PAM
    signs = make_signs((b'"schema"', _SCHEMA))

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse memories, or the messages of a conversation."""
        head = lines.head()
        if _VECTORS in head:
            yield from read_tables(lines, source.path, {"embeddings": omit_items("embeddings")})
            return
        if _TALK in head:
            yield from _read_conversation(lines, source)
            return
        readers: dict[str, Reader] = {
            "memories": partial(_read_memory, source=source),
            "relations": omit_items("relations"),
            "conversations_index": omit_items("conversation references"),
        }
        yield from read_tables(lines, source.path, readers)


def _read_conversation(lines: Lines, source: Source) -> Iterator[Parsed]:
    yield Boundary()
    talk = start_talk(source)
    number = 0

    def read(table: Table, place: str) -> Iterator[Parsed]:
        nonlocal number
        number += 1
        if table.get("is_thought") is True:
            yield Omitted(what="thoughts")
        else:
            yield from read_message(table, place, talk, number)

    yield from read_tables(lines, source.path, {"messages": read})


def _read_memory(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    """Yield a memory; one that was replaced or put away is imported as expired, a retracted one is left out."""
    text = read_text(table, "content")
    if not text:
        raise MalformedError("it has no content")
    status = read_text(table, "status") or "active"
    if status == _RETRACTED:
        yield Omitted(what="retracted memories")
        return
    time = read_json_table(table.get("temporal"))
    created = read_moment(time.get("created_at"))
    ended = read_moment(time.get("valid_until"))
    if ended is None and status in _ENDED:
        ended = read_moment(time.get("updated_at")) or created
        if ended is None:
            raise MalformedError(f"it is {status} and has no time")
    named = read_text(table, "custom_type") or read_text(table, "type")
    origin = read_text(read_json_table(table.get("provenance")), "platform")
    sure = read_json_table(table.get("confidence")).get("current")
    yield make_statement(
        source,
        place,
        text,
        (PAM, read_text(table, "id"), text),
        memory_type=named if named in _OURS else PAM_TYPES.get(named, "fact"),
        occurred_at=read_moment(time.get("valid_from")) or created,
        expires_at=ended,
        tags=read_tags(list_texts(table, "tags")),
        metadata={
            **({"platform": origin} if origin else {}),
            **({"pam_type": named} if named else {}),
            **({"status": status} if status != "active" else {}),
            **({"confidence": sure} if isinstance(sure, int | float) and not isinstance(sure, bool) else {}),
            **read_json_table(table.get("metadata")),
        },
    )


# Saved memories of ChatGPT and Claude, copied out as text: one memory a line, with a date where there is one.


_DATED: Final = re.compile(
    r"\s*(?:[-*•]|\d{1,4}[.)])?\s*\[(?P<date>[^\]\n]{1,40})\]\s*[-–—:]?\s*(?P<text>\S.*)", re.DOTALL
)
_LISTED: Final = re.compile(r"\s*(?:[-*•]|\d{1,4}[.)])\s+(?P<text>\S.*)", re.DOTALL)
_MEMORY_LIST_HEAD: Final = re.compile(
    rb"^\s*(?:[-*] |\d{1,4}[.)] )?\[(?:\d{4}-\d{2}-\d{2}|unknown|no date|date unknown|n/a)[^\]\n]{0,30}\]\s*[-\xe2:]",
    re.MULTILINE | re.IGNORECASE,
)
_HEADING: Final = re.compile(r"(?:#{1,6}\s+(.*)|\*\*([^*]{1,80}?):?\*\*:?|([A-Z][\w ,&/'-]{1,60}):)\s*$")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_MONTHS: Final = ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%B %Y", "%b %Y", "%Y-%m", "%Y")
_UNDATED: Final = frozenset({"unknown", "no date", "date unknown", "n/a", "none", "undated", "not available"})
_BOLD: Final = re.compile(r"\*\*(.+?)\*\*")


class MemoryListFormat(Format):
    """Saved memories as text: `[2026-03-01] - Prefers tea`, a list, or plain lines."""

    name = "memories"
    endings = (".txt", ".md")
    begins = _MEMORY_LIST_HEAD

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse each line as a memory; a line that is indented below it continues it."""
        heading, waiting = "", ""
        number = 0
        for line in decode_lines(lines):
            if isinstance(line, Problem):
                yield line
                continue
            number = number or line.number
            fresh = not (waiting and line.text.startswith(("  ", "\t")) and not _LISTED.match(line.text))
            if not fresh and len(waiting) + len(line.text) < BLOCK_CHARACTERS_MAX:
                waiting = f"{waiting} {line.text.strip()}"
                continue
            yield from _read_entry(waiting, number, heading, source)
            waiting, number = "", line.number
            found = _HEADING.fullmatch(line.text.strip())
            if found:
                heading = next(one for one in found.groups() if one is not None).strip()
                yield Omitted(what="headings")
            elif not _FENCE.match(line.text):
                waiting = line.text
        yield from _read_entry(waiting, number, heading, source)


def _read_entry(line: str, number: int, heading: str, source: Source) -> Iterator[Parsed]:
    if not has_words(line):
        return
    place = f"line {number}"
    found = _DATED.fullmatch(line)
    moment: datetime | None = None
    text = line
    if found:
        date = found["date"].strip()
        moment = _read_date(date)
        if moment is None and date.casefold() not in _UNDATED:
            yield Problem(place=place, what="its date cannot be read; the file's date was used")
        text = found["text"]
    elif listed := _LISTED.fullmatch(line):
        text = listed["text"]
    text = _BOLD.sub(r"\1", text).strip()
    if len(text) > BLOCK_CHARACTERS_MAX:
        yield Problem(place=place, what="the memory is too long")
        return
    named, details = name_user(text, source.user_id), {"section": heading} if heading else {}
    yield make_statement(source, place, named, ("memories", text), occurred_at=moment, metadata=details)


def _read_date(text: str) -> datetime | None:
    """Return a date as people and programs write it; None if it is none."""
    try:
        return to_datetime(parse_time(text, UTC))
    except (Invalid, OverflowError):
        pass
    return parse_date(text, _MONTHS)


# Suzent: its memory folder, with consolidated entries, day files, tombstones and the watermark between them.


_CORE: Final = "memory.md"
_USER: Final = "user.md"
_DAY: Final = re.compile(r"(\d{4}-\d{2}-\d{2})\.md", re.IGNORECASE)
_ENTRY: Final = re.compile(rb'<!--m \{(?!"id")[^\n]{0,500}"first_seen"')
_FOLDED: Final = "folded into an entry of Suzent before its watermark"
_ANY_TIME: Final = 1 << 62


def locate(path: Path) -> Place:
    """Return the place of a file on disk."""
    return Place(PurePosixPath(path.as_posix()), lambda name: Folder(Path(name).parent).load(name.name))


@dataclass(frozen=True, slots=True)
class _Root:
    """The folder of Suzent to which a page belongs, on disk or in a zip."""

    page: Place

    @property
    def path(self) -> PurePosixPath:
        above = self.page.path.parent
        return above.parent if above.name in (ARCHIVE, PAGES) else above

    def load(self, name: str) -> bytes:
        return self.page.load(self.path / name)

    def has_day(self, day: str) -> bool:
        return bool(self.load(f"{ARCHIVE}/{day}.md"))


class SuzentFormat(Format):
    """The folder in which Suzent keeps its memory."""

    name = "suzent"
    endings = (".md",)

    def is_day(self, place: Place) -> bool:
        """Return whether a file has the lines of a day."""
        return place.path.parent.name == ARCHIVE and _DAY.fullmatch(place.path.name) is not None

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a page lies in a folder with the state of Suzent, or has its entries."""
        return self.recognises_at(head, locate(path))

    def recognises_at(self, head: bytes, place: Place) -> bool:
        """Return the same for a page that may lie in a zip."""
        entered = place.path.parent.name == PAGES and _ENTRY.search(head) is not None
        return self.takes(place.path.name) and (entered or bool(_Root(place).load(CONSOLIDATION_STATE)))

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse a page by its place in the folder, after its deletions."""
        found = source.place or locate(source.path)
        folder = _Root(found)
        for deleted in read_deleted_texts(folder):
            yield Deletion(text=deleted)
        try:
            text = read_whole(lines).decode("utf-8-sig")
        except (MalformedError, UnicodeDecodeError) as error:
            what = str(error) if isinstance(error, MalformedError) else "not UTF-8 text; save the file as UTF-8"
            yield Problem(place="file", what=what)
            return
        place = found.path.relative_to(folder.path).as_posix()
        page = keep_statements(parse(text), place)
        if has_marks(page):
            yield Omitted(what="pages of Credenda")
        elif place.casefold() == _CORE:
            yield Omitted(what="lines of the core", count=sum(isinstance(one, Said) for one in page.blocks))
        elif place.casefold() == _USER or found.path.parent.name in (ARCHIVE, PAGES):
            yield from _read_lines(page, place, folder, source)
        else:
            yield from make_prose_pieces(text, source, place="page", name=source.path.stem)


def _read_lines(page: Page, place: str, folder: _Root, source: Source) -> Iterator[Parsed]:
    """Yield the entries of a page, or the lines of a day, each with its time."""
    state = read_json_table(folder.load(CONSOLIDATION_STATE).decode("utf-8-sig", "replace"))
    watermark, named = read_text(state, "watermark_date")[:10], _DAY.fullmatch(source.path.name)
    folded = named is not None and named[1] <= watermark
    times = find_days_of_lines(Text(place, Tier.ARCHIVE, page), UTC, _ANY_TIME, told=folder.has_day)
    for number, block in enumerate(page.blocks):
        if not isinstance(block, Said) or not has_words(block.text):
            continue
        moment = read_moment_or_none(times.get(number))
        yield make_statement(
            source,
            f"line {number + 1}",
            block.text,
            ("suzent", place, block.text),
            occurred_at=moment,
            metadata={"document": source.path.stem},
            held=_hold(place, block.text, watermark if folded else ""),
        )


def _hold(place: str, text: str, watermark: str) -> ForeignMemory:
    """Return a line that is believed, or that was folded into an entry before the watermark."""
    ended = read_moment_or_none(watermark)
    return ForeignMemory(
        id=f"{place} {text}",
        draft=Draft(
            text="",
            type=MemoryType.FACT,
            layer=Layer.EPISODIC if watermark else Layer.SEMANTIC,
            status=Status.MERGED if watermark else Status.ACTIVE,
            valid_until_us=None if ended is None else from_datetime(ended),
        ),
        reason=_FOLDED if watermark else "",
    )
