"""Further hosts: two sessions in each of Gemini CLI, Qwen Code, opencode and Copilot CLI."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from .rig import ASKED, SAID, SEARCH, VALUE, Person, hire

pytestmark = pytest.mark.long_hosts
KEYS = {"apiKey": "none"}
REWRITTEN = {".qwen/settings.json", ".config/opencode/opencode.json"}
"""Files that their host writes anew at its first start."""


def _write(person: Person, path: str, settings: Mapping[str, Any]) -> None:
    place = person.home / path
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(settings))


def _set_up_gemini(person: Person) -> list[str]:
    _write(person, ".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    person.environment |= {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": person.model.address}
    person.environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    return ["--yolo", "--model", "gemini-2.5-pro", "--prompt"]


def _set_up_qwen(person: Person) -> list[str]:
    _write(person, ".qwen/settings.json", {"security": {"auth": {"selectedType": "openai"}}})
    person.environment |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{person.model.address}/v1"}
    person.environment["OPENAI_MODEL"] = "stub"
    return ["--yolo", "--prompt"]


def _set_up_opencode(person: Person) -> list[str]:
    options = {"baseURL": f"{person.model.address}/v1", **KEYS}
    models = {"stub": {"name": "stub", "tool_call": True}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "here", "options": options, "models": models}
    model = {"model": "here/stub", "small_model": "here/stub", "provider": {"here": provider}}
    _write(person, ".config/opencode/opencode.json", {**model, "autoupdate": False})
    return ["run"]


def _set_up_copilot(person: Person) -> list[str]:
    person.environment |= {"COPILOT_OFFLINE": "true", "COPILOT_MODEL": "stub"}
    person.environment["COPILOT_PROVIDER_BASE_URL"] = f"{person.model.address}/v1"
    person.environment["COPILOT_PROVIDER_API_KEY"] = "none"
    return ["--allow-all-tools", "-p"]


@pytest.mark.parametrize(
    ("host", "set_up"),
    [("gemini", _set_up_gemini), ("qwen", _set_up_qwen), ("opencode", _set_up_opencode), ("copilot", _set_up_copilot)],
)
def test_hooks_recall_tools_answer_and_a_removal_leaves_nothing(tmp_path: Path, host: str, set_up: Any) -> None:  # noqa: ANN401 - one of those above
    with hire(tmp_path, host) as person:
        command = [str(person.program), *set_up(person)]
        before = person.look()
        name = "vscode" if host == "copilot" else host
        person.plugin("install", host)
        assert not person.status(name)["ok"]
        person.run(*command, SAID)
        person.await_memory()
        person.run(*command, ASKED)
        assert person.status(name)["ok"]
        calls = [json.loads(line) for line in person.read_log()]
        replies = [call["done"] for call in calls if call["event"] in {"Stop", "AfterAgent"}]
        assert len(replies) >= 2, calls
        assert all("journaled" in done for done in replies), calls
        requests = person.model.list_requests(ASKED)
        assert requests, f"{host} sent the prompt to no model"
        first, last = requests[0].conversation.turns, requests[-1].conversation.turns
        assert [turn for turn in first if "Recalled data" in turn.text and VALUE in turn.text], first
        assert [turn for turn in last if turn.who == "call" and turn.text.endswith(SEARCH)], last
        assert VALUE in next(turn.text for turn in reversed(last) if turn.who == "result")
        person.plugin("remove", host)
        after = person.look()
        assert not [path for path in after if "credenda" in path]
        kept = {path: content for path, content in before.items() if path not in REWRITTEN}
        assert {path: after[path] for path in kept} == kept
        assert not [path for path in before if b"credenda" in (after[path] or b"")]
