"""Build the prompt for one turn. Pure.

The instructions are a versioned file. User text goes into one JSON document, where no text can end its own string;
secrets are masked, independently of the secrets policy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from credenda import limits
from credenda.clock import to_datetime
from credenda.model.claim import Claim, Turn
from credenda.model.event import Event, Role
from credenda.model.memory import Memory
from credenda.providers.llm.protocol import Question
from credenda.write.intake.secrets import screen_secrets

__all__ = ["PROMPT", "known_id", "question_about", "reading_id"]

PROMPT: Final = "extract-1"
"""Version of the instructions and of the schema; it changes with either of them."""


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


def reading_id(at: int) -> str:
    """Return the id of a rules' claim in the prompt."""
    return f"r{at + 1}"


def question_about(turn: Turn, readings: Sequence[Claim]) -> Question:
    """Ask for the claims of one turn; `turn.known` are memories that it may affect, `readings` the rules' claims."""
    instructions = _instructions()
    document: dict[str, Any] = {
        "message": {**_said(turn.event, limits.LLM_TEXT_CHARACTERS), "at": f"{to_datetime(turn.event.occurred_us):%F}"},
        "before": [_said(one, limits.LLM_CONTEXT_CHARACTERS) for one in turn.before[-limits.LLM_CONTEXT_TURNS :]],
        "known": [_known(at, one) for at, one in enumerate(turn.known)],
        "readings": [_reading(at, one) for at, one in enumerate(readings)],
    }
    return Question(
        instructions=instructions.text,
        prompt=json.dumps(document, ensure_ascii=False, indent=0),
        schema=instructions.schema,
        tokens_max=limits.LLM_ANSWER_TOKENS,
    )


def _clean(text: str, most: int) -> str:
    return screen_secrets(text, "mask").text[:most]


def _said(event: Event, most: int) -> dict[str, str]:
    speaker = event.speaker if event.role in {Role.PERSON, Role.DOCUMENT} else event.role.value
    return {"from": speaker, "text": _clean(event.text, most)}


def _known(at: int, memory: Memory) -> dict[str, object]:
    shown = {
        "id": known_id(at),
        "type": memory.type.value,
        "entity": memory.entity,
        "attribute": memory.attribute,
        "value": memory.value,
        "scope": memory.scope,
        "stance": memory.stance.value,
    }
    text = {} if memory.value else {"text": _clean(memory.text, limits.LLM_CONTEXT_CHARACTERS)}
    return {name: value for name, value in (shown | text).items() if value is not None}


def _reading(at: int, claim: Claim) -> dict[str, object]:
    shown = {
        "id": reading_id(at),
        "quote": _clean(claim.text, limits.LLM_CONTEXT_CHARACTERS),
        "type": claim.type.value,
        "entity": claim.entity,
        "attribute": claim.attribute,
        "value": claim.value,
        "stance": claim.stance.value,
        "move": claim.move.value,
    }
    return {name: value for name, value in shown.items() if value is not None}
