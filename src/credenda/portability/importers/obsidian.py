"""Notes of Obsidian and basic-memory: Markdown whose list items may be observations and relations.

Observations and relations become separate statements; everything else comes in blocks as in other Markdown, with links
replaced by their visible text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from credenda.clock import to_datetime
from credenda.portability.importers.blocks import (
    Block,
    find_day,
    has_words,
    make_document_piece,
    read_blocks,
    read_tags,
)
from credenda.portability.importers.format import Piece, Problem, Source
from credenda.portability.importers.json_checks import Statement, make_statement_piece
from credenda.portability.importers.markdown import is_markdown
from credenda.portability.importers.mcp_memory import word_observation
from credenda.portability.line_reader import Lines

_HEAD: Final = re.compile(
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
_TYPES: Final = {
    "preference": "preference",
    "decision": "decision",
    "procedure": "procedure",
    "rule": "procedure",
    "howto": "procedure",
}
"""Categories that map to a memory type; any other is a fact."""


_PERSONS: Final = frozenset({"person", "people", "contact"})
"""Types of notes about a person."""


class ObsidianFormat:
    """Notes that link to each other: a single note, or a vault."""

    name = "obsidian"

    def takes(self, member: str) -> bool:
        """Return whether a file has a Markdown name."""
        return is_markdown(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a note contains links, observations, or a permalink."""
        return is_markdown(path.name) and b"\x00" not in head and _HEAD.search(head) is not None

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem]:
        """Parse a note block by block."""
        title = source.path.name.partition(".")[0].encode("utf-8", "replace").decode()
        for block in read_blocks(lines, source):
            if isinstance(block, Problem):
                yield block
            else:
                named = title if find_day(source.path) else str(block.details.get("title") or title)
                yield from _read_block(block, named, source)


def _read_block(block: Block, title: str, source: Source) -> Iterator[Piece]:
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
        memory_type=_TYPES.get(category.casefold(), "fact"),
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
