"""Move a memory to the next or the previous layer."""

from __future__ import annotations

from credenda.errors import Conflict
from credenda.manage.lifecycle import LADDER, get_next_layer
from credenda.model.change import Actor, SetLayer
from credenda.model.memory import Memory
from credenda.runtime import Parts
from credenda.services.edit import commit_edit
from credenda.services.expectation import read_expectation
from credenda.services.lookup import get_current, get_expected
from credenda.services.short_ids import resolve_id
from credenda.storage.store import Writer
from credenda.write.apply import Application, apply

__all__ = ["move_layer"]


def move_layer(parts: Parts, memory_id: str, *, up: bool) -> Memory:
    """Move a memory one layer up or down (E-061).

    Raises `Conflict` at the ends of the ladder and for layers outside it, and `NotFound`.
    """
    memory_id = resolve_id(parts, memory_id)
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        layer = get_next_layer(memory.layer, up=up)
        if layer is None:
            raise Conflict(
                f"{memory_id} cannot be {'promoted' if up else 'demoted'}",
                why=f"it is {memory.layer}, and the ladder is {' → '.join(LADDER)}",
                fix="no further move is possible",
            )
        reason = "promoted by the user" if up else "demoted by the user"
        application = Application(actor=Actor.USER, now_us=parts.clock.now_us())
        apply(writer, [SetLayer(memory_id=memory_id, layer=layer, reason=reason)], application)
        return get_current(writer, memory_id)

    return commit_edit(parts, work)
