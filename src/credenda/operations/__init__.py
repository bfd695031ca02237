"""The table of operations, from which every interface is built."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.operations import (
        outputs as outputs,
    )

__getattr__ = load_on_use(__name__)
