"""Values made from rows the quick way are the ones that their constructors make."""

import copy
import pickle
from collections.abc import Sequence
from dataclasses import MISSING, FrozenInstanceError, fields, replace
from typing import Any

import pytest

from credenda.ids import IdKind
from credenda.model.claim import Evidence, Span
from credenda.model.event import Event, Role
from credenda.model.fast_dataclass import compile_fast_init, compile_row_constructor
from credenda.model.memory import Memory, MemoryType, Status
from credenda.storage import rows
from credenda.storage.rows import RowMapper

TAG = "3fa9c2"
MEMORY = Memory(
    id=f"m7-{TAG}",
    version=2,
    text="Lives in Linz.",
    type=MemoryType.FACT,
    status=Status.SUPERSEDED,
    superseded_by=f"m9-{TAG}",
    contested=True,
    tags=("home",),
    metadata={"seen": 1},
    valid_from_us=3,
    valid_until_us=9,
    created_us=1,
    recorded_us=4,
)
EVENT = Event(id=f"e3-{TAG}", text="I live in Linz.", role=Role.USER, speaker="user", occurred_us=1, recorded_us=2)
SPAN = Span(EVENT.id, 2, 6)
EVIDENCE = Evidence(memory_id=MEMORY.id, span=SPAN, claim_hash=b"0123456789abcdef", reader="r")
VALUES: Sequence[Any] = (MEMORY, EVENT, SPAN, EVIDENCE)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_what_is_made_equals_what_the_constructor_makes(value: Any) -> None:  # noqa: ANN401 - of any class
    kind: type[Any] = value.__class__
    parts = {field.name: getattr(value, field.name) for field in fields(kind)}
    made = compile_row_constructor(kind)(list(parts.values()))
    assert type(made) is kind
    assert made == kind(**parts) == value
    assert repr(made) == repr(value)
    assert copy.copy(made) == value
    assert pickle.loads(pickle.dumps(made)) == value  # noqa: S301 - our own bytes
    assert replace(made) == value


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_what_is_made_stays_frozen(value: Any) -> None:  # noqa: ANN401 - of any class
    kind: type[Any] = value.__class__
    names = [field.name for field in fields(kind)]
    made = compile_row_constructor(kind)([getattr(value, name) for name in names])
    with pytest.raises(FrozenInstanceError):
        setattr(made, names[0], "other")
    with pytest.raises(FrozenInstanceError):
        delattr(made, names[-1])


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_swift_constructor_takes_what_the_plain_one_takes(value: Any) -> None:  # noqa: ANN401 - of any class
    kind: type[Any] = value.__class__
    needed = {
        field.name: getattr(value, field.name)
        for field in fields(kind)
        if field.default is MISSING and field.default_factory is MISSING
    }
    made = compile_fast_init(kind)(**needed)
    assert type(made) is kind
    assert made == kind(**needed)
    assert compile_fast_init(kind)(**{field.name: getattr(value, field.name) for field in fields(kind)}) == value
    with pytest.raises(FrozenInstanceError):
        setattr(made, next(iter(needed)), "other")
    with pytest.raises(TypeError):
        compile_fast_init(kind)()
    with pytest.raises(TypeError):
        compile_fast_init(kind)(**needed, nothing=1)


def test_swift_values_share_no_default() -> None:
    make = compile_fast_init(Event)
    one, other = (make(id="e1", text="", role=Role.USER, speaker="", occurred_us=1, recorded_us=1) for _ in range(2))
    assert one.metadata == {}
    assert one.metadata is not other.metadata


@pytest.mark.parametrize("more", [-1, 1])
def test_a_value_missing_or_too_many_is_an_error(more: int) -> None:
    with pytest.raises(ValueError, match="values to unpack"):
        compile_row_constructor(Span)([1, 2, 3, 4][: 3 + more])


def test_a_form_reads_the_columns_it_needs_from_rows_in_any_order() -> None:
    form = RowMapper(Span, ids={"event_id": IdKind.EVENT}, converted={"stop": int})
    found = form.to_values(["stop", "more", "event_id", "start"], [("6", None, 3, 2), ("9", None, 4, 0)], TAG)
    assert found == [SPAN, Span(f"e4-{TAG}", 0, 9)]
    assert form.to_values([], [], TAG) == []


def test_a_memory_goes_into_a_row_and_comes_back() -> None:
    names = {"valid_from_us": "valid_from", "valid_until_us": "valid_until", "last_accessed_us": "last_accessed"}
    row = {
        names.get(name, name.replace("_us", "_at") if name.endswith("_us") else name): cell
        for name, cell in rows.to_memory_row(MEMORY, TAG).items()
    }
    assert rows.to_memory(row, TAG) == MEMORY
    assert rows.to_memories(list(row), [tuple(row.values())], TAG) == [MEMORY]
