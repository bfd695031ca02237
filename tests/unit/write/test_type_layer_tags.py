"""Type, layer and tags say three things about a memory, and none follows from another."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from credenda import Credenda, MemoryUnit
from credenda.model.memory import Layer, MemoryType
from credenda.operations import OPERATIONS


@pytest.mark.requirement("C-013")
def test_type_layer_and_tags_are_independent(tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "memory.db", user="ana", embedder="none", workers=False) as mem:
        for kind, layer in product(MemoryType, Layer):
            held = mem.store(MemoryUnit(text=f"A {kind} kept as {layer}", type=kind, layer=layer, tags=("a", "b")))
            assert (held.type, held.layer, held.tags) == (kind, layer, ("a", "b"))
            engram = kind.value if kind in {MemoryType.PROCEDURE, MemoryType.NARRATIVE} else "fact"
            assert held.memory_type == engram
        found = [one for layer in Layer for one in mem.list(layer=layer, limit=50).items]
        assert len(found) == len(MemoryType) * len(Layer)


@pytest.mark.requirement("C-016")
def test_no_operation_takes_a_user(tmp_path: Path) -> None:
    for operation in OPERATIONS.values():
        assert not {"user", "user_id", "tenant"} & {param.name for param in operation.params}
    with Credenda.open(tmp_path / "memory.db", user="ana", embedder="none", workers=False) as mem:
        mem.remember("I live in Linz.", agent="helper", session="s1")
        mem.settle()
        memory = mem.list().items[0]
        assert (mem.user, memory.source_session) == ("ana", "s1")
        assert mem.why(memory.id).evidence[0][0].agent == "helper"
