"""Every page, in the order of the menu."""

from __future__ import annotations

from typing import Final

from credenda.interfaces.web.page import Page
from credenda.interfaces.web.pages import agent, deletion, inbox, memories, memory, overview, search, sessions, undo

__all__ = ["PAGES"]

PAGES: Final[tuple[Page, ...]] = (
    overview.PAGE,
    agent.PAGE,
    inbox.PAGE,
    memories.PAGE,
    search.PAGE,
    sessions.PAGE,
    sessions.SESSION,
    memory.PAGE,
    deletion.PAGE,
    undo.PAGE,
)
