"""Build the prompt that asks a language model about a group of memories. Pure.

The instructions are a versioned file. User text goes into one JSON document, where no text can end its own string; the
caller passes the function that masks secrets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from credenda import limits
from credenda.clock import to_datetime
from credenda.manage.consolidation.absolute_dates import resolve_relative_dates
from credenda.manage.consolidation.member import Member
from credenda.providers.llm.protocol import Question

__all__ = ["PROMPT_VERSION", "build_question", "format_entry_id"]

PROMPT_VERSION: Final = "consolidate-1"
"""Version of the instructions and of the schema; it changes with either of them."""


@cache
def _load_instructions() -> tuple[str, Mapping[str, object]]:
    folder = files("credenda.manage.consolidation") / "prompts"
    schema: dict[str, object] = json.loads((folder / f"{PROMPT_VERSION}.schema.json").read_text("utf-8"))
    return (folder / f"{PROMPT_VERSION}.md").read_text("utf-8"), schema


def format_entry_id(at: int) -> str:
    """Return the id of an entry in the prompt."""
    return f"e{at + 1}"


def build_question(members: Sequence[Member], clean: Callable[[str], str]) -> Question:
    """Ask which of some memories have the same meaning; relative dates are made absolute."""
    instructions, schema = _load_instructions()
    document = {"entries": [_describe_entry(at, one, clean) for at, one in enumerate(members)]}
    return Question(
        instructions=instructions,
        prompt=json.dumps(document, ensure_ascii=False, indent=0),
        schema=schema,
        tokens_max=limits.LLM_JUDGEMENT_TOKENS,
    )


def _describe_entry(at: int, member: Member, clean: Callable[[str], str]) -> dict[str, object]:
    memory = member.memory
    shown: dict[str, object | None] = {
        "id": format_entry_id(at),
        "text": clean(resolve_relative_dates(memory.text, member.said_us))[: limits.LLM_CONTEXT_CHARACTERS],
        "since": f"{to_datetime(member.said_us):%F}",
        "new": member.fresh,
        "type": memory.type.value,
        "entity": memory.entity,
        "attribute": memory.attribute,
        "value": None if memory.value is None else clean(memory.value)[: limits.LLM_CONTEXT_CHARACTERS],
        "scope": memory.scope,
    }
    return {name: value for name, value in shown.items() if value is not None}
