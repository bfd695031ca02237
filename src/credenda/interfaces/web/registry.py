"""Every page, in the order of the menu."""

from __future__ import annotations

from typing import Final

from credenda.interfaces.web.pages import memory_pages, question_pages, server_pages, upkeep_pages
from credenda.interfaces.web.view import Page

PAGES: Final[tuple[Page, ...]] = (
    question_pages.OVERVIEW_PAGE,
    question_pages.AGENT_PAGE,
    question_pages.INBOX_PAGE,
    memory_pages.MEMORIES_PAGE,
    question_pages.SEARCH_PAGE,
    question_pages.SESSIONS_PAGE,
    question_pages.SESSION,
    memory_pages.ENTITIES_PAGE,
    upkeep_pages.CODE_PAGE,
    upkeep_pages.RETENTION_PAGE,
    upkeep_pages.CONSOLIDATION_PAGE,
    upkeep_pages.JOBS_PAGE,
    upkeep_pages.JOB_PAGE,
    server_pages.DATA_PAGE,
    server_pages.CONNECT_PAGE,
    server_pages.AUDIT_PAGE,
    memory_pages.MEMORY_PAGE,
    memory_pages.DELETION_PAGE,
    memory_pages.UNDO_PAGE,
)
