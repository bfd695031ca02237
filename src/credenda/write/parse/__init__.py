"""Claims from parsed sentences: clauses, whom they are about, and the attributes that their verbs name."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.write.parse import (
        extractor as extractor,
    )

__getattr__ = load_on_use(__name__)
