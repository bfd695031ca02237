"""The implementation of each operation, one module per verb or topic."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.services import (
        agent_claims as agent_claims,
    )
    from credenda.services import (
        audit as audit,
    )
    from credenda.services import (
        bursts as bursts,
    )
    from credenda.services import (
        code_scan as code_scan,
    )
    from credenda.services import (
        consolidation as consolidation,
    )
    from credenda.services import (
        consolidation_progress as consolidation_progress,
    )
    from credenda.services import (
        core as core,
    )
    from credenda.services import (
        correct as correct,
    )
    from credenda.services import (
        decay as decay,
    )
    from credenda.services import (
        delete as delete,
    )
    from credenda.services import (
        delete_where as delete_where,
    )
    from credenda.services import (
        diff as diff,
    )
    from credenda.services import (
        drift as drift,
    )
    from credenda.services import (
        embedding_compression as embedding_compression,
    )
    from credenda.services import (
        erase as erase,
    )
    from credenda.services import (
        file_sync as file_sync,
    )
    from credenda.services import (
        forget as forget,
    )
    from credenda.services import (
        hook_findings as hook_findings,
    )
    from credenda.services import (
        lifecycle as lifecycle,
    )
    from credenda.services import (
        llm_extraction as llm_extraction,
    )
    from credenda.services import (
        logins as logins,
    )
    from credenda.services import (
        members as members,
    )
    from credenda.services import (
        oauth_grants as oauth_grants,
    )
    from credenda.services import (
        promote as promote,
    )
    from credenda.services import (
        rebuild as rebuild,
    )
    from credenda.services import (
        reextract as reextract,
    )
    from credenda.services import (
        remember as remember,
    )
    from credenda.services import (
        restore_backup as restore_backup,
    )
    from credenda.services import (
        restore_from_files as restore_from_files,
    )
    from credenda.services import (
        restored as restored,
    )
    from credenda.services import (
        retention_curves as retention_curves,
    )
    from credenda.services import scheduled_tasks as scheduled_tasks
    from credenda.services import (
        store as store,
    )
    from credenda.services import (
        tokens as tokens,
    )
    from credenda.services import (
        usage as usage,
    )
    from credenda.services import (
        walls as walls,
    )

__getattr__ = load_on_use(__name__)
