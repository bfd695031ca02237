"""A deletion holds through every importer: whatever a file was saved as, it brings nothing back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.portability.importing import ARCHIVE, FORMATS

from .exports import chat, said, told, tree, zipped
from .people_files import list_writers
from .strands import DOCUMENT, LETTA, PAM_STORE
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


def _memory_folder(folder: Path) -> Path:
    folder.mkdir()
    _text(folder / "MEMORY.md", "- [Health](health.md)\n- [Home](home.md)\n")
    _text(folder / "health.md", f"---\nname: health\ntype: user\n---\n\n{SENTENCE}\n")
    _text(folder / "home.md", f"---\nname: home\ntype: user\n---\n\n{KEPT}\n")
    return folder


def _agent() -> object:
    said = [
        {"id": f"m{n}", "role": "user", "content": text, "created_at": "2026-01-05T10:00:00Z"}
        for n, text in enumerate((SENTENCE, KEPT))
    ]
    return {**LETTA, "agents": [{**LETTA["agents"][0], "messages": said, "block_ids": []}], "blocks": []}


def _document() -> object:
    facts = [{"text": text, "fact_type": "world"} for text in (SENTENCE, KEPT)]
    return {**DOCUMENT, "original_text": "", "chunks": [], "facts": facts}


def _rows() -> list[object]:
    stamp = "2026-01-05T10:00:00Z"
    return [
        {"id": str(n), "user_id": "u", "content": text, "state": "active", "created_at": stamp, "updated_at": stamp}
        for n, text in enumerate((SENTENCE, KEPT))
    ]


def _chunks() -> list[object]:
    return [
        {"id": str(n), "label": "chunk", "type": "DocumentChunk", "properties": {"text": text}}
        for n, text in enumerate((SENTENCE, KEPT))
    ]


def _statements() -> list[object]:
    return [
        {"id": str(n), "type": "fact", "status": "active", "content": text, "temporal": {}}
        for n, text in enumerate((SENTENCE, KEPT))
    ]


def _database(path: Path, create: str, insert: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.execute(create)
        database.executemany(insert, [(str(n), text) for n, text in enumerate((SENTENCE, KEPT))])
        database.commit()
    return path


def _suzent(folder: Path) -> Path:
    (folder / "archive").mkdir(parents=True)
    _text(folder / ".consolidation_state.json", '{"watermark_date": "2026-01-01"}')
    _text(folder / "archive" / "2026-01-05.md", f"# 2026-01-05\n\n- {SENTENCE}\n- {KEPT}\n")
    return folder


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
    "messages": lambda folder: _json(
        folder / "chat.json", [{"role": "user", "content": text} for text in (SENTENCE, KEPT)]
    ),
    "memories": lambda folder: _text(folder / "list.txt", f"[2026-01-05] - {SENTENCE}\n[2026-01-05] - {KEPT}\n"),
    "memory-folder": lambda folder: _memory_folder(folder / "memory"),
    "letta": lambda folder: _json(folder / "agent.af", _agent()),
    "hindsight": lambda folder: _json(folder / "document.json", _document()),
    "openmemory": lambda folder: zipped(
        folder / "export.zip",
        ("memories.json", json.dumps({"user": {"id": "u", "user_id": "ana"}, "memories": _rows()}).encode()),
    ),
    "recall": lambda folder: _database(
        folder / "recall.db",
        "CREATE TABLE memories (id TEXT PRIMARY KEY, text TEXT, superseded_by TEXT, valid_until TEXT)",
        "INSERT INTO memories (id, text) VALUES (?, ?)",
    ),
    "engram": lambda folder: _database(
        folder / "engram.db",
        "CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT, layer TEXT DEFAULT 'semantic')",
        "INSERT INTO memories (id, content) VALUES (?, ?)",
    ),
    "suzent": lambda folder: _suzent(folder / "suzent"),
    "zep": lambda folder: _json(
        folder / "graph.json", {"edges": [{"uuid": str(n), "fact": text} for n, text in enumerate((SENTENCE, KEPT))]}
    ),
    "cognee": lambda folder: _json(folder / "graph.json", {"nodes": _chunks(), "edges": []}),
    "pam": lambda folder: _json(folder / "store.json", {**PAM_STORE, "memories": _statements(), "relations": []}),
    **list_writers(SENTENCE, KEPT),
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
    while hits := [hit for hit in mem.search(WORD).hits if WORD in hit.quote]:
        mem.delete(hits[0].id)
    report = mem.data.import_(file, name)
    mem.settle()
    assert report.skipped or any("deleted" in problem for problem in report.problems)
    assert not [memory for memory in mem.list(status=None, limit=50).items if WORD in memory.text]
    assert not [hit for hit in mem.search(f"{WORD} allergic").hits if WORD in hit.quote]
    assert [hit for hit in mem.search("Linz").hits if "Linz" in hit.quote]
    mem.close()
    assert WORD.encode() not in path.read_bytes()
