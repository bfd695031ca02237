"""Code: what it declares, and whether what is remembered of it still holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from credenda.errors import Invalid, NotFound, Unavailable
from credenda.operations.entries.schema import LOCAL, NOT_A_SKILL, Operation, Param

__all__ = ["ENTRIES"]

ENTRIES: Final = (
    Operation(
        name="scan",
        call="data.scan",
        summary="Keep what the code in a folder declares, as memories of their own layer; a second scan adds nothing.",
        params=(Param(name="path", type=Path, remote="nothing", help="The folder of the project.", positional=True),),
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        idempotent=True,
        scope="memory:write",
        closed=LOCAL,
    ),
    Operation(
        name="drift",
        call="manage.drift",
        summary="Hold what memories claim about code against the code in the folders meant for it, and nothing else.",
        params=(
            Param(
                name="roots",
                type=Sequence[Path],
                remote="nothing",
                help="The folders of the projects. [default: those of the setting drift_roots]",
                positional=True,
                optional=True,
                person_only=True,
            ),
            Param(name="fix", type=bool, default=False, help="Give up memories with errors; `undo` takes it back."),
        ),
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        closed={**NOT_A_SKILL, "rest": LOCAL["rest"]},
    ),
)
