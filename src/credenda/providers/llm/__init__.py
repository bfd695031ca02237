"""The protocol of language models, and its implementations."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.providers.llm import client as client
    from credenda.providers.llm import command as command
    from credenda.providers.llm import pydantic_ai as pydantic_ai

__getattr__ = load_on_use(__name__)
