"""The implementation of each operation, one module per verb or topic."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.services import (  # isort: skip - one list
        access as access,
        agent_claims as agent_claims,
        belief_test as belief_test,
        browse as browse,
        bursts as bursts,
        code_scan as code_scan,
        consolidation as consolidation,
        consolidation_candidates as consolidation_candidates,
        consolidation_progress as consolidation_progress,
        context as context,
        core as core,
        costs as costs,
        delete as delete,
        directory as directory,
        doctor as doctor,
        dream as dream,
        edit as edit,
        embedding_compression as embedding_compression,
        erase as erase,
        expectation as expectation,
        extraction_preview as extraction_preview,
        file_submission as file_submission,
        file_sync as file_sync,
        flip_flop_audit as flip_flop_audit,
        items as items,
        jobs as jobs,
        lifecycle as lifecycle,
        llm_extraction as llm_extraction,
        locks as locks,
        lookup as lookup,
        memory_status as memory_status,
        migrate as migrate,
        outcome as outcome,
        page_writing as page_writing,
        rebuild as rebuild,
        reextract as reextract,
        remember as remember,
        resolve as resolve,
        response_claims as response_claims,
        restore_from_files as restore_from_files,
        scheduled_tasks as scheduled_tasks,
        score_response as score_response,
        search as search,
        settle as settle,
        stats as stats,
        undo as undo,
        waiting as waiting,
    )

__getattr__ = load_on_use(__name__)
