"""The input of agents on standard input, and the answer that each reads: one table of names. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

HOSTS: Final = ("claude-code", "codex", "cursor", "vscode", "copilot", "gemini", "qwen", "opencode")
WARNED: Final = frozenset({"claude-code", "codex", "vscode", "copilot", "gemini", "qwen"})
"""Hosts that show their user a text from a hook."""
_EVENTS: Final[Mapping[str, str]] = {
    "sessionstart": "start",
    "userpromptsubmit": "prompt",
    "beforesubmitprompt": "prompt",
    "userpromptsubmitted": "prompt",
    "userprompttransformed": "prompt",
    "beforeagent": "prompt",
    "posttooluse": "tool",
    "stop": "reply",
    "agentstop": "reply",
    "afteragentresponse": "reply",
    "afteragent": "reply",
    "subagentstart": "subagent_start",
    "subagentstop": "subagent_reply",
    "postcompact": "summary",
    "sessionend": "end",
    "statusline": "status",
}
"""Kinds of moments by the name of the event, in lower case."""
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "session": ("session_id", "sessionId", "conversation_id", "conversationId"),
    "turn": ("prompt_id", "turn_id", "generation_id", "promptId", "timestamp"),
    "prompt": ("prompt", "user_prompt"),
    "reply": ("last_assistant_message", "text", "response", "prompt_response"),
    "report": ("last_assistant_message", "response", "summary"),
    "summary": ("compact_summary", "summary"),
    "folder": ("cwd",),
    "source": ("source",),
    "transcript": ("transcript_path", "transcriptPath"),
    "agent": ("agent_type", "agentType", "subagent_type", "agent_name", "agentName"),
}
"""Fields of each part, in the order in which they are looked for; hosts differ, and so do their versions."""
_UNSET: Final = "unknown"
_NAME_LENGTH: Final = 200


class Moment(NamedTuple):
    """One event of an agent. `kind` is "" for an event that is not handled; the texts are as they were sent."""

    host: str
    event: str
    kind: str
    session: str = _UNSET
    turn: str = ""
    text: str = ""
    folder: str = ""
    source: str = ""
    agent: str = ""
    transcript: str = ""


def parse_moment(host: str, event: str, data: bytes) -> Moment:
    """Read what an agent sent; a missing field is empty. Raises ValueError for data that are not a JSON object."""
    told: object = json.loads(data.decode("utf-8", "replace") or "{}")
    if not isinstance(told, dict):
        raise ValueError("not an object")  # noqa: TRY004 - one kind of complaint about foreign input
    given = cast("Mapping[str, Any]", told)
    name = event or _pick(given, ("hook_event_name", "hookEventName"))
    kind = _EVENTS.get(name.replace("_", "").replace("-", "").casefold(), "")
    worded = {"prompt": "prompt", "reply": "reply", "subagent_reply": "report", "summary": "summary"}.get(kind)
    return Moment(
        host=host,
        event=name,
        kind=kind,
        session=_pick(given, _NAMES["session"])[:_NAME_LENGTH] or _UNSET,
        turn=(_pick(given, _NAMES["turn"]) or _pick_number(given, _NAMES["turn"]))[:_NAME_LENGTH],
        text=_pick(given, _NAMES[worded]) if worded else "",
        folder=_pick(given, _NAMES["folder"]) or _find_root(given),
        source=_pick(given, _NAMES["source"]),
        agent=_pick(given, _NAMES["agent"])[:_NAME_LENGTH],
        transcript=_pick(given, _NAMES["transcript"]),
    )


def _pick(given: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of some fields that is a text and not empty; surrogates are replaced."""
    for name in names:
        value = given.get(name)
        if isinstance(value, str) and value:
            return value.encode("utf-8", "replace").decode("utf-8")
    return ""


def _pick_number(given: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of some fields that is a whole number, as text: a host may count its turns."""
    found = (given.get(name) for name in names)
    return next((str(one) for one in found if isinstance(one, int) and not isinstance(one, bool)), "")


def _find_root(given: Mapping[str, Any]) -> str:
    roots = given.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""  # pyright: ignore[reportUnknownVariableType]
    return first if isinstance(first, str) else ""


def format_answer(moment: Moment, text: str) -> str:
    """Return what the host reads from standard output; "" if there is nothing to say."""
    if not text:
        return ""
    if moment.host == "cursor":
        told: dict[str, object] = {"additional_context": text}
        return json.dumps({"continue": True, **told} if moment.kind == "prompt" else told)
    nested = {"hookSpecificOutput": {"hookEventName": moment.event, "additionalContext": text}}
    if moment.host in {"vscode", "copilot"}:  # Copilot CLI looks for the text above
        return json.dumps({**nested, "additionalContext": text})
    return json.dumps(nested)


def format_warning(text: str) -> str:
    """Return what the host shows its user, and not the model."""
    return json.dumps({"systemMessage": text})


def format_status(held: int, asked: int, doubtful: int) -> str:
    """Return the status line of memories held, open contests and memories in doubt, such as "12 held · 1 question"."""
    parts = [f"{held} held", f"{asked} question{'' if asked == 1 else 's'}" if asked else ""]
    return " · ".join(filter(None, [*parts, f"{doubtful} in doubt" if doubtful else ""]))
