"""The implementation of each operation, one module per verb or topic."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.services import access as access
    from credenda.services import browse as browse
    from credenda.services import code_scan as code_scan
    from credenda.services import consolidation as consolidation
    from credenda.services import consolidation_progress as consolidation_progress
    from credenda.services import core as core
    from credenda.services import delete as delete
    from credenda.services import directory as directory
    from credenda.services import edit as edit
    from credenda.services import file_sync as file_sync
    from credenda.services import items as items
    from credenda.services import jobs as jobs
    from credenda.services import lifecycle as lifecycle
    from credenda.services import llm_extraction as llm_extraction
    from credenda.services import migrate as migrate
    from credenda.services import rebuild as rebuild
    from credenda.services import remember as remember
    from credenda.services import restore_from_files as restore_from_files
    from credenda.services import scheduled_tasks as scheduled_tasks
    from credenda.services import score_response as score_response
    from credenda.services import search as search
    from credenda.services import settle as settle
    from credenda.services import stats as stats

__getattr__ = load_on_use(__name__)
