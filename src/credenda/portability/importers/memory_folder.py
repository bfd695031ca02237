"""Memory folders of coding agents: `MEMORY.md` and the pages beside it, of Claude Code, Codex and VS Code.

The agent wrote these pages, so that each entry has a document's trust and is never an instruction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from credenda.clock import to_datetime
from credenda.portability.importers.blocks import Block, has_words, read_blocks
from credenda.portability.importers.format import Omitted, Parsed, Problem, Source
from credenda.portability.importers.json_checks import Statement, make_statement_piece
from credenda.portability.importers.markdown import is_markdown
from credenda.portability.line_reader import Lines

_MAIN: Final = ("memory.md", "memory_summary.md")
_OURS: Final = (b"credenda:", b"<!--m", b"<!--entries ")
_RAW: Final = frozenset({"raw_memories.md"})
_RAW_FOLDERS: Final = frozenset({"rollout_summaries", "session"})
"""Pages from which the others were made, or that end with their session."""
_POINTER: Final = re.compile(r"\s*[-*+]\s*\[[^\]\n]{1,200}\]\([^)\n]{1,300}\.md[^)\n]{0,100}\).*")
_ITEM: Final = re.compile(r"(\s*)(?:[-*+]|\d{1,4}[.)])\s+(\S.*)")
_TYPES: Final = {"feedback": "preference", "preference": "preference"}


def is_agents_alone(path: str, text: str) -> bool:
    """Return whether an entry of a page is of use to the agent alone: a raw note, or a pointer of an index to a page.

    `path` is that of the page in the folder, with slashes.

    >>> is_agents_alone("MEMORY.md", "[Role](role.md): who the user is"), is_agents_alone("role.md", "Likes tea")
    (True, False)
    """
    parts = PurePosixPath(path).parts
    raw = parts[-1].casefold() in _RAW or not _RAW_FOLDERS.isdisjoint(parts[:-1])
    return raw or _POINTER.fullmatch(f"- {text}") is not None


class MemoryFolderFormat:
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
                yield from _read_block(block, source)


def _read_block(block: Block, source: Source) -> Iterator[Parsed]:
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
                memory_type=_TYPES.get(kind, "fact"),
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
        found = _ITEM.match(line)
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
