"""Embedders: text in, unit vectors out."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.providers.embed import factory as factory
    from credenda.providers.embed import hashed as hashed
    from credenda.providers.embed import minilm as minilm
    from credenda.providers.embed import openai_compatible as openai_compatible
    from credenda.providers.embed import wordllama as wordllama

__getattr__ = load_on_use(__name__)
