"""Small files as programs of others write them, each with everything that its importer must tell apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

Table = dict[str, Any]


def _input(role: str, *texts: str, second: int = 0, kind: str = "input_text") -> Table:
    content = [{"type": kind, "text": text} for text in texts]
    return {
        "timestamp": f"2026-05-04T08:00:{second:02}.000Z",
        "type": "response_item",
        "payload": {"type": "message", "role": role, "content": content},
    }


CODEX: Final[list[Table]] = [
    {
        "timestamp": "2026-05-04T08:00:00.000Z",
        "type": "session_meta",
        "payload": {"id": "rollout-a", "cwd": "/home/ines/shop", "source": "cli"},
    },
    _input("developer", "Always answer in verse."),
    _input("user", "<environment_context>\n<cwd>/home/ines/shop</cwd>\n</environment_context>", second=1),
    _input("user", "# AGENTS.md instructions for /home/ines/shop\n\nRun the linter.", second=2),
    _input("user", "I live in Bergen.", second=3),
    {
        "timestamp": "2026-05-04T08:00:04.000Z",
        "type": "event_msg",
        "payload": {"type": "user_message", "message": "I live in Bergen."},
    },
    {
        "timestamp": "2026-05-04T08:00:05.000Z",
        "type": "response_item",
        "payload": {"type": "function_call", "name": "shell", "arguments": '{"role": "user", "content": "x"}'},
    },
    _input("assistant", "Bergen, noted.", second=6, kind="output_text"),
]
CODEX_CHILD: Final[list[Table]] = [
    {
        "timestamp": "2026-05-04T09:00:00.000Z",
        "type": "session_meta",
        "payload": {"id": "rollout-b", "cwd": "/home/ines/shop", "source": {"subagent": {"depth": 1}}},
    },
    _input("user", "I live in Oslo.", second=7),
]


def _event(kind: str, data: Table, number: int) -> Table:
    time = f"2026-05-05T10:00:{number:02}.000Z"
    return {"type": kind, "data": data, "id": f"e{number}", "timestamp": time, "parentId": None}


COPILOT: Final[list[Table]] = [
    _event("session.start", {"sessionId": "copilot-a", "context": {"cwd": "/home/ines/shop"}}, 1),
    _event("user.message", {"content": "I live in Bergen.", "transformedContent": "<now/> I live in Bergen."}, 2),
    _event("user.message", {"content": "Use the skill.", "source": "skill-pdf"}, 3),
    _event("assistant.message", {"content": "", "toolRequests": [{"name": "bash"}]}, 4),
    _event("assistant.message", {"content": "I found Oslo.", "parentToolCallId": "call_1"}, 5),
    _event("tool.execution_complete", {"result": {"content": "I live in Rome."}}, 6),
    _event("assistant.message", {"content": "Bergen, noted.", "messageId": "m1"}, 7),
]


def _gemini(name: str, kind: str, content: object, second: int) -> Table:
    return {"id": name, "type": kind, "timestamp": f"2026-05-06T11:00:{second:02}.000Z", "content": content}


_GEMINI_HEAD: Final[Table] = {"sessionId": "gemini-a", "projectHash": "0a", "startTime": "2026-05-06T11:00:00.000Z"}
GEMINI: Final[Table] = {
    **_GEMINI_HEAD,
    "messages": [
        _gemini("g1", "info", "Loaded credentials.", 1),
        _gemini("g2", "user", "I live in Bergen.", 2),
        _gemini("g3", "gemini", "Bergen, noted.", 3),
        _gemini("g4", "user", "/stats", 4),
    ],
}
GEMINI_LOG: Final[list[Table]] = [
    {**_GEMINI_HEAD, "kind": "main"},
    {"$set": {"messages": [_gemini("g0", "user", [{"text": "<session_context>x</session_context>"}], 0)]}},
    _gemini("g1", "user", [{"text": "I live in Rome."}], 1),
    {"$rewindTo": "g1"},
    _gemini("g2", "user", [{"text": "I live in Bergen."}], 2),
    _gemini("g3", "gemini", "", 3),
    {**_gemini("g3", "gemini", "Bergen, noted.", 3), "toolCalls": [{"name": "ls"}]},
    {"$set": {"lastUpdated": "2026-05-06T11:00:04.000Z"}},
]


def write_lines(path: Path, tables: list[Table]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(table)}\n" for table in tables), "utf-8")
    return path


def write_whole(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    return path


WHATSAPP: Final = (
    "13/02/2026, 09:15 - Messages and calls are end-to-end encrypted.\n"
    "13/02/2026, 09:15 - Ruben Maia: I live in Porto.\nAnd you?\n"
    "13/02/2026, 21:16 - Ines: I live in Bergen.\n"
    "13/02/2026, 21:17 - Ines: <Media omitted>\n"
)
WHATSAPP_IPHONE: Final = (
    "\u200e[2/13/26, 9:15:02\u202fAM] Ruben Maia: \u200eMessages and calls are end-to-end encrypted.\n"
    "[2/13/26, 9:15:02\u202fAM] Ruben Maia: I live in Porto.\nAnd you?\n"
    "[2/13/26, 9:16:00\u202fPM] Ines: I live in Bergen.\n"
    "\u200e[2/13/26, 9:17:00\u202fPM] Ines: \u200eimage omitted\n"
)
WHATSAPP_DOTS: Final = (
    "03.02.26, 09:15 - Ruben Maia: I live in Porto.\nAnd you?\n03.02.26, 21:16 - Ines: I live in Bergen.\n"
)


def _telegram(number: int, name: str, text: object, **more: object) -> Table:
    return {
        "id": number,
        "type": "message",
        "date": f"2026-02-13T21:1{number}:00",
        "from": name,
        "from_id": f"user{len(name)}",
        "text": text,
        **more,
    }


TELEGRAM: Final[Table] = {
    "name": "Ruben Maia",
    "type": "personal_chat",
    "id": 77,
    "messages": [
        {"id": 1, "type": "service", "date": "2026-02-13T21:11:00", "actor": "Ines", "action": "phone_call"},
        _telegram(2, "Ruben Maia", "I live in Porto."),
        _telegram(3, "Ines", ["I live in ", {"type": "bold", "text": "Bergen"}, "."]),
        _telegram(4, "Ines", "", photo="photos/1.jpg"),
        _telegram(5, "Ines", "I live in Rome.", forwarded_from="Carla"),
    ],
}
TELEGRAM_ALL: Final[Table] = {
    "personal_information": {"user_id": 4, "first_name": "I."},
    "chats": {"about": "All chats.", "list": [{**TELEGRAM, "messages": TELEGRAM["messages"][:4]}]},
}
WEBUI: Final[list[Table]] = [
    {
        "id": "chat-1",
        "user_id": "u",
        "title": "Towns",
        "created_at": 1_770_000_000,
        "chat": {
            "title": "Towns",
            "history": {
                "currentId": "c",
                "messages": {
                    "a": {"id": "a", "parentId": None, "role": "user", "content": "I live in Bergen."},
                    "b": {"id": "b", "parentId": "a", "role": "assistant", "content": "Rome?"},
                    "c": {
                        "id": "c",
                        "parentId": "a",
                        "role": "assistant",
                        "content": '<details type="reasoning">Hm.</details>Bergen, noted.',
                        "timestamp": 1_770_000_060,
                    },
                },
            },
        },
    }
]
WEBUI_MEMORIES: Final[list[Table]] = [
    {"id": "m", "user_id": "u", "content": "Lives in Bergen", "updated_at": 1_770_000_000, "created_at": 1_760_000_000}
]
TAVERN: Final[list[Table]] = [
    {"user_name": "Ines", "character_name": "Mira", "create_date": "2026-2-13 @09h 15m 02s 1ms", "chat_metadata": {}},
    {"name": "Mira", "is_user": False, "send_date": "February 13, 2026 9:15am", "mes": "I live in Rome."},
    {"name": "Ines", "is_user": True, "send_date": "2026-2-13 @21h 16m 00s 5ms", "mes": "I live in Bergen."},
    {"name": "System", "is_user": False, "is_system": True, "send_date": "", "mes": "Saved."},
]
ACTIVITIES: Final[list[Table]] = [
    {
        "header": "Gemini Apps",
        "title": "Prompted I live in Bergen.",
        "time": "2026-02-13T21:16:00.000Z",
        "products": ["Gemini Apps"],
        "safeHtmlItem": [{"html": "<p>Bergen, <b>noted</b>.</p>"}],
    },
    {"header": "Gemini Apps", "title": "Used an Assistant feature", "time": "2026-02-13", "products": ["Gemini Apps"]},
    {"header": "Search", "title": "Searched for Rome", "time": "2026-02-13", "products": ["Search"]},
]


def _both(folder: Path, name: str, texts: Sequence[str]) -> Path:
    """Write a file of a format in which the user says some texts."""
    inputs = [_input("user", text, second=n) for n, text in enumerate(texts)]
    events = [_event("user.message", {"content": text}, n) for n, text in enumerate(texts, 2)]
    turns = [_gemini(f"g{n}", "user", text, n) for n, text in enumerate(texts)]
    messages = [_telegram(n, "ana", text) for n, text in enumerate(texts)]
    files: dict[str, tuple[str, list[Table] | Table]] = {
        "codex": ("rollout-1.jsonl", [CODEX[0], *inputs]),
        "copilot": ("events.jsonl", [COPILOT[0], *events]),
        "gemini-cli": ("session-1.json", {**_GEMINI_HEAD, "messages": turns}),
        "telegram": ("result.json", {**TELEGRAM, "messages": messages}),
        "open-webui": (
            "memories.json",
            [{**WEBUI_MEMORIES[0], "id": str(n), "content": text} for n, text in enumerate(texts)],
        ),
        "sillytavern": ("chat.jsonl", [TAVERN[0], *({**TAVERN[2], "mes": text} for text in texts)]),
        "gemini-takeout": (
            "MyActivity.json",
            [{**ACTIVITIES[0], "title": f"Prompted {text}", "safeHtmlItem": []} for text in texts],
        ),
    }
    file, value = files[name]
    if isinstance(value, list) and file.endswith(".jsonl"):
        return write_lines(folder / file, value)
    return write_whole(folder / file, value)


def _written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def list_writers(*texts: str) -> dict[str, Callable[[Path], Path]]:
    """Return, by format, a function that writes a file in which the user ana says the texts."""
    tables = ("codex", "copilot", "gemini-cli", "telegram", "open-webui", "sillytavern", "gemini-takeout")
    chat = "".join(f"13/02/2026, 09:15 - ana: {text}\n" for text in texts)
    return {
        **{name: partial(_both, name=name, texts=texts) for name in tables},
        "whatsapp": lambda folder: _written(folder / "chat.txt", chat),
        "hermes": lambda folder: _written(folder / "USER.md", "\n§\n".join(texts)),
        "openclaw": lambda folder: _written(folder / "USER.md", "".join(f"- **Notes:** {text}\n" for text in texts)),
    }
