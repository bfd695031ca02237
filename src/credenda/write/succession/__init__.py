"""Replacement: a sentence that replaces a memory without naming its slot."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.write.succession import (
        decide as decide,
    )
    from credenda.write.succession import (
        nearness as nearness,
    )
    from credenda.write.succession import (
        old as old,
    )
    from credenda.write.succession import (
        seek as seek,
    )
    from credenda.write.succession import (
        words as words,
    )

__getattr__ = load_on_use(__name__)
