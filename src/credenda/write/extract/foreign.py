"""A handful of the commonest statements in German, French, Spanish and Portuguese."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from credenda.model.claim import Move
from credenda.model.memory import Cardinality, MemoryType
from credenda.write.extract.lexicon import lexicon, load_table
from credenda.write.extract.patterns import compile_macros
from credenda.write.extract.readings import Reading

__all__ = ["read_foreign"]


@dataclass(frozen=True, slots=True)
class _Shape:
    match: re.Pattern[str]
    attribute: str
    type: MemoryType
    move: Move


@cache
def _starts() -> frozenset[str]:
    return frozenset(load_table("foreign")["starts"])


@cache
def _shapes() -> tuple[_Shape, ...]:
    table = load_table("foreign")
    return tuple(
        _Shape(
            compile_macros(entry["match"], table["macros"]),
            entry["attribute"],
            MemoryType(entry.get("type", "fact")),
            Move(entry.get("move", "state")),
        )
        for entry in table["sentence"]
    )


def _reading(shape: _Shape, value: str, owner: str) -> Reading:
    attribute = lexicon().attribute(shape.attribute)
    many = shape.attribute == "prefers" or attribute.cardinality is Cardinality.SET
    return Reading(
        type=shape.type,
        entity=owner,
        attribute=attribute.name,
        value=value,
        cardinality=Cardinality.SET if many else Cardinality.SINGLE,
        move=shape.move,
        importance=max(attribute.importance, 0.8 if shape.type is MemoryType.PREFERENCE else 0.0),
        durable=True,
        pattern="foreign",
    )


def read_foreign(sentence: str, owner: str) -> list[Reading]:
    """Read a whole sentence in one of the four languages; [] where no shape fits."""
    if sentence.split(" ", 1)[0].lower() not in _starts():
        return []
    for shape in _shapes():
        found = shape.match.match(sentence)
        if found is not None:
            value = found["value"] or found.groupdict().get("value2") or ""
            return [_reading(shape, value.strip(), owner)]
    return []
