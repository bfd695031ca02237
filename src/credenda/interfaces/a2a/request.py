"""Read the message of another agent: a new task, or an answer to a question of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from credenda import limits
from credenda.errors import Invalid
from credenda.model.agent_task import Skill
from credenda.text.normalize import normalise_name

__all__ = ["Answer", "Choice", "Handover", "Incoming", "check_label", "read_answer", "read_handover"]

_LABEL: Final = re.compile(rf"[A-Za-z0-9._:@/-]{{1,{limits.AGENT_ID_CHARACTERS}}}")
_CHOICES: Final = {"keep existing": "existing", "keep new": "new", "keep both": "both"}
_HANDOVER: Final = frozenset({"skill", "messages", "topic", "contests"})
_ANSWER: Final = frozenset({"question", "resolution", "keep", "scopes"})
Choice = str
"""One of existing, new and both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message as the protocol carries it: its text parts, and the objects of its data parts joined."""

    message_id: str
    context_id: str = ""
    task_id: str = ""
    texts: tuple[str, ...] = ()
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """A new task: messages to consolidate, or the contests to ask about, where () means all open ones."""

    skill: Skill
    messages: tuple[Mapping[str, Any], ...] = ()
    topic: str | None = None
    contests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer to a question; without an id, to the first one."""

    question: str = ""
    choice: Choice = ""
    keep: str | None = None
    scopes: Mapping[str, str] | None = None


def check_label(text: str, name: str) -> str:
    """Check an id that another agent has chosen: it is stored, and must not carry words of a memory."""
    if not _LABEL.fullmatch(text):
        why = f"it has other characters than letters, digits and ._:@/-, or more than {limits.AGENT_ID_CHARACTERS}"
        raise Invalid(f"the {name} is no id", why=why, fix="use a UUID")
    return text


def read_handover(incoming: Incoming) -> Handover:
    """Read a new task; raises `Invalid` for one that cannot be meant."""
    data = _check_names(incoming.data, _HANDOVER)
    messages = [{"role": "user", "content": text} for text in incoming.texts if text.strip()]
    messages += _read_messages(data.get("messages", []))
    skill = _read_skill(data.get("skill", Skill.CONSOLIDATE.value))
    if skill is Skill.CONSOLIDATE:
        if not messages or "contests" in data:
            raise Invalid(f"{skill} takes messages", why="there is no text", fix="send a text part, or `messages`")
        return Handover(skill=skill, messages=tuple(messages), topic=_read_text(data, "topic"))
    if "messages" in data or "topic" in data:
        raise Invalid(f"{skill} takes no messages", fix="send `contests`, or nothing")
    return Handover(skill=skill, contests=tuple(_read_words(data.get("contests", []), "contests")))


def _read_skill(value: object) -> Skill:
    try:
        return Skill(str(value))
    except ValueError:
        raise Invalid("there is no such skill", fix=f"use {' or '.join(one.value for one in Skill)}") from None


def _read_messages(value: object) -> list[dict[str, Any]]:
    found = cast("list[object]", value) if isinstance(value, list) else [value]
    if not all(isinstance(one, dict) for one in found):
        raise Invalid("messages must be a list of objects", fix='send [{"role": "user", "content": "…"}]')
    return cast("list[dict[str, Any]]", found)


def read_answer(incoming: Incoming) -> Answer:
    """Read an answer; text is one of the choices, a value, or the words "X when …, else Y"."""
    data = _check_names(incoming.data, _ANSWER)
    said = " ".join(incoming.texts).strip()
    choice, keep, scopes = _read_text(data, "resolution"), _read_text(data, "keep"), _read_scopes(data.get("scopes"))
    if choice is None and keep is None and scopes is None and said:
        choice = said if _find_choice(said) else None
        keep = None if choice else said
    if choice is not None and _find_choice(choice) is None:
        raise Invalid("there is no such resolution", fix="use keep_existing, keep_new or keep_both")
    if (keep is not None) + (choice is not None) + (scopes is not None and choice is None) != 1:
        why = "it must be one of resolution, keep and scopes"
        raise Invalid("the message is no answer", why=why, fix='send {"resolution": "keep_new"}')
    return Answer(
        question=_read_text(data, "question") or "",
        choice=_find_choice(choice or "") or "",
        keep=keep,
        scopes=scopes,
    )


def _find_choice(words: str) -> Choice | None:
    return _CHOICES.get(normalise_name(words.replace("_", " ").rstrip(".")))


def _check_names(data: Mapping[str, Any], known: Iterable[str]) -> Mapping[str, Any]:
    for name in data:
        if name not in known:
            raise Invalid(f"there is no field {name[:64]!r} here", fix=f"it takes {', '.join(sorted(known))}")
    return data


def _read_text(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise Invalid(f"{name} must be text", fix="send a string")
    return value


def _read_words(value: object, name: str) -> Sequence[str]:
    words = cast("list[object]", value) if isinstance(value, list) else [value]
    if not all(isinstance(word, str) for word in words):
        raise Invalid(f"{name} must be a list of ids", fix="send a list of strings")
    return cast("list[str]", words)


def _read_scopes(value: object) -> Mapping[str, str] | None:
    if value is None:
        return None
    table = cast("dict[str, object]", value) if isinstance(value, dict) else {"": None}
    if not all(isinstance(one, str) for one in table.values()):
        raise Invalid("scopes must map each scope to a value", fix='send {"at work": "tea", "default": "coffee"}')
    return cast("dict[str, str]", table)
