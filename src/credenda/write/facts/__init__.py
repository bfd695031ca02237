"""From the facts of a message to claims. Pure."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.write.facts import extractor as extractor

__getattr__ = load_on_use(__name__)
