"""Notes and plain documents: Markdown, text, Obsidian, and the memory folders of agents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from credenda.clock import to_datetime
from credenda.portability.importers.format import (
    BLOCK_CHARACTERS_MAX,
    Block,
    Format,
    Omitted,
    Parsed,
    Piece,
    Problem,
    Source,
    TextLine,
    cut,
    decode_lines,
    find_day,
    has_words,
    make_document_piece,
    read_blocks,
    read_tags,
)
from credenda.portability.importers.json_checks import Statement, make_statement_piece, read_whole_name
from credenda.portability.importers.wording import word_observation
from credenda.portability.sources import Lines

_MARKDOWN_ENDINGS: Final = frozenset({".md", ".markdown", ".mdown"})


class MarkdownFormat(Format):
    """Notes with headings."""

    name = "markdown"

    def takes(self, member: str) -> bool:
        """Return whether a file has a Markdown name."""
        return is_markdown(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether the file has a Markdown name and contains no binary data."""
        return is_markdown(path.name) and b"\x00" not in head

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem]:
        """Parse the file block by block."""
        for block in read_blocks(lines, source):
            yield block if isinstance(block, Problem) else make_document_piece(block, source)


def is_markdown(name: str) -> bool:
    """Return whether a file has a Markdown name."""
    return PurePosixPath(name.casefold().removesuffix(".gz")).suffix in _MARKDOWN_ENDINGS


# Plain text: each block between blank lines is one event.


_TEXT_ENDINGS: Final = frozenset({".txt", ".text", ".log", ""})


class TextFormat(Format):
    """Text files without markup."""

    name = "text"

    def takes(self, member: str) -> bool:
        """Return whether a file has a text name, and is not hidden."""
        return PurePosixPath(member).suffix.casefold() in _TEXT_ENDINGS - {""}

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether the file has a text name and contains no binary data."""
        return path.suffix.casefold() in _TEXT_ENDINGS and b"\x00" not in head

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem]:
        """Parse the file block by block."""
        block: list[TextLine] = []
        held = 0
        for line in decode_lines(lines):
            if isinstance(line, Problem):
                yield line
                continue
            if block and (not line.text or held + len(line.text) > BLOCK_CHARACTERS_MAX):
                yield from _read_text_block(block, source)
                block, held = [], 0
            if line.text:
                block.append(line)
                held += len(line.text) + 1
        yield from _read_text_block(block, source)


def _read_text_block(block: list[TextLine], source: Source) -> Iterator[Piece]:
    for text in cut("\n".join(line.text for line in block)):
        if has_words(text):
            yield make_document_piece(Block(text=text, line=block[0].number, occurred_us=source.modified_us), source)


# Notes of Obsidian and basic-memory: Markdown whose list items may be observations and relations.


_OBSIDIAN_HEAD: Final = re.compile(
    rb"\A---\r?\n(?:[^\n]*\n){0,60}?permalink\s*:|\[\[[^\]\n]{1,300}\]\]|^[ \t]*[-*+] \[[^\W\d_][\w -]{1,60}\] \S",
    re.MULTILINE,
)
_OBSERVATION: Final = re.compile(r"\s*[-*+] \[([^\W\d_][\w /-]{1,63})\] +(\S.*)$")
"""- [category] text #tag (context); one letter in the brackets is a task that is done."""
_RELATION: Final = re.compile(r"\s*[-*+] ([^\W\d_][\w /-]{0,63}?) +\[\[([^\[\]\n]{1,300})\]\](?: *\((.*)\))?\s*$")
"""- relation [[Target]] (context)."""
_LINK: Final = re.compile(r"( ?!)?\[\[([^\[\]\n|]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]")
_COMMENT: Final = re.compile(r" ?%%[^%]{0,10000}%%")
_TAG: Final = re.compile(r"(?:(?<=\s)|^)#([^\W\d_][\w/-]*)")
_SPACES: Final = re.compile(r"[ \t]{2,}")
_JOINT: Final = re.compile(r"[_\s]+")
_OBSIDIAN_TYPES: Final = {
    "preference": "preference",
    "decision": "decision",
    "procedure": "procedure",
    "rule": "procedure",
    "howto": "procedure",
}
"""Categories that map to a memory type; any other is a fact."""


_PERSONS: Final = frozenset({"person", "people", "contact"})
"""Types of notes about a person."""


class ObsidianFormat(Format):
    """Notes that link to each other: a single note, or a vault."""

    name = "obsidian"

    def takes(self, member: str) -> bool:
        """Return whether a file has a Markdown name."""
        return is_markdown(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a note contains links, observations, or a permalink."""
        return is_markdown(path.name) and b"\x00" not in head and _OBSIDIAN_HEAD.search(head) is not None

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem]:
        """Parse a note block by block."""
        title = source.path.name.partition(".")[0].encode("utf-8", "replace").decode()
        for block in read_blocks(lines, source):
            if isinstance(block, Problem):
                yield block
            else:
                named = title if find_day(source.path) else str(block.details.get("title") or title)
                yield from _read_obsidian_block(block, named, source)


def _read_obsidian_block(block: Block, title: str, source: Source) -> Iterator[Piece]:
    """Extract the statements of a block, and return the rest as prose."""
    rest: list[str] = []
    fenced = "```" in block.text or "~~~" in block.text
    for line in block.text.split("\n"):
        statement = None if fenced else _read_observation(line, block, title) or _read_relation(line, block, title)
        if statement is None:
            rest.append(line)
        else:
            yield make_statement_piece(statement, source)
    text = "\n".join(rest).strip("\n")
    taken = len(rest) < block.text.count("\n") + 1
    if has_words(text) and not (
        taken
        and all(not line.strip() or (line.lstrip().startswith("#") and not _TAG.match(line.strip())) for line in rest)
    ):
        prose = text if fenced else _strip_markup(text)
        tags = block.tags if fenced else read_tags([*block.tags, *_TAG.findall(text)])
        if has_words(prose):
            yield make_document_piece(replace(block, text=prose, tags=tags), source)


def _read_observation(line: str, block: Block, title: str) -> Statement | None:
    found = _OBSERVATION.match(line)
    if found is None:
        return None
    category, said = found[1], found[2]
    text = _SPACES.sub(" ", _TAG.sub("", _strip_markup(said))).strip()
    if not has_words(text):
        return None
    owner = _find_owner(block, title)
    return Statement(
        place=f"line {block.line}",
        text=word_observation(owner, text) if owner else text,
        key=("observation", title, category, said),
        role="document",
        memory_type=_OBSIDIAN_TYPES.get(category.casefold(), "fact"),
        occurred_at=None if block.occurred_us is None else to_datetime(block.occurred_us),
        tags=read_tags([*block.tags, *_TAG.findall(said)]),
        metadata={**block.details, "note": title, "category": category, **({"owner": owner} if owner else {})},
    )


def _find_owner(block: Block, title: str) -> str:
    """Return the person whose observations a note has: its owner or author, or the person that it is about."""
    named = block.details.get("owner") or block.details.get("author")
    if named:
        return str(named)
    return title if str(block.details.get("type", "")).casefold() in _PERSONS else ""


def _read_relation(line: str, block: Block, title: str) -> Statement | None:
    found = _RELATION.match(line)
    if found is None:
        return None
    kind, target, context = found[1], _show_link(found[2]), found[3]
    more = f" ({_strip_markup(context)})" if context else ""
    return Statement(
        place=f"line {block.line}",
        text=f"{title} {_JOINT.sub(' ', kind)} {target}{more}",
        key=("relation", title, kind, target, context or ""),
        role="document",
        occurred_at=None if block.occurred_us is None else to_datetime(block.occurred_us),
        tags=block.tags,
        metadata={**block.details, "note": title, "relation": {"from": title, "to": target, "type": kind}},
    )


def _strip_markup(text: str) -> str:
    """Replace links by their visible text, and remove comments and embedded files."""
    return _LINK.sub(lambda found: "" if found[1] else _show_link(found[0]), _COMMENT.sub("", text))


def _show_link(link: str) -> str:
    target, _, alias = link.strip("[]").partition("|")
    page, _, heading = target.partition("#")
    return (alias or page or heading.lstrip("^")).strip()


# Memory folders of coding agents: `MEMORY.md` and the pages beside it, of Claude Code, Codex and VS Code.


_MAIN: Final = ("memory.md", "memory_summary.md")
_OURS: Final = (b"credenda:", b"<!--m", b"<!--entries ")
_RAW: Final = frozenset({"raw_memories.md"})
_RAW_FOLDERS: Final = frozenset({"rollout_summaries", "session"})
"""Pages from which the others were made, or that end with their session."""
_POINTER: Final = re.compile(r"\s*[-*+]\s*\[[^\]\n]{1,200}\]\([^)\n]{1,300}\.md[^)\n]{0,100}\).*")
_MEMORY_FOLDER_ITEM: Final = re.compile(r"(\s*)(?:[-*+]|\d{1,4}[.)])\s+(\S.*)")
_MEMORY_FOLDER_TYPES: Final = {"feedback": "preference", "preference": "preference"}


def is_agents_alone(path: str, text: str) -> bool:
    """Return whether an entry of a page is of use to the agent alone: a raw note, or a pointer of an index to a page.

    `path` is that of the page in the folder, with slashes.

    >>> is_agents_alone("MEMORY.md", "[Role](role.md): who the user is"), is_agents_alone("role.md", "Likes tea")
    (True, False)
    """
    parts = PurePosixPath(path).parts
    raw = parts[-1].casefold() in _RAW or not _RAW_FOLDERS.isdisjoint(parts[:-1])
    return raw or _POINTER.fullmatch(f"- {text}") is not None


class MemoryFolderFormat(Format):
    """Folders such as `~/.claude/projects/P/memory`, `~/.codex/memories` and `/memories`."""

    name = "memory-folder"

    def takes(self, member: str) -> bool:
        """Return whether a file is a page."""
        return is_markdown(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a page is the main page of such a folder, and not one of `files sync`."""
        named = path.name.casefold() in _MAIN
        return named and b"\x00" not in head and not any(mark in head for mark in _OURS)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse a page: each list item, and each paragraph outside of lists, is an entry."""
        if source.path.name.casefold() in _RAW or _RAW_FOLDERS & set(source.path.parts[:-1]):
            for _ in lines:
                pass
            yield Omitted(what="pages of raw notes")
            return
        for block in read_blocks(lines, source):
            if isinstance(block, Problem):
                yield block
            else:
                yield from _read_memory_folder_block(block, source)


def _read_memory_folder_block(block: Block, source: Source) -> Iterator[Parsed]:
    for text in _split_entries(block.text):
        if _POINTER.fullmatch(text):
            yield Omitted(what="lines of an index")
        elif has_words(text):
            kind = str(block.details.get("type") or "")
            name = source.path.name.encode("utf-8", "replace").decode()
            statement = Statement(
                place=f"line {block.line}",
                text=text.strip(),
                key=("memory-folder", text.strip()),
                role="document",
                memory_type=_MEMORY_FOLDER_TYPES.get(kind, "fact"),
                occurred_at=None if block.occurred_us is None else to_datetime(block.occurred_us),
                tags=block.tags,
                metadata={"document": name, **_name_folder(source), **block.details},
            )
            yield make_statement_piece(statement, source)


def _split_entries(text: str) -> Iterator[str]:
    """Yield list items with the lines below them, and the other lines together; headings and fences are no entries."""
    if "```" in text or "~~~" in text:
        yield text.strip()
        return
    entry: list[str] = []
    for line in text.split("\n"):
        found = _MEMORY_FOLDER_ITEM.match(line)
        heading = line.lstrip().startswith("#")
        if found or heading:
            yield "\n".join(entry)
            pointer = found is not None and _POINTER.fullmatch(line) is not None
            entry = [] if heading else [line.strip() if pointer else found[2] if found else line]
        else:
            entry.append(line.strip())
    yield "\n".join(entry)


def _name_folder(source: Source) -> dict[str, str]:
    """Return the project of a folder of Claude Code, which its path names."""
    parts = PurePosixPath(source.path.as_posix()).parts
    if "projects" in parts[:-2]:
        found = parts[parts.index("projects") + 1]
        return {"project": found.encode("utf-8", "replace").decode()}
    return {}


# Memory files of Hermes: `§` parts entries; `USER.md` is about the user, `MEMORY.md` has the notes of the agent.


_FILES: Final = ("memory.md", "user.md")
_ABOUT_USER: Final = "user.md"
_BORDER: Final = "\u00a7"
_HERMES_HEAD: Final = re.compile("^\u00a7[ \t]*\r?$".encode(), re.MULTILINE)


class HermesFormat(Format):
    """`~/.hermes/memories`, or one of its files."""

    name = "hermes"

    def takes(self, member: str) -> bool:
        """Return whether a file is one of the two."""
        return PurePosixPath(member).name.casefold() in _FILES

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file has a border between entries; one with a single entry needs the other beside it."""
        return self.takes(path.name) and _HERMES_HEAD.search(head) is not None

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse entry after entry."""
        entry: list[str] = []
        number = 0
        for line in decode_lines(lines):
            if isinstance(line, Problem):
                yield line
            elif line.text.strip() == _BORDER:
                yield from _read_entry(entry, number, source)
                entry, number = [], 0
            else:
                number = number or line.number
                entry.append(line.text)
        yield from _read_entry(entry, number, source)


def _read_entry(entry: list[str], number: int, source: Source) -> Iterator[Parsed]:
    text = "\n".join(entry).strip()
    if not has_words(text):
        return
    place = f"line {number}"
    if len(text) > BLOCK_CHARACTERS_MAX:
        yield Problem(place=place, what="the entry is too long")
        return
    about_user = source.path.name.casefold() == _ABOUT_USER
    statement = Statement(
        place=place,
        text=text,
        key=("hermes", source.path.name.casefold(), text),
        role="user" if about_user else "document",
        occurred_at=None if source.modified_us is None else to_datetime(source.modified_us),
        metadata={"document": read_whole_name(source.path)},
    )
    yield make_statement_piece(statement, source)


# Workspaces of OpenClaw: `USER.md` is about the user, `IDENTITY.md` and `SOUL.md` about the agent, notes have days.


_USER: Final = "user.md"
_USER_CHARACTERS: Final = 1 << 16
_AGENT: Final = ("identity.md", "soul.md")
_NOTES: Final = ("memory.md",)
_FOLDER: Final = "memory"
_LABEL: Final = re.compile(r"\s*[-*+]\s+\*\*([^*\n]{1,60}?):?\*\*:?\s*(.*)")
_OPENCLAW_ITEM: Final = re.compile(r"\s*[-*+]\s+(\S.*)")
_EMPTY: Final = re.compile(r"[_*]*\(.*\)[_*]*\.?|[_*]+[^_*]*[_*]+|[-\u2013?\u2026.]*|(?i:tbd|unknown|none|n/a)")
"""Values that only say what should stand there: `_(optional)_`."""
_OPENCLAW_HEAD: Final = re.compile(
    rb"^\s*[-*+]\s+\*\*(?:Name|What to call them|Creature|Vibe|Pronouns|Timezone)(?::\*\*|\*\*:)", re.MULTILINE
)
_SLOTS: Final = {"what to call them": "nickname", "preferred name": "nickname", "call them": "nickname"}
_PROSE: Final = frozenset({"notes", "context", "about", "bio"})


class OpenClawFormat(Format):
    """The folder of a workspace, or one of its files."""

    name = "openclaw"

    def takes(self, member: str) -> bool:
        """Return whether a file is about the user, about the agent, or a note; instructions for the agent are none."""
        path = PurePosixPath(member)
        name = path.name.casefold()
        noted = name.endswith(".md") and path.parent.name.casefold() == _FOLDER
        return name in (_USER, *_AGENT, *_NOTES) or noted

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file about the user or the agent has the labels of the program."""
        return path.name.casefold() in (_USER, _AGENT[0]) and _OPENCLAW_HEAD.search(head) is not None

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse a page by what it is about."""
        name = source.path.name.casefold()
        if name in _AGENT:
            for _ in lines:
                pass
            yield Omitted(what="pages about the agent")
        elif name == _USER:
            yield from _read_user(lines, source)
        else:
            for block in read_blocks(lines, source):
                if isinstance(block, Problem):
                    yield block
                else:
                    yield from _read_note(block, source)


def _read_user(lines: Lines, source: Source) -> Iterator[Parsed]:
    for line in decode_lines(lines):
        if isinstance(line, Problem):
            yield line
            continue
        text = line.text.strip()
        if not has_words(text) or text.startswith("#"):
            continue
        label, item = _LABEL.fullmatch(text), _OPENCLAW_ITEM.fullmatch(text)
        value = label[2] if label else item[1] if item else text
        if _EMPTY.fullmatch(value.strip()):
            yield Omitted(what="lines without a value")
        else:
            told = _word_label(label[1], value) if label else value
            statement = Statement(
                place=f"line {line.number}",
                text=told,
                key=("openclaw", _USER, told),
                metadata={"document": read_whole_name(source.path)},
            )
            yield make_statement_piece(statement, source)


def _word_label(label: str, value: str) -> str:
    """Return a labelled value as a sentence about the user.

    >>> _word_label("Name", "Ines Roth"), _word_label("What to call them", "Ines"), _word_label("Notes", "Likes tea.")
    ('My name is Ines Roth.', 'My nickname is Ines.', 'Likes tea.')
    """
    name = label.strip().casefold()
    if name in _PROSE:
        return value
    verb = "are" if name.endswith("s") and not name.endswith("ss") else "is"
    return f"My {_SLOTS.get(name, name)} {verb} {value.strip().rstrip('.')}."


def _read_note(block: Block, source: Source) -> Iterator[Parsed]:
    """Yield the items and paragraphs of a note, without their headings; the user's name is the user there."""
    day, names = find_day(source.path), _list_names(source)
    for line in block.text.split("\n"):
        text = line.strip()
        found = _OPENCLAW_ITEM.fullmatch(text)
        text = found[1] if found else text
        if not has_words(text) or text.startswith("#") or _EMPTY.fullmatch(text):
            continue
        own = _cut_name(text, names)
        statement = Statement(
            place=f"line {block.line}",
            text=own or text,
            key=("openclaw", str(day or ""), text),
            role="user" if own else "document",
            occurred_at=None if block.occurred_us is None else to_datetime(block.occurred_us),
            tags=block.tags,
            metadata={"document": read_whole_name(source.path), **block.details},
        )
        yield make_statement_piece(statement, source)


def _list_names(source: Source) -> list[str]:
    """Return what notes call the user, longest first: the user's id, and the names that the page about the user has."""
    names = {source.user_id.casefold(), "user"}
    near = () if source.place is not None else (source.path.parent, source.path.parent.parent)  # a zip has no folders
    for page in (folder / "USER.md" for folder in near):
        if page.is_symlink() or not page.is_file():
            continue
        with page.open(encoding="utf-8", errors="replace") as file:
            labels: list[tuple[str, str]] = _LABEL.findall(file.read(_USER_CHARACTERS))
        called = [value.strip().casefold() for label, value in labels if label.strip().casefold() in ("name", *_SLOTS)]
        names |= {part for value in called if not _EMPTY.fullmatch(value) for part in (value, value.split()[0])}
    return sorted(names, key=len, reverse=True)


def _cut_name(text: str, names: Sequence[str]) -> str:
    """Return a sentence about the user without the name that it begins with; "" if it is about something else.

    >>> _cut_name("Ines moved to Oslo.", ["ines"]), _cut_name("Ines's mother moved to Oslo.", ["ines"])
    ('Moved to Oslo.', '')
    """
    name = next((one for one in names if text.casefold().startswith(f"{one} ")), "")
    rest = text[len(name) + 1 :] if name else ""
    return rest[:1].upper() + rest[1:] if rest[:1].islower() else ""
