from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.testing import ManualClock, ScriptedModel

from .build import Reopen


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def reopen(path: Path, clock: ManualClock, model: ScriptedModel) -> Iterator[Reopen]:
    opened: list[Credenda] = []

    def open_again(user: str = "ana", llm: object = model, **settings: object) -> Credenda:
        memory = Credenda.open(
            path, user=user, clock=clock, llm=llm, embedder="none", workers=False, settings=settings or None
        )
        opened.append(memory)
        return memory

    yield open_again
    for one in opened:
        one.close()


@pytest.fixture
def mem(reopen: Reopen) -> Credenda:
    return reopen()
