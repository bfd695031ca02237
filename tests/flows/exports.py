"""Makes exports in the shapes of ChatGPT and Claude.ai, for tests of their import."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

Table = dict[str, Any]


def said(number: int, role: str, *parts: object, **more: object) -> Table:
    """Make one message of ChatGPT; its id and time follow from the number."""
    return {
        "id": f"m{number}",
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": 1_700_000_000.5 + 60 * number,
        "content": {"content_type": "text", "parts": list(parts)},
        "status": "finished_successfully",
        "weight": 1.0,
        "recipient": "all",
        "metadata": {},
        **more,
    }


def tree(name: str, *messages: Table | None, **more: object) -> Table:
    """Make a conversation of ChatGPT of one branch, behind the empty root that each begins with."""
    nodes: Table = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for message in messages:
        node_id = message["id"] if message else f"empty{len(nodes)}"
        nodes[node_id] = {"id": node_id, "message": message, "parent": parent, "children": []}
        nodes[parent]["children"].append(node_id)
        parent = node_id
    return {
        "title": f"About {name}",
        "create_time": 1_700_000_000.0,
        "update_time": 1_700_000_900.0,
        "mapping": nodes,
        "current_node": parent,
        "conversation_id": name,
        "id": name,
        **more,
    }


def chat(name: str, *messages: Table, **more: object) -> Table:
    """Make a conversation of Claude.ai."""
    return {
        "uuid": name,
        "name": f"About {name}",
        "created_at": "2025-05-01T10:00:00.000000Z",
        "updated_at": "2025-05-01T11:00:00.000000Z",
        "account": {"uuid": "account"},
        "chat_messages": list(messages),
        **more,
    }


def told(number: int, sender: str, text: str, **more: object) -> Table:
    """Make one message of Claude.ai; its id and time follow from the number."""
    return {
        "uuid": f"c{number}",
        "sender": sender,
        "text": text,
        "content": [{"type": "text", "text": text, "citations": []}],
        "created_at": f"2025-05-01T10:{number:02}:00.000000Z",
        "updated_at": f"2025-05-01T10:{number:02}:00.000000Z",
        "attachments": [],
        "files": [],
        **more,
    }


def zipped(path: Path, *members: tuple[str, object]) -> Path:
    """Write a zip; what is not bytes is written as JSON."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return path
