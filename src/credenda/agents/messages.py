"""The messages of model clients: find the spoken words, and add recalled text. Pure.

Three shapes are read: Anthropic's messages with `system`, the chat completions of OpenAI and compatible servers, and
OpenAI's responses with `input` and `instructions`. The caller's values are never changed; copies are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from credenda.text.recalled_block import extract_spoken

_TEXT: Final = frozenset({"text", "input_text", "output_text"})
_SYSTEM: Final = frozenset({"system", "developer"})


class UserMessage(NamedTuple):
    """A message of the user: its place among the messages, its spoken words, and how often the same came before.

    `answered` tells whether an answer of the assistant follows it.
    """

    place: int
    text: str
    repeats: int
    answered: bool = False


def find_user_messages(call: Mapping[str, Any]) -> list[UserMessage]:
    """Return the messages of the user with words in a call, in order; results of tools have none."""
    found: list[UserMessage] = []
    counts: dict[str, int] = {}
    messages = _list_messages(call)
    answer = max((at for at, one in enumerate(messages) if _get(one, "role") == "assistant"), default=-1)
    for place, message in enumerate(messages):
        written = _read_text(_get(message, "content")) if _get(message, "role") == "user" else ""
        text = extract_spoken(written)
        if written.strip():
            found.append(UserMessage(place, text, counts.get(text, 0), place < answer))
            counts[text] = counts.get(text, 0) + 1
    return found


def _list_messages(call: Mapping[str, Any]) -> Sequence[Any]:
    given = call.get("messages", call.get("input"))
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return cast("Sequence[Any]", given) if isinstance(given, Sequence) else []


def _get(value: object, name: str) -> Any:  # noqa: ANN401 - a table or an object of a client
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _read_text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, Iterable):
        return ""
    parts = [_get(part, "text") for part in cast("Iterable[Any]", content) if _get(part, "type") in _TEXT]
    return "\n".join(part for part in parts if isinstance(part, str))


def attach(call: Mapping[str, Any], blocks: Mapping[int, str]) -> dict[str, Any]:
    """Return a call with text added to messages, by their place."""
    if not blocks:
        return dict(call)
    key = "messages" if "messages" in call else "input"
    if isinstance(call[key], str):
        return {**call, key: f"{call[key]}\n\n{blocks[0]}" if 0 in blocks else call[key]}
    kind = "text" if key == "messages" else "input_text"
    messages = [
        _add_text(message, blocks[place], kind) if place in blocks else message
        for place, message in enumerate(_list_messages(call))
    ]
    return {**call, key: messages}


def _add_text(message: Any, block: str, kind: str) -> Any:  # noqa: ANN401 - as above
    if not isinstance(message, Mapping):
        return message
    told = cast("Mapping[str, Any]", message)
    content = told.get("content")
    if isinstance(content, str):
        return {**told, "content": f"{content}\n\n{block}"}
    return {**told, "content": [*cast("Iterable[Any]", content), {"type": kind, "text": block}]}


def add_core(call: Mapping[str, Any], core: str, *, system: str) -> dict[str, Any]:
    """Return a call with the core among what the program tells the model; `system` names the input that takes it.

    It is "system" or "instructions" for an input of the call, and "message" for a message of the system.
    """
    if not core:
        return dict(call)
    if system == "message":
        return {**call, "messages": _add_to_system(_list_messages(call), core)}
    held = call.get(system)
    if isinstance(held, str) and held:
        return {**call, system: f"{held}\n\n{core}"}
    if isinstance(held, Sequence) and held and not isinstance(held, str):
        return {**call, system: [*cast("Sequence[Any]", held), {"type": "text", "text": core}]}
    return {**call, system: core}


def _add_to_system(messages: Sequence[Any], core: str) -> list[Any]:
    """Put the core behind the first messages of the system, so that what the program says comes first."""
    place = next((at for at, one in enumerate(messages) if _get(one, "role") not in _SYSTEM), len(messages))
    return [*messages[:place], {"role": "system", "content": core}, *messages[place:]]


def read_reply(answer: object) -> str:
    """Return the words of a model's answer; "" for an answer without any, such as calls of tools alone."""
    output = _get(answer, "output_text")
    if isinstance(output, str):
        return output
    choices = _get(answer, "choices")
    if isinstance(choices, Sequence) and choices:
        return _read_text(_get(_get(cast("Sequence[Any]", choices)[0], "message"), "content"))
    return _read_text(_get(answer, "content"))


def read_delta(event: object) -> str:
    """Return the words that an event of a stream adds to the answer; "" for other events."""
    choices = _get(event, "choices")
    if isinstance(choices, Sequence) and choices:
        found = _get(_get(cast("Sequence[Any]", choices)[0], "delta"), "content")
        return found if isinstance(found, str) else ""
    kind, delta = _get(event, "type"), _get(event, "delta")
    if kind == "response.output_text.delta":
        return delta if isinstance(delta, str) else ""
    if kind == "content_block_delta" and _get(delta, "type") == "text_delta":
        return str(_get(delta, "text") or "")
    return ""
