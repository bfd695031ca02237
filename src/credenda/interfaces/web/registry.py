"""Every page, in the order of the menu."""

from __future__ import annotations

from typing import Final

from credenda.interfaces.web.page import Page
from credenda.interfaces.web.pages import (
    agent,
    audit,
    code,
    connect,
    consolidation,
    data,
    deletion,
    entities,
    inbox,
    job,
    jobs,
    memories,
    memory,
    overview,
    retention,
    search,
    sessions,
    undo,
)

PAGES: Final[tuple[Page, ...]] = (
    overview.PAGE,
    agent.PAGE,
    inbox.PAGE,
    memories.PAGE,
    search.PAGE,
    sessions.PAGE,
    sessions.SESSION,
    entities.PAGE,
    code.PAGE,
    retention.PAGE,
    consolidation.PAGE,
    jobs.PAGE,
    job.PAGE,
    data.PAGE,
    connect.PAGE,
    audit.PAGE,
    memory.PAGE,
    deletion.PAGE,
    undo.PAGE,
)
