"""What the tests of reading with a model say and ask."""

from __future__ import annotations

from collections.abc import Callable

from credenda import Credenda
from credenda.model.memory import Memory
from credenda.model.report import ModelUse
from credenda.testing import ModelFailure, Trouble

BEES = "They are so full, the hives behind our shed, I counted forty."
"""A sentence that the rules read nothing from, and that the gate lets through."""
CLAIM: dict[str, object] = {"quote": "I counted forty", "attribute": "hives", "value": "forty"}
BUSY = ModelFailure(Trouble.BUSY, "it answered 429", wait_seconds=90)
AWAY = ModelFailure(Trouble.AWAY, "no answer within 30 s")
CUT = ModelFailure(Trouble.CUT, "its answer was cut off", tokens_in=100, tokens_out=20)
Reopen = Callable[..., Credenda]


def say(memory: Credenda, *texts: str) -> None:
    for text in texts:
        memory.remember(text)
        memory.settle()


def held(memory: Credenda, status: str | None = "active") -> list[tuple[str | None, str | None]]:
    return sorted((one.attribute, one.value) for one in memory.list(status=status, limit=50).items)


def only(memory: Credenda) -> Memory:
    (found,) = memory.list().items
    return found


def use_of(memory: Credenda) -> ModelUse:
    use = memory.stats().model
    assert use is not None
    return use
