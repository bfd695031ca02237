"""The hooks of the Claude Agent SDK, called by the SDK itself: the program beneath is one that speaks its protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, ClaudeSDKClient, TextBlock, Transport

from credenda import Credenda
from credenda.adapters.claude_agent_sdk import make_hooks
from credenda.text.fence import OPENING

Said = Callable[[str], list[tuple[str, str]]]
ASKED = "Which database do we use for billing?"


class Program(Transport):
    """The program beneath the SDK: it calls the hooks of each turn, keeps what they add, and answers."""

    def __init__(self, *answers: str) -> None:
        self.added: list[str] = []
        self._answers = list(answers)
        self._hooks: dict[str, str] = {}
        self._results: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._out: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._turns: set[asyncio.Task[None]] = set()

    async def connect(self) -> None: ...

    async def end_input(self) -> None: ...

    def is_ready(self) -> bool:
        return True

    async def close(self) -> None:
        await self._out.put(None)

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (message := await self._out.get()) is not None:
            yield message

    async def write(self, data: str) -> None:
        message = json.loads(data)
        if message["type"] == "control_request":
            told = message["request"].get("hooks") or {}
            self._hooks |= {event: one[0]["hookCallbackIds"][0] for event, one in told.items()}
            answer = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            await self._out.put({"type": "control_response", "response": answer})
        elif message["type"] == "control_response":
            await self._results.put(message["response"])
        else:
            turn = asyncio.create_task(self._run_turn(message["message"]["content"]))
            self._turns.add(turn)
            turn.add_done_callback(self._turns.discard)

    async def call_hook(self, event: str, **given: Any) -> dict[str, Any]:
        told = {"session_id": "s1", "transcript_path": "", "cwd": "", "hook_event_name": event, **given}
        request = {"subtype": "hook_callback", "callback_id": self._hooks[event], "input": told, "tool_use_id": None}
        await self._out.put({"type": "control_request", "request_id": event, "request": request})
        result = await self._results.get()
        assert result["subtype"] == "success"
        return result["response"]

    async def _run_turn(self, prompt: str) -> None:
        added = await self.call_hook("UserPromptSubmit", prompt=prompt)
        self.added.append(added.get("hookSpecificOutput", {}).get("additionalContext", ""))
        answer = self._answers.pop(0)
        content = [{"type": "text", "text": answer}]
        await self._out.put({"type": "assistant", "message": {"model": "m", "content": content}, "session_id": "s1"})
        await self.call_hook("Stop", stop_hook_active=False, last_assistant_message=answer)
        done = {"subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 1}
        await self._out.put({"type": "result", **done, "session_id": "s1"})


async def ask(client: ClaudeSDKClient, prompt: str) -> list[str]:
    await client.query(prompt)
    told = [one async for one in client.receive_response()]
    parts = [part for one in told if isinstance(one, AssistantMessage) for part in one.content]
    return [part.text for part in parts if isinstance(part, TextBlock)]


async def test_what_was_said_before_comes_with_the_prompt_once(known: Credenda, said: Said) -> None:
    program = Program("Postgres.", "Still Postgres.")
    async with ClaudeSDKClient(ClaudeAgentOptions(hooks=make_hooks(known)), transport=program) as client:
        assert await ask(client, ASKED) == ["Postgres."]
        assert await ask(client, ASKED) == ["Still Postgres."]
    first, second = program.added
    assert OPENING in first
    assert "Postgres" in first
    assert not second
    turns = [("user", ASKED), ("assistant", "Postgres."), ("user", ASKED), ("assistant", "Still Postgres.")]
    assert said("s1") == turns


async def test_a_compaction_brings_it_again(known: Credenda) -> None:
    program = Program("Postgres.", "Postgres.")
    async with ClaudeSDKClient(ClaudeAgentOptions(hooks=make_hooks(known)), transport=program) as client:
        await ask(client, ASKED)
        await program.call_hook("PreCompact", trigger="auto", custom_instructions=None)
        await ask(client, ASKED)
    assert program.added[0] == program.added[1]


async def test_the_core_comes_with_the_first_prompt(memory: Credenda) -> None:
    memory.remember("Always answer in French.", session="before")
    memory.settle()
    program = Program("Oui.", "Non.")
    async with ClaudeSDKClient(ClaudeAgentOptions(hooks=make_hooks(memory)), transport=program) as client:
        await ask(client, "Hello there.")
        await ask(client, "Good morning to you.")
    assert ["French" in one for one in program.added] == [True, False]


async def test_a_prompt_that_is_told_again_is_stored_once(memory: Credenda, said: Said) -> None:
    (matcher,) = make_hooks(memory)["UserPromptSubmit"]
    told: Any = {"session_id": "s1", "prompt": "I live in Linz.", "prompt_id": "p1"}
    for prompt_id in ("p1", "p1", "p2"):
        await matcher.hooks[0]({**told, "prompt_id": prompt_id}, None, {"signal": None})
    assert said("s1") == [("user", "I live in Linz.")] * 2


@pytest.mark.parametrize("prompt", ["Hi.", ""])
async def test_a_failing_memory_does_not_fail_the_agent(memory: Credenda, prompt: str) -> None:
    program = Program("Hello.")
    options = ClaudeAgentOptions(hooks=make_hooks(memory))
    memory.close()
    async with ClaudeSDKClient(options, transport=program) as client:
        assert await ask(client, prompt) == ["Hello."]
