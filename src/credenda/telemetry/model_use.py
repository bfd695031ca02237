"""Tokens and cost of language models in the current call."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class ModelUse:
    """The sum over the calls of models."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0


_current: ContextVar[ModelUse | None] = ContextVar("credenda_model_use", default=None)


@contextmanager
def measure_model_use() -> Generator[ModelUse]:
    """Count the calls of models inside the block, and in threads that it starts with its context."""
    use = ModelUse()
    token = _current.set(use)
    try:
        yield use
    finally:
        _current.reset(token)


def add_model_use(tokens_in: int, tokens_out: int, cost_usd: float) -> None:
    """Count a call of a model; nothing where nobody counts."""
    use = _current.get()
    if use is not None:
        use.tokens_in += tokens_in
        use.tokens_out += tokens_out
        use.cost_usd += cost_usd
