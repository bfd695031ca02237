"""Databases of Recall and engram as those programs make them, with one of every status, and a folder of Suzent."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

RECALL: Final = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL, description TEXT NOT NULL);
CREATE TABLE memories (
    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, text TEXT NOT NULL, type TEXT NOT NULL, topic TEXT,
    importance REAL DEFAULT 0.5, confidence REAL DEFAULT 0.8, source_session TEXT, created_at TEXT NOT NULL,
    last_accessed TEXT, access_count INTEGER DEFAULT 0, decay_score REAL,
    superseded_by TEXT REFERENCES memories(id), embedding BLOB, entity TEXT, attribute TEXT, value TEXT,
    valid_from TEXT, valid_until TEXT
);
CREATE TABLE operations (id TEXT PRIMARY KEY, idempotency_key TEXT UNIQUE, user_id TEXT, status TEXT);
"""
ENGRAM: Final = """
CREATE TABLE memories (
    id TEXT PRIMARY KEY, content TEXT NOT NULL, source_file TEXT, source_type TEXT NOT NULL DEFAULT 'ingest',
    layer TEXT NOT NULL DEFAULT 'episodic', memory_type TEXT DEFAULT 'narrative',
    status TEXT NOT NULL DEFAULT 'active', embedding BLOB, importance REAL NOT NULL DEFAULT 0.5,
    access_count INTEGER NOT NULL DEFAULT 0, created_at REAL NOT NULL, last_accessed REAL NOT NULL, fact_date TEXT,
    fact_date_end TEXT, emotional_valence REAL DEFAULT 0.0, chunk_hash TEXT NOT NULL, metadata TEXT DEFAULT '{}',
    forgotten INTEGER DEFAULT 0, previous_memory_id TEXT
);
CREATE TABLE entities (id TEXT PRIMARY KEY, canonical_name TEXT NOT NULL UNIQUE);
CREATE TABLE status_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT, memory_id TEXT NOT NULL, old_status TEXT NOT NULL, new_status TEXT NOT NULL,
    reason TEXT, changed_at REAL NOT NULL
);
"""
DAY: Final = 86_400
BEGUN: Final = 1_767_225_600
"""2026-01-01, in seconds."""
Row = Mapping[str, Any]

RECALL_ROWS: Final[Sequence[Row]] = (
    {
        "id": "r1",
        "text": "User works at Hooli",
        "type": "fact",
        "topic": "work",
        "source_session": "s1",
        "created_at": "2025-03-01T08:00:00Z",
        "valid_from": "2025-03-01T08:00:00Z",
        "importance": 0.7,
        "valid_until": "2025-07-01T08:00:00Z",
        "superseded_by": "r2",
        "entity": "user",
        "attribute": "employer",
        "value": "Hooli",
        "confidence": 0.9,
    },
    {
        "id": "r2",
        "text": "User works at Initech",
        "type": "fact",
        "topic": "work",
        "source_session": "s2",
        "created_at": "2025-07-01T08:00:00Z",
        "valid_from": "2025-07-01T08:00:00Z",
        "importance": 0.7,
        "entity": "user",
        "attribute": "employer",
        "value": "Initech",
        "confidence": 0.9,
        "last_accessed": "2025-08-02T10:00:00Z",
        "access_count": 5,
    },
    {
        "id": "r3",
        "text": "User lives in Bergen",
        "type": "fact",
        "created_at": "2025-07-02T08:00:00Z",
        "entity": "user",
        "attribute": "residence",
        "value": "Bergen",
    },
    {
        "id": "r4",
        "text": "User lives in Oslo",
        "type": "fact",
        "created_at": "2025-07-03T08:00:00Z",
        "entity": "user",
        "attribute": "residence",
        "value": "Oslo",
    },
    {"id": "r5", "text": "Chose SQLite for the tests", "type": "decision", "created_at": "2025-07-04T08:00:00Z"},
    {
        "id": "r6",
        "text": "User is fond of rye bread",
        "type": "preference",
        "created_at": "2025-07-05T08:00:00Z",
        "valid_until": "2025-08-05T08:00:00Z",
    },
)


def _engram(name: str, content: str, layer: str, kind: str | None, **more: object) -> Row:
    at = BEGUN + int(name[1:]) * DAY
    known = {"id": name, "content": content, "layer": layer, "memory_type": kind, "created_at": at}
    return {"last_accessed": at, "chunk_hash": name, **known, **more}


ENGRAM_ROWS: Final[Sequence[Row]] = (
    _engram("g1", "scratch: the build is red", "working", "narrative"),
    _engram("g2", "shipped v3.4 on january 2", "episodic", "narrative", metadata='{"pinned": true}'),
    _engram("g3", "the gateway signs its tokens", "semantic", "fact", importance=0.9),
    _engram("g4", "run the linter before a release", "procedural", "procedure"),
    _engram("g5", "the office is in Bergen", "semantic", "fact", status="challenged"),
    _engram("g6", "the train leaves on Tuesdays", "semantic", "fact", status="invalidated"),
    _engram("g7", "User works at Hooli", "semantic", "fact", status="superseded"),
    _engram("g8", "the nightly job is slow", "episodic", "narrative", forgotten=1),
    _engram("g9", "the nightly job takes hours", "episodic", "narrative", forgotten=1),
    _engram("g10", "The nightly job is slow, for hours", "semantic", "fact", metadata='{"merged_from": ["g9"]}'),
    _engram("g11", "how to roll back", "codebase", None, metadata='{"type": "procedural"}'),
    _engram("g12", "a card about Bergen", "semantic", "fact", metadata='{"type": "peer_card"}'),
)
ENGRAM_STEPS: Final[Sequence[Row]] = (
    {"memory_id": "g5", "new_status": "challenged", "reason": "two sources differ", "changed_at": BEGUN + 20 * DAY},
    {"memory_id": "g6", "new_status": "invalidated", "reason": "it was cancelled", "changed_at": BEGUN + 21 * DAY},
    {"memory_id": "g7", "new_status": "superseded", "reason": "a new job", "changed_at": BEGUN + 22 * DAY},
)


def write_recall(path: Path, rows: Sequence[Row] = RECALL_ROWS, *, user: str = "ana") -> Path:
    """Write a database of Recall with the memories of one more user beside them, if the rows name one."""
    return _write(path, RECALL, {"memories": [{"user_id": user, **row} for row in rows]})


def write_engram(path: Path, rows: Sequence[Row] = ENGRAM_ROWS) -> Path:
    """Write a database of engram."""
    steps = [{"old_status": "active", **step} for step in ENGRAM_STEPS]
    entities = [{"id": "e1", "canonical_name": "Bergen"}]
    return _write(path, ENGRAM, {"memories": rows, "status_history": steps, "entities": entities})


def _write(path: Path, schema: str, tables: Mapping[str, Sequence[Row]]) -> Path:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(schema)
        for table, rows in tables.items():
            for row in rows:
                marks = ", ".join("?" * len(row))
                database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))  # noqa: S608 - our own
        database.commit()
    return path


def write_suzent(folder: Path, watermark: str = "2026-02-08") -> Path:
    """Write a folder of Suzent whose days up to the watermark were folded into its entries."""
    seen = json.dumps({"first_seen": "2026-02-05", "updated": "2026-02-07", "sources": ["2026-02-05", "2026-02-07"]})
    files = {
        "archive/2026-02-05.md": "# 2026-02-05\n\n- User works at Hooli.\n- User has a parrot called Pip.\n",
        "archive/2026-02-07.md": "# 2026-02-07\n\n- User works at Initech.\n",
        "archive/2026-02-09.md": "# 2026-02-09\n\n### 08:15\n- User lives in Bergen.\n",
        "consolidated/memory.md": f"# Memory\n\n<!--m {seen}-->\nUser works at Initech (previously Hooli).\n",
        "MEMORY.md": "# Memory\n\n- User works at Initech.\n",
        "persona.md": "# Persona\n\nYou are Suzent, a patient assistant.\n",
        "user.md": "# User\n\n- User plays the viola.\n",
        ".tombstones.jsonl": '{"text": "user has a parrot called pip.", "deleted_at": "2026-02-08T07:00:00Z"}\n',
        ".consolidation_state.json": json.dumps({"watermark_date": watermark}),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder
