"""Paraphrases and refinements of known memories."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.write.again import (
        seek as seek,
    )

__getattr__ = load_on_use(__name__)
