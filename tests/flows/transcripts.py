"""Makes transcripts in the shape that Claude Code writes, for tests of their import."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

SESSION: Final = "6f0a1f9e-0000-4000-8000-000000000001"
_WORDS: Final = [
    "the",
    "build",
    "fails",
    "because",
    "parser",
    "expects",
    "token",
    "stream",
    "cache",
    "worker",
    "queue",
    "index",
    "commit",
    "branch",
    "deploy",
    "pipeline",
    "module",
    "function",
    "variable",
    "search",
    "ranking",
    "vector",
    "table",
    "schema",
    "migration",
    "latency",
    "budget",
    "error",
    "handler",
    "retry",
    "timeout",
    "review",
]
_SAID: Final = (
    "I work at Brixen Labs.",
    "I prefer tabs over spaces.",
    "I live in Graz.",
    "I moved to Linz last month.",
    "My editor is Helix.",
    "We decided to use SQLite for the cache.",
    "Always run the linter before you commit.",
)


def line(kind: str, content: Sequence[object] | int, number: int = 1, **more: object) -> dict[str, Any]:
    """Make one line; its id follows from the number."""
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{number}", "model": "claude-sonnet", "usage": {"output_tokens": 9}}
    moment = datetime(2026, 1, 5, 9, tzinfo=UTC) + timedelta(seconds=17 * number)
    return {
        "parentUuid": uid(number - 1) if number > 1 else None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/ana/api",
        "sessionId": SESSION,
        "version": "2.0.14",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": uid(number),
        "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        **more,
    }


def uid(number: int) -> str:
    """Name a line."""
    return f"00000000-0000-4000-8000-{number:012d}"


def written(path: Path, *lines: object) -> Path:
    """Write a transcript; bytes are lines as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in lines))
    return path


def realistic(count: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """Make a session as they are: of ten lines one is a prompt, three are answers, six call tools and hear back."""
    dice = random.Random(seed)

    def prose(most: int, words: int) -> str:
        return " ".join(
            " ".join(dice.choices(_WORDS, k=dice.randint(4, words))).capitalize() + "."
            for _ in range(dice.randint(1, most))
        )

    for number in range(1, count + 1):
        match number % 10:
            case 1:
                fact = f"{dice.choice(_SAID)} " if dice.random() < 0.2 else ""
                yield line("user", f"{fact}{prose(4, 18)} Marker{number}.", number)
            case 2 | 5 | 0:
                yield line("assistant", [{"type": "text", "text": prose(8, 20)}], number)
            case 3 | 6 | 8:
                call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": prose(2, 12)}}
                yield line("assistant", [{"type": "thinking", "thinking": prose(4, 20)}, call], number)
            case _:
                heard = [{"type": "tool_result", "tool_use_id": f"toolu_{number - 1}", "content": prose(60, 20)}]
                yield line("user", heard, number, toolUseResult={"stdout": "x" * dice.randint(0, 3_000)})
