"""One address for every page of the registry, with what it needs to show something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from playwright.sync_api import Page

Find = Callable[[Page], str]


def read(page: Page, path: str) -> Any:  # noqa: ANN401 - JSON
    response = page.request.get(path)
    assert response.ok, f"{path}: {response.status} {response.text()[:300]}"
    return response.json()


def find_memory(page: Page, words: str = "Portland") -> Mapping[str, Any]:
    """Return a memory that has these words, or any."""
    found = read(page, f"/memories.json?q={words}&status=all")["memories"]
    return found[0] if found else read(page, "/memories.json?status=all")["memories"][0]


def find_change(page: Page) -> str:
    memory = find_memory(page)
    changes = read(page, f"/memory/{memory['id']}.json")["changes"]
    return f"{memory['id']}.{changes[-1]['id']}"


def find_session(page: Page) -> str:
    return str(read(page, "/sessions.json")["sessions"][-1]["session"])


def find_job(page: Page) -> str:
    return str(read(page, "/jobs.json")["jobs"][0]["id"])


ADDRESSES: Final[Mapping[str, Find]] = {
    "overview": lambda _: "/",
    "agent": lambda _: "/agent?prompt=Where+do+I+live%3F",
    "inbox": lambda _: "/inbox",
    "memories": lambda _: "/memories?status=all",
    "search": lambda _: "/search?q=where+do+I+live",
    "sessions": lambda _: "/sessions",
    "session": lambda page: f"/session?session={find_session(page)}",
    "entities": lambda _: "/entities?name=user",
    "code": lambda _: "/code",
    "retention": lambda _: "/retention?half_life_days=90",
    "consolidation": lambda _: "/consolidation",
    "jobs": lambda _: "/jobs",
    "job": lambda page: f"/job/{find_job(page)}",
    "data": lambda _: "/data",
    "connect": lambda _: "/connect",
    "audit": lambda _: "/audit?check=yes",
    "memory": lambda page: f"/memory/{find_memory(page)['id']}",
    "deletion": lambda page: f"/memory/{find_memory(page)['id']}/delete",
    "undo": lambda page: f"/undo?change={find_change(page)}",
}
