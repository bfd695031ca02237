"""The slot, type and thresholds of a fact, by its attribute for the reader."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from credenda.model.memory import MemoryType

_DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSchema:
    """A row of `attributes.toml`, where the columns are described."""

    name: str
    many: bool = False
    kin: bool = False
    keyed: bool = False
    thing: bool = False
    order: bool = False
    event: bool = False
    type: MemoryType = MemoryType.FACT
    certain: float
    sure: float
    both: float


@cache
def load_fact_schemas() -> Mapping[str, FactSchema]:
    """Load the rows by the attribute of the reader; cached."""
    text = resources.files("credenda.write.facts").joinpath("attributes.toml").read_text("utf-8")
    rows = tomllib.loads(text)
    default = rows.pop(_DEFAULT)
    return {name: _make_schema(name, default | row) for name, row in rows.items()}


def _make_schema(name: str, row: dict[str, object]) -> FactSchema:
    columns = {key: value for key, value in row.items() if key not in {"as", "type"}}
    kind = MemoryType(str(row.get("type", MemoryType.FACT)))
    return FactSchema(name=str(row.get("as", name)), type=kind, **columns)  # pyright: ignore[reportArgumentType] - columns of the table
