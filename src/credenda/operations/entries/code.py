"""Entries for code: scanning, and checking memories about code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from credenda.errors import Invalid, NotFound, Unavailable
from credenda.operations.entries.schema import LOCAL, NOT_A_SKILL, Operation, Param

ENTRIES: Final = (
    Operation(
        name="scan",
        call="data.scan",
        summary="Store the declarations of the code in a folder, in a layer of their own; a second scan adds nothing.",
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
        summary="Check what memories claim about code against the code in the given folders.",
        params=(
            Param(
                name="roots",
                type=Sequence[Path],
                remote="nothing",
                help="Project folders. [default: the setting drift_roots]",
                positional=True,
                optional=True,
                person_only=True,
            ),
            Param(name="fix", type=bool, default=False, help="Invalidate memories with errors; `undo` reverses it."),
        ),
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        closed={**NOT_A_SKILL, "rest": LOCAL["rest"]},
    ),
)
