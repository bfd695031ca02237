"""The conversation that a request contains, and the answer to it, in the form of each provider.

`READERS` reduces the body of a request to who said what and which tools are offered; `WRITERS` gives the body of an
answer, and the events of a streamed one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

Table = Mapping[str, Any]
Event = tuple[str, Table]
"""The name of a streamed event ("" for none) and its data."""


class Turn(NamedTuple):
    """A text of somebody, or a call of a tool, of which the text is the name."""

    who: Literal["system", "user", "assistant", "call", "result"]
    text: str


class Conversation(NamedTuple):
    """The turns, oldest first, and the names of the tools, each with the namespace that the provider wants back."""

    turns: list[Turn]
    tools: dict[str, str]


class Answer(NamedTuple):
    """A text, or the call of a tool."""

    text: str = ""
    tool: str = ""
    arguments: Table = MappingProxyType[str, Any]({})
    namespace: str = ""


def _write(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _speaker(role: object) -> Literal["system", "user", "assistant"]:
    return "user" if role == "user" else "assistant" if role in {"assistant", "model"} else "system"


# The Messages of Anthropic


def _read_messages(body: Table) -> Conversation:
    turns = [Turn("system", _write(body.get("system", "")))]
    for message in body.get("messages", ()):
        content = message["content"]
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] == "text":
                turns.append(Turn(_speaker(message["role"]), part["text"]))
            elif part["type"] == "tool_use":
                turns.append(Turn("call", part["name"]))
            elif part["type"] == "tool_result":
                turns.append(Turn("result", _write(part.get("content", ""))))
    return Conversation(turns, {tool.get("name", ""): "" for tool in body.get("tools", ())})


def _write_messages(answer: Answer, number: int) -> tuple[Table, Iterator[Event]]:
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    block: dict[str, Any] = {"type": "text", "text": answer.text}
    empty: Table = {"type": "text", "text": ""}
    delta: Table = {"type": "text_delta", "text": answer.text}
    if answer.tool:
        block = {"type": "tool_use", "id": f"toolu_{number:024}", "name": answer.tool, "input": answer.arguments}
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": _write(answer.arguments)}
    stop = {"stop_reason": "tool_use" if answer.tool else "end_turn", "stop_sequence": None}
    message = {"id": f"msg_{number:024}", "type": "message", "role": "assistant", "model": "stub", "usage": usage}
    begun: Table = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
    events: list[Table] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return {**message, "content": [block], **stop}, ((event["type"], event) for event in events)


# The Responses of OpenAI


def _read_responses(body: Table) -> Conversation:
    turns = [Turn("system", body.get("instructions") or "")]
    given = body.get("input", ())
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind = item.get("type", "message")
        if kind == "message":
            content = item["content"]
            parts = [{"text": content}] if isinstance(content, str) else content
            turns += [Turn(_speaker(item["role"]), part.get("text", "")) for part in parts]
        elif kind == "function_call":
            turns.append(Turn("call", item["name"]))
        elif kind == "function_call_output":
            turns.append(Turn("result", _write(item["output"])))
    tools: dict[str, str] = {}
    for tool in body.get("tools", ()):
        inner = tool["tools"] if tool.get("type") == "namespace" else [tool]
        space = tool["name"] if tool.get("type") == "namespace" else ""
        tools |= {one.get("name", one.get("type", "")): space for one in inner}
    return Conversation(turns, tools)


def _write_responses(answer: Answer, number: int) -> tuple[Table, Iterator[Event]]:
    item: dict[str, Any] = {
        "type": "message",
        "id": f"msg_{number}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": answer.text, "annotations": []}],
    }
    if answer.tool:
        names = {"name": answer.tool, **({"namespace": answer.namespace} if answer.namespace else {})}
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", **names}
        item |= {"arguments": _write(answer.arguments), "status": "completed"}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    common = {"id": f"resp_{number}", "object": "response", "created_at": 1_700_000_000, "model": "stub"}
    whole = {**common, "status": "completed", "output": [item], "usage": usage}
    events: list[Table] = [
        {"type": "response.created", "response": {**common, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, ((event["type"], {"sequence_number": at, **event}) for at, event in enumerate(events))


# The chat completions of OpenAI


def _read_chat(body: Table) -> Conversation:
    turns: list[Turn] = []
    for message in body.get("messages", ()):
        content = message.get("content") or ""
        parts = [{"text": content}] if isinstance(content, str) else content
        who = "result" if message["role"] == "tool" else _speaker(message["role"])
        turns += [Turn(who, part.get("text", "")) for part in parts if part.get("text")]
        turns += [Turn("call", call["function"]["name"]) for call in message.get("tool_calls") or ()]
    return Conversation(turns, {tool["function"]["name"]: "" for tool in body.get("tools", ())})


def _write_chat(answer: Answer, number: int) -> tuple[Table, Iterator[Event]]:
    common = {"id": f"chatcmpl-{number}", "created": 1_700_000_000, "model": "stub"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.tool:
        called = {"name": answer.tool, "arguments": _write(answer.arguments)}
        message = {"role": "assistant", "content": None}
        message["tool_calls"] = [{"index": 0, "id": f"call_{number}", "type": "function", "function": called}]
    end = "tool_calls" if answer.tool else "stop"
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": end}], "usage": usage}
    choices: tuple[Table, ...] = ({"delta": message, "finish_reason": None}, {"delta": {}, "finish_reason": end})
    chunks: list[Table] = [{"choices": [{"index": 0, **choice}]} for choice in choices]
    chunks.append({"choices": [], "usage": usage})
    events: Iterator[Event] = (("", {**common, "object": "chat.completion.chunk", **chunk}) for chunk in chunks)
    return {**common, "object": "chat.completion", **whole}, events


# The contents of Gemini


def _read_gemini(body: Table) -> Conversation:
    turns: list[Turn] = []
    for content in body.get("contents", ()):
        for part in content.get("parts", ()):
            if "functionCall" in part:
                turns.append(Turn("call", part["functionCall"]["name"]))
            elif "functionResponse" in part:
                turns.append(Turn("result", _write(part["functionResponse"].get("response", ""))))
            elif "text" in part:
                turns.append(Turn(_speaker(content.get("role")), part["text"]))
    declared = [one for tool in body.get("tools", ()) for one in tool.get("functionDeclarations", ())]
    return Conversation(turns, {one["name"]: "" for one in declared})


def _write_gemini(answer: Answer, number: int) -> tuple[Table, Iterator[Event]]:
    del number
    part = {"functionCall": {"name": answer.tool, "args": answer.arguments}} if answer.tool else {"text": answer.text}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stub"}
    return whole, iter([("", whole)])


READERS: Final[Mapping[str, Callable[[Table], Conversation]]] = {
    "messages": _read_messages,
    "responses": _read_responses,
    "chat": _read_chat,
    "gemini": _read_gemini,
}
WRITERS: Final[Mapping[str, Callable[[Answer, int], tuple[Table, Iterator[Event]]]]] = {
    "messages": _write_messages,
    "responses": _write_responses,
    "chat": _write_chat,
    "gemini": _write_gemini,
}
