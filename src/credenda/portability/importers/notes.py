"""Notes and plain documents: Markdown, text, Obsidian, and the memory folders of agents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

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
    decode_lines,
    find_day,
    has_words,
    make_document_pieces,
    read_blocks,
    read_tags,
    read_whole_name,
)
from credenda.portability.importers.json_checks import make_statement
from credenda.portability.importers.wording import word_observation
from credenda.portability.sources import Lines

_MARKDOWN: Final = (".md", ".markdown", ".mdown", ".md.gz", ".markdown.gz", ".mdown.gz")


class PagesFormat(Format):
    """Pages of Markdown, block by block."""

    endings = _MARKDOWN

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse a page."""
        for block in read_blocks(lines, source):
            if isinstance(block, Problem):
                yield block
            else:
                yield from self.read_block(block, source)

    def read_block(self, block: Block, source: Source) -> Iterator[Parsed]:
        """Yield the statements of a block: here the block itself."""
        yield from make_block_pieces(block, block.text, source)


def make_block_pieces(block: Block, text: str, source: Source, tags: tuple[str, ...] | None = None) -> Iterator[Piece]:
    """Make a text of a block statements of a document, with the details of the block."""
    yield from make_document_pieces(
        text,
        source,
        f"line {block.line}",
        occurred_us=block.occurred_us,
        details=block.details,
        tags=block.tags if tags is None else tags,
    )


class MarkdownFormat(PagesFormat):
    """Notes with headings."""

    name = "markdown"


# Plain text: each block between blank lines is one event.


class TextFormat(Format):
    """Text files without markup."""

    name = "text"
    endings = (".txt", ".text", ".log")
    named = re.compile(r"\.?[^.]*|.*\.(?:txt|text|log)", re.IGNORECASE | re.DOTALL)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
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
    if block:
        text = "\n".join(line.text for line in block)
        yield from make_document_pieces(text, source, f"line {block[0].number}")


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


class ObsidianFormat(PagesFormat):
    """Notes that link to each other: a single note, or a vault."""

    name = "obsidian"
    begins = _OBSIDIAN_HEAD

    def read_block(self, block: Block, source: Source) -> Iterator[Parsed]:
        """Extract the statements of a block, and yield the rest as prose."""
        named = read_whole_name(source.path).partition(".")[0]
        title = named if find_day(source.path) else str(block.details.get("title") or named)
        rest: list[str] = []
        fenced = "```" in block.text or "~~~" in block.text
        for line in block.text.split("\n"):
            context = (line, block, title, source)
            statement = None if fenced else _read_observation(*context) or _read_relation(*context)
            if statement is None:
                rest.append(line)
            else:
                yield statement
        text = "\n".join(rest).strip("\n")
        taken = len(rest) < block.text.count("\n") + 1
        bare = (not line.strip() or (line.lstrip()[0] == "#" and not _TAG.match(line.strip())) for line in rest)
        if has_words(text) and not (taken and all(bare)):
            prose = text if fenced else _strip_markup(text)
            tags = block.tags if fenced else read_tags([*block.tags, *_TAG.findall(text)])
            yield from make_block_pieces(block, prose, source, tags)


def _read_observation(line: str, block: Block, title: str, source: Source) -> Piece | None:
    found = _OBSERVATION.match(line)
    if found is None:
        return None
    category, said = found[1], found[2]
    text = _SPACES.sub(" ", _TAG.sub("", _strip_markup(said))).strip()
    if not has_words(text):
        return None
    owner = _find_owner(block, title)
    return make_statement(
        source,
        f"line {block.line}",
        word_observation(owner, text) if owner else text,
        ("observation", title, category, said),
        role="document",
        memory_type=_OBSIDIAN_TYPES.get(category.casefold(), "fact"),
        occurred_at=block.occurred_us,
        tags=read_tags([*block.tags, *_TAG.findall(said)]),
        metadata={**block.details, "note": title, "category": category, **({"owner": owner} if owner else {})},
    )


def _find_owner(block: Block, title: str) -> str:
    """Return the person whose observations a note has: its owner or author, or the person that it is about."""
    named = block.details.get("owner") or block.details.get("author")
    if named:
        return str(named)
    return title if str(block.details.get("type", "")).casefold() in _PERSONS else ""


def _read_relation(line: str, block: Block, title: str, source: Source) -> Piece | None:
    found = _RELATION.match(line)
    if found is None:
        return None
    kind, target, context = found[1], _show_link(found[2]), found[3]
    more = f" ({_strip_markup(context)})" if context else ""
    return make_statement(
        source,
        f"line {block.line}",
        f"{title} {_JOINT.sub(' ', kind)} {target}{more}",
        ("relation", title, kind, target, context or ""),
        role="document",
        occurred_at=block.occurred_us,
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


class MemoryFolderFormat(PagesFormat):
    """Folders such as `~/.claude/projects/P/memory`, `~/.codex/memories` and `/memories`."""

    name = "memory-folder"
    named = re.compile(r"memory\.md|memory_summary\.md", re.IGNORECASE)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a page is the main page of such a folder, and not one of `files sync`."""
        return super().recognises(head, path) and not any(mark in head for mark in _OURS)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse a page, unless it has only what others were made from."""
        if source.path.name.casefold() in _RAW or _RAW_FOLDERS & set(source.path.parts[:-1]):
            for _ in lines:
                pass
            yield Omitted(what="pages of raw notes")
        else:
            yield from super().pieces(lines, source)

    def read_block(self, block: Block, source: Source) -> Iterator[Parsed]:
        """Yield the entries of a block: each list item, and each paragraph outside of lists."""
        for text in _split_entries(block.text):
            if _POINTER.fullmatch(text):
                yield Omitted(what="lines of an index")
            elif has_words(text):
                yield make_statement(
                    source,
                    f"line {block.line}",
                    text.strip(),
                    ("memory-folder", text.strip()),
                    role="document",
                    memory_type=_MEMORY_FOLDER_TYPES.get(str(block.details.get("type") or ""), "fact"),
                    occurred_at=block.occurred_us,
                    tags=block.tags,
                    metadata={"document": read_whole_name(source.path), **_name_folder(source), **block.details},
                )


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


_ABOUT_USER: Final = "user.md"
_BORDER: Final = "\u00a7"
_HERMES_HEAD: Final = re.compile("^\u00a7[ \t]*\r?$".encode(), re.MULTILINE)


class HermesFormat(Format):
    """`~/.hermes/memories`, or one of its files."""

    name = "hermes"
    members = r"(?:.*/)?(?:memory|user)\.md"
    begins = _HERMES_HEAD  # between two entries; a file with a single one needs the other beside it

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
    name = source.path.name.casefold()
    role, metadata = "user" if name == _ABOUT_USER else "document", {"document": read_whole_name(source.path)}
    yield make_statement(source, place, text, ("hermes", name, text), role=role, metadata=metadata)


# Workspaces of OpenClaw: `USER.md` is about the user, `IDENTITY.md` and `SOUL.md` about the agent, notes have days.


_USER: Final = "user.md"
_USER_CHARACTERS: Final = 1 << 16
_AGENT: Final = ("identity.md", "soul.md")
_LABEL: Final = re.compile(r"\s*[-*+]\s+\*\*([^*\n]{1,60}?):?\*\*:?\s*(.*)")
_OPENCLAW_ITEM: Final = re.compile(r"\s*[-*+]\s+(\S.*)")
_EMPTY: Final = re.compile(r"[_*]*\(.*\)[_*]*\.?|[_*]+[^_*]*[_*]+|[-\u2013?\u2026.]*|(?i:tbd|unknown|none|n/a)")
"""Values that only say what should stand there: `_(optional)_`."""
_OPENCLAW_HEAD: Final = re.compile(
    rb"^\s*[-*+]\s+\*\*(?:Name|What to call them|Creature|Vibe|Pronouns|Timezone)(?::\*\*|\*\*:)", re.MULTILINE
)
_SLOTS: Final = {"what to call them": "nickname", "preferred name": "nickname", "call them": "nickname"}
_PROSE: Final = frozenset({"notes", "context", "about", "bio"})


class OpenClawFormat(PagesFormat):
    """The folder of a workspace, or one of its files; instructions for the agent are none of them."""

    name = "openclaw"
    members = r"(?:.*/)?(?:(?:user|identity|soul|memory)\.md|memory/[^/]*\.md)"
    named = re.compile(r"(?:user|identity)\.md", re.IGNORECASE)
    begins = _OPENCLAW_HEAD

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
            yield from super().pieces(lines, source)

    def read_block(self, block: Block, source: Source) -> Iterator[Parsed]:
        """Yield the items and paragraphs of a note, without their headings; the user's name is the user there."""
        day, names = find_day(source.path), _list_names(source)
        for line in block.text.split("\n"):
            text = line.strip()
            found = _OPENCLAW_ITEM.fullmatch(text)
            text = found[1] if found else text
            if not has_words(text) or text.startswith("#") or _EMPTY.fullmatch(text):
                continue
            own = _cut_name(text, names)
            yield make_statement(
                source,
                f"line {block.line}",
                own or text,
                ("openclaw", str(day or ""), text),
                role="user" if own else "document",
                occurred_at=block.occurred_us,
                tags=block.tags,
                metadata={"document": read_whole_name(source.path), **block.details},
            )


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
            place, metadata = f"line {line.number}", {"document": read_whole_name(source.path)}
            yield make_statement(source, place, told, ("openclaw", _USER, told), metadata=metadata)


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
