"""Voices, speech acts and days of a message, beside its facts. Pure."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.write.extract import moments as moments

__getattr__ = load_on_use(__name__)
