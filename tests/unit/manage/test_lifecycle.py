"""What moves up, what is put away, and what neither touches."""

from dataclasses import replace

import pytest

from credenda.manage.lifecycle import LifecycleRules, LifecycleState, decide_lifecycle, get_next_layer
from credenda.model.change import SetLayer, SetStatus
from credenda.model.memory import Layer, Memory, MemoryType, Status

RULES = LifecycleRules()
MINUTE = 1 / 1440


def held(layer: Layer, *, importance: float = 0.5, pinned: bool = False, contested: bool = False) -> Memory:
    return Memory(
        id="m1-abcde1",
        version=1,
        text="ran a marathon",
        type=MemoryType.FACT,
        created_us=0,
        recorded_us=0,
        layer=layer,
        importance=importance,
        pinned=pinned,
        contested=contested,
    )


def stands(
    layer: Layer,
    *,
    age: float = 0,
    idle: float | None = None,
    uses: int = 0,
    retention: float = 1,
    worth: float = 0.5,
    stated: float = 0.5,
) -> LifecycleState:
    memory, since = held(layer, importance=stated), age if idle is None else idle
    return LifecycleState(
        memory=memory, age_days=age, idle_days=since, uses=uses, retention=retention, importance=worth
    )


@pytest.mark.requirement("E-063")
@pytest.mark.parametrize(("idle", "fate"), [(91.0, "archived"), (90.0, "stays"), (1.0, "stays")])
def test_what_was_recalled_within_the_ninety_days_is_not_put_away(idle: float, fate: str) -> None:
    one = stands(Layer.EPISODIC, age=400, idle=idle, uses=1, retention=0.01, worth=0.1, stated=0.1)
    assert (decided(one) or "stays") == fate


def decided(one: LifecycleState) -> str:
    match decide_lifecycle([one], RULES):
        case [SetLayer(layer=layer)]:
            return layer
        case [SetStatus(status=status)]:
            return status
        case _:
            return ""


@pytest.mark.requirement("E-059")
@pytest.mark.parametrize(
    ("worth", "stated", "uses", "to"),
    [(0.7, 0.5, 5, "semantic"), (0.5, 0.7, 5, "semantic"), (0.69, 0.69, 5, ""), (0.9, 0.9, 4, "")],
)
def test_an_episode_becomes_lasting_when_it_matters_and_is_used(
    worth: float, stated: float, uses: int, to: str
) -> None:
    assert decided(stands(Layer.EPISODIC, uses=uses, worth=worth, stated=stated)) == to


@pytest.mark.requirement("E-060", "E-001")
@pytest.mark.parametrize(
    ("age", "uses", "stated", "to"),
    [
        (29 * MINUTE, 0, 0.5, ""),
        (31 * MINUTE, 0, 0.5, "episodic"),
        (1 * MINUTE, 2, 0.1, "episodic"),
        (31 * MINUTE, 0, 0.2, "archived"),
        (31 * MINUTE, 1, 0.2, "episodic"),
    ],
)
def test_working_memories_move_on_or_expire(age: float, uses: int, stated: float, to: str) -> None:
    assert decided(stands(Layer.WORKING, age=age, uses=uses, stated=stated)) == to


FADED = stands(Layer.EPISODIC, age=91, uses=2, retention=0.149, worth=0.29, stated=0.29)


@pytest.mark.requirement("E-063")
@pytest.mark.parametrize(
    "kept",
    [
        replace(FADED, age_days=90),
        replace(FADED, retention=0.15),
        replace(FADED, importance=0.3),
        replace(FADED, memory=held(Layer.EPISODIC, importance=0.3)),
        replace(FADED, uses=3),
    ],
)
def test_only_what_is_old_faded_unimportant_and_unused_is_put_away(kept: LifecycleState) -> None:
    assert decided(FADED) == "archived"
    assert decided(kept) == ""


@pytest.mark.requirement("E-064", "E-062")
@pytest.mark.parametrize(
    "exempt",
    [
        held(Layer.SEMANTIC, importance=0.1),
        held(Layer.PROCEDURAL, importance=0.1),
        held(Layer.CODEBASE, importance=0.1),
        held(Layer.EPISODIC, importance=0.1, pinned=True),
        held(Layer.EPISODIC, importance=0.1, contested=True),
        replace(held(Layer.EPISODIC, importance=0.1), status=Status.CHALLENGED),
    ],
)
def test_lasting_pinned_and_doubted_memories_stay(exempt: Memory) -> None:
    assert decided(replace(FADED, memory=exempt)) == ""


@pytest.mark.requirement("E-061")
def test_the_ladder_has_two_ends_and_two_layers_beside_it() -> None:
    assert get_next_layer(Layer.WORKING, up=True) is Layer.EPISODIC
    assert get_next_layer(Layer.SEMANTIC, up=False) is Layer.EPISODIC
    assert get_next_layer(Layer.SEMANTIC, up=True) is get_next_layer(Layer.WORKING, up=False) is None
    assert get_next_layer(Layer.PROCEDURAL, up=True) is get_next_layer(Layer.CODEBASE, up=False) is None
