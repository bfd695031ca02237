"""Readers of messages."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.providers.reader import tagger as tagger

__getattr__ = load_on_use(__name__)
