"""A coding agent that calls hooks as each host does, with the fields that the host sends."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from credenda import Credenda
from credenda.hook_files import Places, list_waiting
from credenda.interfaces.hook.run import Options, run_hook
from credenda.interfaces.hook_engine.listener import file_waiting, find_memory_places, listen_to_hooks
from tests.backends import name_target
from tests.waiting import await_that

EVENTS: dict[str, dict[str, str]] = {
    "claude-code": {"start": "SessionStart", "prompt": "UserPromptSubmit", "reply": "Stop"},
    "codex": {"start": "SessionStart", "prompt": "UserPromptSubmit", "reply": "Stop"},
    "cursor": {"start": "sessionStart", "prompt": "beforeSubmitPrompt", "reply": "afterAgentResponse"},
    "vscode": {"start": "SessionStart", "prompt": "UserPromptSubmit", "reply": "Stop", "tool": "PostToolUse"},
    "copilot": {"start": "SessionStart", "prompt": "UserPromptSubmit", "reply": "Stop", "end": "SessionEnd"},
    "gemini": {"start": "SessionStart", "prompt": "BeforeAgent", "reply": "AfterAgent"},
    "qwen": {"start": "SessionStart", "prompt": "UserPromptSubmit", "reply": "Stop"},
    "opencode": {"prompt": "UserPromptSubmit", "reply": "Stop"},
}


class CodingAgent:
    """A session of an agent in a folder, with a memory of its user."""

    def __init__(self, folder: Path, host: str = "claude-code", session: str = "s1", place: Path | None = None) -> None:
        self.database = folder / "memory.db"
        self.host = host
        self.session = session
        self.place = place or folder
        self.turn = 0

    @property
    def target(self) -> str:
        """The database as a hook is told it: the file, or the address of a server."""
        return name_target(self.database)

    def open(self) -> Credenda:
        return Credenda.open(self.target, user="ana", workers=False)

    def teach(self, *sentences: str, session: str = "before", project: str | None = None) -> None:
        metadata = {"project": project} if project else None
        with self.open() as memory:
            for sentence in sentences:
                memory.remember(sentence, session=session, metadata=metadata)
            memory.settle()

    def send(self, kind: str, **fields: object) -> str:
        """Send an event, and return what the host reads."""
        event = EVENTS[self.host].get(kind, kind)
        return self.send_raw(event, json.dumps({**self._common(event), **fields}).encode())

    def send_raw(self, event: str, data: bytes, *, seconds: float = 60) -> str:
        """Send bytes; what a hook says is tested, so that it has more time than at work."""
        options = Options(event=event, host=self.host, database=self.target, user="ana", background=False)
        return run_hook(options, data, seconds=seconds)

    def send_within(self, prompt: str, *, seconds: float) -> str:
        """Send a prompt to a hook that has less time."""
        told = {**self._common(EVENTS[self.host]["prompt"]), "prompt": prompt}
        return get_text(self.send_raw(EVENTS[self.host]["prompt"], json.dumps(told).encode(), seconds=seconds))

    def start(self, source: str = "startup") -> str:
        return get_text(self.send("start", source=source))

    def say(self, prompt: str, **fields: object) -> str:
        """Send a prompt, and return the text that the model gets."""
        self.turn += 1
        keys = {"claude-code": "prompt_id", "codex": "turn_id", "cursor": "generation_id", "opencode": "prompt_id"}
        key = keys.get(self.host, "timestamp")
        return get_text(self.send("prompt", **{"prompt": prompt, key: f"t{self.turn}", **fields}))

    def hear(self, reply: str) -> str:
        names = {"cursor": "text", "gemini": "prompt_response"}
        return self.send("reply", **{names.get(self.host, "last_assistant_message"): reply})

    def file(self) -> int:
        """File what waits, and derive the beliefs."""
        with self.open() as memory:
            count = file_waiting(memory, find_memory_places(memory))
            memory.settle()
        return count

    @property
    def places(self) -> Places:
        with self.open() as memory:
            return find_memory_places(memory)

    @property
    def waiting(self) -> list[dict[str, Any]]:
        return [json.loads(Path(path).read_bytes()) for path in list_waiting(self.places)]

    def _common(self, event: str) -> dict[str, Any]:
        if self.host == "cursor":
            return {"conversation_id": self.session, "hook_event_name": event, "workspace_roots": [str(self.place)]}
        if self.host == "vscode":
            return {"sessionId": self.session, "hookEventName": event, "cwd": str(self.place)}
        told = {"session_id": self.session, "hook_event_name": event, "cwd": str(self.place)}
        return {**told, "transcript_path": "/nowhere.jsonl", "permission_mode": "default"}


def get_text(answer: str) -> str:
    """Return the text for the model in an answer; "" for none."""
    if not answer:
        return ""
    told = json.loads(answer)
    if "hookSpecificOutput" in told:
        return str(told["hookSpecificOutput"]["additionalContext"])
    return str(told.get("additional_context", ""))


@contextmanager
def running_engine(memory: Credenda, places: Places) -> Generator[None]:
    """Keep an engine listening; it begins when a hook has made the folder."""
    Path(places.folder).mkdir(parents=True, exist_ok=True)
    with listen_to_hooks(memory):
        await_that(Path(places.socket).exists, "the socket of the engine")
        yield
