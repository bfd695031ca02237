"""Workspaces of OpenClaw: `USER.md` is about the user, `IDENTITY.md` and `SOUL.md` about the agent, notes have days.

The name of the agent, and the place where it "lives", must never become a fact about the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from credenda.clock import to_datetime
from credenda.portability.importers.blocks import Block, decode_lines, find_day, has_words, read_blocks
from credenda.portability.importers.format import Omitted, Parsed, Problem, Source
from credenda.portability.importers.json_checks import Statement, make_statement_piece, read_whole_name, word_about_user
from credenda.portability.line_reader import Lines

_USER: Final = "user.md"
_AGENT: Final = ("identity.md", "soul.md")
_NOTES: Final = ("memory.md",)
_FOLDER: Final = "memory"
_LABEL: Final = re.compile(r"\s*[-*+]\s+\*\*([^*\n]{1,60}?):?\*\*:?\s*(.*)")
_ITEM: Final = re.compile(r"\s*[-*+]\s+(\S.*)")
_EMPTY: Final = re.compile(r"[_*]*\(.*\)[_*]*\.?|[_*]+[^_*]*[_*]+|[-\u2013?\u2026.]*|(?i:tbd|unknown|none|n/a)")
"""Values that only say what should stand there: `_(optional)_`."""
_HEAD: Final = re.compile(
    rb"^\s*[-*+]\s+\*\*(?:Name|What to call them|Creature|Vibe|Pronouns|Timezone)(?::\*\*|\*\*:)", re.MULTILINE
)
_SLOTS: Final = {"what to call them": "nickname", "preferred name": "nickname", "call them": "nickname"}
_PROSE: Final = frozenset({"notes", "context", "about", "bio"})


class OpenClawFormat:
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
        return path.name.casefold() in (_USER, _AGENT[0]) and _HEAD.search(head) is not None

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
        label, item = _LABEL.fullmatch(text), _ITEM.fullmatch(text)
        value = label[2] if label else item[1] if item else text
        if _EMPTY.fullmatch(value.strip()):
            yield Omitted(what="lines without a value")
        else:
            yield _make_piece(_word_label(label[1], value) if label else word_about_user(value), line.number, source)


def _word_label(label: str, value: str) -> str:
    """Return a labelled value as a sentence about the user.

    >>> _word_label("Name", "Ines Roth"), _word_label("What to call them", "Ines"), _word_label("Notes", "Likes tea.")
    ('My name is Ines Roth.', 'My nickname is Ines.', 'Likes tea.')
    """
    name = label.strip().casefold()
    if name in _PROSE:
        return word_about_user(value)
    verb = "are" if name.endswith("s") and not name.endswith("ss") else "is"
    return f"My {_SLOTS.get(name, name)} {verb} {value.strip().rstrip('.')}."


def _make_piece(text: str, number: int, source: Source) -> Parsed:
    statement = Statement(
        place=f"line {number}",
        text=text,
        key=("openclaw", _USER, text),
        metadata={"document": read_whole_name(source.path)},
    )
    return make_statement_piece(statement, source)


def _read_note(block: Block, source: Source) -> Iterator[Parsed]:
    """Yield the items and paragraphs of a note, without their headings; the user's name is the user there."""
    day = find_day(source.path)
    for line in block.text.split("\n"):
        text = line.strip()
        found = _ITEM.fullmatch(text)
        text = found[1] if found else text
        if not has_words(text) or text.startswith("#") or _EMPTY.fullmatch(text):
            continue
        own = _cut_name(text, source.user_id)
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


def _cut_name(text: str, user_id: str) -> str:
    """Return a sentence about the user without the name that it begins with; "" if it is about something else.

    >>> _cut_name("Ines moved to Oslo.", "ines"), _cut_name("Ines's mother moved to Oslo.", "ines")
    ('Moved to Oslo.', '')
    """
    name, _, rest = text.partition(" ")
    mine = name.casefold() in (user_id.casefold(), "user") and rest[:1].islower()
    return rest[:1].upper() + rest[1:] if mine else ""
