"""A wrong argument in Python is answered with the right ones."""

from __future__ import annotations

import pytest

from credenda import Credenda
from credenda.errors import Invalid


def test_a_memory_is_not_made_of_a_path() -> None:
    with pytest.raises(TypeError, match=r"opened with Credenda\.open"):
        Credenda("memory.db")  # pyright: ignore[reportArgumentType]


def test_a_context_names_its_own_arguments_too(mem: Credenda) -> None:
    with pytest.raises(Invalid, match="a context takes no 'tokens'; it takes token_budget, automatic, limit"):
        mem.context("Where do I live?", tokens=100)
