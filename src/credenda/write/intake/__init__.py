"""Check what callers hand in before it is journaled: sizes, secrets, injected instructions."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.write.intake import validate as validate

__getattr__ = load_on_use(__name__)
