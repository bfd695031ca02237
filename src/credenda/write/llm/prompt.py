"""Build the prompt for one passage. Pure.

The instructions are a versioned file. User text goes into one JSON document, where no text can end its own string;
secrets are masked, independently of the secrets policy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from credenda import limits
from credenda.clock import to_datetime
from credenda.model.event import Event, Role
from credenda.model.memory import Memory, Stance
from credenda.providers.llm.protocol import Question
from credenda.write.intake.secrets import screen_secrets
from credenda.write.llm.passage import Passage
from credenda.write.reconcile.slots import get_valid_from_us

__all__ = ["PROMPT", "known_id", "question_about", "turn_id"]

PROMPT: Final = "extract-5"
"""Version of the instructions and of the schema; it changes with either of them."""
_QUOTED_CHARACTERS: Final = 120
"""Most characters of the words of a known memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Instructions:
    text: str
    schema: Mapping[str, object]


@cache
def _instructions() -> _Instructions:
    folder = files("credenda.write") / "prompts"
    schema: dict[str, object] = json.loads((folder / f"{PROMPT}.schema.json").read_text("utf-8"))
    return _Instructions(text=(folder / f"{PROMPT}.md").read_text("utf-8"), schema=schema)


def known_id(at: int) -> str:
    """Return the id of a known memory in the prompt."""
    return f"k{at + 1}"


def turn_id(at: int) -> str:
    """Return the id of a message in the prompt."""
    return f"t{at + 1}"


def question_about(passage: Passage) -> Question:
    """Ask for the claims of a passage."""
    instructions = _instructions()
    names = {event: turn_id(at) for at, event in enumerate(passage.event_ids)}
    known: dict[str, dict[str, str]] = {}
    for at, memory in enumerate(passage.known):
        known.setdefault(_format_day(get_valid_from_us(memory)), {})[known_id(at)] = _show_memory(memory)
    document = {
        "date": _format_day(passage.turns[-1].event.occurred_us),
        "known": dict(sorted(known.items())),
        "messages": [_show_message(one, names.get(one.id)) for one in passage.messages],
    }
    return Question(
        instructions=instructions.text,
        prompt=json.dumps(document, ensure_ascii=False, separators=(",", ":")),
        schema=instructions.schema,
        tokens_max=limits.LLM_ANSWER_TOKENS,
    )


def _clean(text: str, most: int) -> str:
    return screen_secrets(text, "mask").text[:most]


def _show_message(event: Event, name: str | None) -> dict[str, Any]:
    speaker = event.speaker if event.role in {Role.PERSON, Role.DOCUMENT} else event.role.value
    most = limits.LLM_BEFORE_CHARACTERS if name is None else limits.LLM_TEXT_CHARACTERS
    return ({} if name is None else {"turn": name}) | {"from": speaker, "text": _clean(event.text, most)}


def _show_memory(memory: Memory) -> str:
    """Show a memory in one line: "user residence: Graz" or its words; with its scope, stance of note and end."""
    unusual = "" if memory.stance is Stance.ASSERTED else f" ({memory.stance.value})"
    unusual += "" if memory.valid_until_us is None else f" (until {_format_day(memory.valid_until_us)})"
    scope = f" ({memory.scope})" if memory.scope else ""
    slot = f"{memory.entity} {memory.attribute}{scope}: {memory.value}" if memory.value else ""
    return _clean(f"{slot or f'“{_shorten(memory.text)}”'}{unusual}", limits.LLM_BEFORE_CHARACTERS)


def _format_day(time_us: int) -> str:
    return f"{to_datetime(time_us):%F}"


def _shorten(text: str) -> str:
    return text if len(text) <= _QUOTED_CHARACTERS else f"{text[:_QUOTED_CHARACTERS].rsplit(' ', 1)[0]} …"
