"""The slot, type and thresholds of a fact, by its attribute for the reader. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from credenda.model.memory import MemoryType
from credenda.model.reading import Fact, FactChange, FactStatus
from credenda.write.extract.moments import find_end, past_dates, stated_period

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


# Since when and until when a fact holds, by its words. Pure.


_PRESENT: Final = frozenset({FactStatus.NOW, FactStatus.PLANNED, FactStatus.CONSIDERED})


def find_period(fact: Fact, value: str, now_us: int, *, planned: bool) -> tuple[int | None, int | None]:
    """Return since when and until when a fact holds by its words; for one that ended, since when it does no more."""
    words = _find_time_words(fact)
    past = past_dates(words, now_us)
    since, until = past.since, past.until
    changes = fact.change is not FactChange.NONE or bool(fact.old)
    if fact.status in _PRESENT and (fact.when or changes or planned):
        since, until = stated_period(words, fact.quote.text, now_us, planned=planned, begins=changes)
    elif fact.status is FactStatus.ENDED and fact.when and since is None and until is None:
        since = next((one.from_us for one in past.spans), None)
    return since, find_end(value, now_us) if fact.attribute == "deadline" else until


def _find_time_words(fact: Fact) -> str:
    """Return the words that say when, of which the reader may miss the first: "the day after tomorrow"."""
    if not fact.when:
        return fact.quote.text
    before = fact.quote.text[: max(fact.quote.text.find(fact.when), 0)]
    return f"the day {fact.when}" if before.lower().endswith("the day ") else fact.when
