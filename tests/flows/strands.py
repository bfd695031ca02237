"""Small exports of other memories, each with everything that its importer must tell apart."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

Table = dict[str, Any]

LETTA: Final[Table] = {
    "agents": [
        {
            "id": "agent-0",
            "name": "helper",
            "system": "You are a helpful agent.",
            "block_ids": ["block-0", "block-1"],
            "messages": [
                {"id": "m-0", "role": "system", "content": [{"type": "text", "text": "You are."}]},
                {
                    "id": "m-1",
                    "role": "user",
                    "content": [{"type": "text", "text": '{"type": "user_message", "message": "I moved to Graz."}'}],
                    "created_at": "2025-10-01T08:00:00+00:00",
                },
                {"id": "m-2", "role": "user", "content": '{"type": "heartbeat", "reason": "timer"}'},
                {
                    "id": "m-3",
                    "role": "assistant",
                    "content": [{"type": "text", "text": "She moved, I should say something nice."}],
                    "tool_calls": [
                        {"id": "c", "function": {"name": "send_message", "arguments": '{"message": "Nice town."}'}}
                    ],
                    "created_at": "2025-10-01T08:00:05+00:00",
                },
                {"id": "m-4", "role": "tool", "content": "OK"},
            ],
        }
    ],
    "blocks": [
        {
            "id": "block-0",
            "label": "human",
            "value": (
                "This is what I know so far about the user, I should expand this as I learn more about them.\n\n"
                "First name: Chad\nAge: ?\n- Likes sailing.\n"
            ),
        },
        {"id": "block-1", "label": "persona", "value": "I am Sam. My voice is soft.\n\nI ask questions."},
        {"id": "block-2", "label": "scratch", "value": " "},
    ],
    "tools": [{"id": "tool-0", "name": "send_message"}],
    "mcp_servers": [],
}
DOCUMENT: Final[Table] = {
    "id": "meeting-3",
    "original_text": "Alice presented the roadmap.\n\nBob asked about May.",
    "retain_params": None,
    "tags": ["work"],
    "created_at": "2026-01-05T10:00:00Z",
    "chunks": [{"chunk_index": 0, "chunk_text": "Alice presented the roadmap."}],
    "facts": [
        {
            "text": "Alice works at Acme | Involving: Alice",
            "fact_type": "world",
            "occurred_start": "2025-12-01T00:00:00Z",
            "entities": ["Alice"],
            "tags": ["people"],
            "causal_relations": [{"relation_type": "caused_by", "target_fact_index": 1}],
        },
        {"text": "I recommended a later date", "fact_type": "experience", "mentioned_at": "2026-01-05T10:00:00Z"},
        {"text": "Alice values punctuality", "fact_type": "observation"},
        {"fact_type": "world"},
    ],
}
GRAPHITI: Final[Table] = {
    "nodes": [{"uuid": "n1", "name": "Ana", "labels": ["Entity"], "summary": "A nurse."}],
    "edges": [
        {
            "uuid": "f1",
            "name": "WORKS_AT",
            "fact": "Ana works at Acme",
            "source_node_uuid": "n1",
            "target_node_uuid": "n2",
            "group_id": "g",
            "valid_at": "2024-02-01T00:00:00Z",
            "invalid_at": "2025-03-01T00:00:00Z",
        },
        {"uuid": "f2", "name": "WORKS_AT", "fact": "Ana works at Brixen", "valid_at": "2025-03-01T00:00:00Z"},
        {"uuid": "e9", "source_node_uuid": "n1", "target_node_uuid": "n2"},
    ],
    "episodes": [
        {
            "uuid": "p1",
            "name": "talk",
            "content": "Ana (user): I left Acme.\nAt last.\nassistant: Congratulations!",
            "source": "message",
            "source_description": "chat",
            "valid_at": "2025-03-01T09:00:00Z",
        },
        {"uuid": "p2", "content": "A page about Brixen.", "source": "text", "source_description": "wiki"},
        {"uuid": "p3", "role_type": "system", "content": "Be kind.", "created_at": "2025-03-01T09:00:00Z"},
        {"uuid": "p4", "role_type": "user", "role": "Ben", "content": "I like rain."},
    ],
}
COGNEE: Final[Table] = {
    "nodes": [
        {"id": "1", "label": "Ann", "type": "Entity", "properties": {"name": "Ann", "description": "A nurse in Graz"}},
        {"id": "2", "label": "Acme", "type": "Entity", "properties": {"name": "Acme"}},
        {"id": "3", "label": "person", "type": "EntityType", "properties": {}},
        {"id": "4", "label": "doc", "type": "TextDocument", "properties": {}},
        {"id": "5", "label": "chunk", "type": "DocumentChunk", "properties": {"text": "Ann has worked at Acme."}},
        {"id": "6", "label": "sum", "type": "TextSummary", "properties": {"text": "Ann, Acme."}},
    ],
    "edges": [
        {"source": "1", "target": "2", "label": "works_at"},
        {"source": "5", "target": "1", "label": "contains"},
        {"source": "1", "target": "99", "label": "knows"},
    ],
}
PAM_STORE: Final[Table] = {
    "schema": "portable-ai-memory",
    "schema_version": "1.0",
    "owner": {"id": "someone"},
    "memories": [
        {
            "id": "a",
            "type": "preference",
            "status": "active",
            "content": "User prefers dark mode",
            "tags": ["ui"],
            "confidence": {"current": 0.9},
            "temporal": {"created_at": "2025-01-02T00:00:00Z", "valid_from": "2025-01-01T00:00:00Z"},
            "provenance": {"platform": "claude"},
            "metadata": {"language": "en"},
        },
        {
            "id": "b",
            "type": "environment",
            "status": "superseded",
            "content": "User works at Acme",
            "temporal": {"created_at": "2024-01-01T00:00:00Z", "valid_until": "2025-01-01T00:00:00Z"},
        },
        {"id": "c", "type": "fact", "status": "retracted", "content": "User is a pilot", "temporal": {}},
        {"id": "d", "type": "custom", "custom_type": "decision", "content": "We use Postgres", "temporal": {}},
        {"id": "e", "type": "fact", "content": "", "temporal": {}},
    ],
    "relations": [{"id": "r", "from": "a", "to": "b", "type": "related_to", "created_at": "2025-01-02T00:00:00Z"}],
    "conversations_index": [{"id": "conv-1"}],
}
PAM_TALK: Final[Table] = {
    "schema": "portable-ai-memory-conversation",
    "id": "conv-1",
    "messages": [
        {"id": "1", "role": "user", "content": {"type": "text", "text": "I like tea."}, "created_at": "2025-01-01"},
        {"id": "2", "role": "assistant", "content": {"type": "text", "text": "Hm."}, "is_thought": True},
        {
            "id": "3",
            "role": "assistant",
            "content": {"type": "multipart", "parts": [{"type": "text", "text": "Noted."}, {"type": "image"}]},
        },
    ],
}
MESSAGES: Final[list[Table]] = [
    {"role": "system", "content": "You are kind."},
    {"role": "user", "content": "I live in Linz.", "timestamp": "2025-04-01T10:00:00Z"},
    {"role": "assistant", "content": [{"type": "text", "text": "Nice."}, {"type": "tool_use", "name": "x"}]},
    {"role": "tool", "content": "42"},
    {"role": "assistant", "content": None, "tool_calls": []},
    {"role": "user", "name": "Ben", "content": "I live in Rome."},
    {"role": "narrator", "content": "Meanwhile."},
]
POINTS: Final[Table] = {
    "result": {
        "points": [
            {
                "id": "7f2c",
                "payload": {
                    "data": "User likes tea",
                    "hash": "62bc",
                    "user_id": "ana",
                    "category": "food",
                    "created_at": "2025-02-25T23:57:00-07:00",
                },
                "vector": None,
            },
            {"id": "7f2d", "payload": {"hash": "0"}},
        ],
        "next_page_offset": None,
    }
}
ROWS: Final[tuple[tuple[str, str, str], ...]] = (
    ("1", "User lives in Graz", "active"),
    ("2", "User likes opera", "archived"),
    ("3", "User is a pilot", "deleted"),
)


def write_json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_openmemory(path: Path, users: Mapping[str, str], *, wal: bool = False) -> sqlite3.Connection:
    """Write a database of OpenMemory: the rows above for each user, by the name of the user and a prefix of the ids."""
    database = sqlite3.connect(path)
    if wal:
        database.execute("PRAGMA journal_mode = WAL")
    database.executescript(
        """
        CREATE TABLE users (id CHAR(32) PRIMARY KEY, user_id VARCHAR, name VARCHAR);
        CREATE TABLE apps (id CHAR(32) PRIMARY KEY, owner_id CHAR(32), name VARCHAR);
        CREATE TABLE memories (id CHAR(32) PRIMARY KEY, user_id CHAR(32), app_id CHAR(32), content VARCHAR,
            vector VARCHAR, metadata JSON, state VARCHAR(8), created_at DATETIME, updated_at DATETIME);
        CREATE TABLE categories (id CHAR(32) PRIMARY KEY, name VARCHAR);
        CREATE TABLE memory_categories (memory_id CHAR(32), category_id CHAR(32));
        INSERT INTO categories VALUES ('c1', 'places');
        """
    )
    for user, prefix in users.items():
        database.execute("INSERT INTO users VALUES (?, ?, ?)", (prefix, user, user))
        database.execute("INSERT INTO apps VALUES (?, ?, ?)", (f"{prefix}app", prefix, "cursor"))
        for number, text, state in ROWS:
            stamp = f"2025-06-0{number} 10:00:00.000000"
            row = (prefix + number, prefix, f"{prefix}app", text, None, '{"mood": "calm"}', state, stamp, stamp)
            database.execute("INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        database.execute("INSERT INTO memory_categories VALUES (?, 'c1')", (f"{prefix}1",))
    database.commit()
    return database


def close_openmemory(path: Path, users: Mapping[str, str]) -> Path:
    with closing(write_openmemory(path, users)):
        return path
