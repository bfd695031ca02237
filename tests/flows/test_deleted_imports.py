"""A deletion holds through every importer: whatever a file was saved as, it brings nothing back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.portability.importing import ARCHIVE, FORMATS

from .exports import chat, said, told, tree
from .test_import_conversation import written as conversation
from .transcripts import line, written

WORD = "zorkmidsplendour"
SENTENCE = f"I'm allergic to {WORD}."
KEPT = "I live in Linz."


def _text(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def _json(path: Path, value: object) -> Path:
    return _text(path, json.dumps(value))


def _graph(path: Path) -> Path:
    entity = {"type": "entity", "name": "user", "entityType": "person", "observations": [SENTENCE, KEPT]}
    return _text(path, json.dumps(entity) + "\n")


def _mem0(path: Path) -> Path:
    rows = [{"id": str(number), "memory": text, "user_id": "ana"} for number, text in enumerate((SENTENCE, KEPT))]
    return _json(path, {"results": rows})


def _talk(path: Path) -> Path:
    turns = [{"id": f"t{n}", "speaker": "user", "text": text} for n, text in enumerate((SENTENCE, KEPT))]
    session = {"id": "s1", "time": "2026-01-05T10:00:00Z", "turns": turns}
    return conversation(path, {"conv": "c1", "speakers": ["user", "assistant"], "sessions": [session]})


FILES: dict[str, Callable[[Path], Path]] = {
    "claude-code": lambda folder: written(folder / "talk.jsonl", line("user", SENTENCE, 1), line("user", KEPT, 2)),
    "chatgpt": lambda folder: _json(
        folder / "conversations.json", [tree("allergies", said(1, "user", SENTENCE), said(2, "user", KEPT))]
    ),
    "claude": lambda folder: _json(
        folder / "conversations.json", [chat("allergies", told(1, "human", SENTENCE), told(2, "human", KEPT))]
    ),
    "mcp-memory": lambda folder: _graph(folder / "memory.jsonl"),
    "mem0": lambda folder: _mem0(folder / "memories.json"),
    "conversation": lambda folder: _talk(folder / "talk.jsonl"),
    "obsidian": lambda folder: _text(
        folder / "note.md", f"---\ntags: [health]\n---\n\n# One\n\n- {SENTENCE}\n\n# Two\n\n- {KEPT}\n"
    ),
    "markdown": lambda folder: _text(folder / "note.md", f"# Health\n\n{SENTENCE}\n\n{KEPT}\n"),
    "text": lambda folder: _text(folder / "note.txt", f"{SENTENCE}\n\n{KEPT}\n"),
}


def test_every_format_is_here_but_the_archive_which_is_never_mixed_into_a_memory() -> None:
    assert set(FILES) == {one.name for one in FORMATS}
    assert ARCHIVE not in FILES


@pytest.mark.requirement("S-061", "S-062")
@pytest.mark.parametrize("name", list(FILES))
@pytest.mark.parametrize("imported_before", [False, True], ids=["new", "imported before"])
def test_what_was_deleted_is_not_imported(
    mem: Credenda, path: Path, tmp_path: Path, *, name: str, imported_before: bool
) -> None:
    file = FILES[name](tmp_path)
    if imported_before:
        mem.data.import_(file, name)
    mem.remember(SENTENCE)
    mem.settle()
    for memory in mem.list(status=None, limit=50).items:
        if WORD in memory.text:
            mem.delete(memory.id)
    while hits := [hit for hit in mem.search(WORD).hits if WORD in hit.text]:
        mem.delete(hits[0].id)
    report = mem.data.import_(file, name)
    mem.settle()
    assert report.skipped or any("deleted" in problem for problem in report.problems)
    assert not [memory for memory in mem.list(status=None, limit=50).items if WORD in memory.text]
    assert not [hit for hit in mem.search(f"{WORD} allergic").hits if WORD in hit.text]
    assert [hit for hit in mem.search("Linz").hits if "Linz" in hit.text]
    mem.close()
    assert WORD.encode() not in path.read_bytes()
