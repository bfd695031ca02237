"""What holds of every story, however it goes."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.model.change import Add, Change, Confirm, Contest, ContestState, Forget, SetStatus, Supersede
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Cardinality, MemoryType, Stance, Status
from credenda.write.reconcile.decide import decide
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, SlotRows, get_slot

from .build import World, claim, day, kinds, occasion

VALUES = st.sampled_from(["morning", "late morning", "afternoon", "noon"])
MOVES = st.sampled_from([UpdateKind.STATE, UpdateKind.STATE, UpdateKind.CHANGE, UpdateKind.CORRECT, UpdateKind.END])
STANCES = st.sampled_from([Stance.ASSERTED] * 6 + list(Stance))
TYPES = st.sampled_from([MemoryType.PREFERENCE, MemoryType.FACT, MemoryType.DECISION, MemoryType.PROCEDURE])
SCOPES = st.sampled_from([None, None, None, "consulting", "Fridays"])
SPEAKERS = st.sampled_from(["user", "user", "Ana"])
TRUSTS = st.sampled_from([1.0, 1.0, 0.7, 0.5])
CONFIDENCES = st.sampled_from([0.95, 0.9, 0.8, 0.6, 0.35, 0.2])

claims = st.builds(
    claim,
    VALUES,
    st.just("meeting_time"),
    type=TYPES,
    speaker=SPEAKERS,
    scope=SCOPES,
    move=MOVES,
    stance=STANCES,
    confidence=CONFIDENCES,
    prior=st.none() | VALUES,
    cardinality=st.sampled_from([Cardinality.SINGLE] * 5 + [Cardinality.SET]),
    valid_from_us=st.none() | st.none() | st.integers(-5, 40).map(day),
)
told = st.tuples(claims, st.floats(0, 60), TRUSTS)
stories = st.lists(told, max_size=14)


def lived(story: list[tuple[Claim, float, float]]) -> World:
    world = World()
    for said, at, trust in story:
        world.tell(said, at=at, trust=trust)
    return world


def touched(changes: list[Change]) -> set[str]:
    names: set[str] = set()
    for change in changes:
        match change:
            case Confirm() | Supersede() | SetStatus() | Forget():
                names.add(change.memory_id)
            case Contest():
                names.update(change.memory_ids)
            case _:
                continue
    return names


def decided(world: World, said: Claim, at: float, trust: float) -> tuple[SlotRows, list[Change]]:
    when = occasion(at, trust=trust)
    known = world.known(said)
    return known, decide(said, known, when)


@pytest.mark.requirement("R-074")
@given(stories, told, st.randoms(use_true_random=False))
def test_deciding_is_repeatable_and_blind_to_the_order_of_rows(
    story: list[tuple[Claim, float, float]], last: tuple[Claim, float, float], shuffle: random.Random
) -> None:
    world = lived(story)
    said, at, trust = last
    known, changes = decided(world, said, at, trust)
    current, past = list(known.current), list(known.past)
    shuffle.shuffle(current)
    shuffle.shuffle(past)
    shuffled = replace(known, current=tuple(current), past=tuple(past))
    assert decide(said, shuffled, occasion(at, trust=trust)) == changes


@pytest.mark.requirement("C-004")
@given(stories, told)
def test_no_claim_touches_what_another_speaker_holds(
    story: list[tuple[Claim, float, float]], last: tuple[Claim, float, float]
) -> None:
    world = lived(story)
    said, at, trust = last
    _, changes = decided(world, said, at, trust)
    for name in touched(changes):
        if name in world.memories:
            assert world.memories[name].speaker == said.speaker


@pytest.mark.requirement("C-006")
@given(stories, told)
def test_no_claim_ends_or_doubts_what_holds_in_another_scope(
    story: list[tuple[Claim, float, float]], last: tuple[Claim, float, float]
) -> None:
    world = lived(story)
    said, at, trust = last
    known, changes = decided(world, said, at, trust)
    slots = {one.id: get_slot(one) for one in known.current}
    own = get_slot(said)
    assert own is not None
    confirmed = {one.memory_id for one in changes if isinstance(one, Confirm)}
    for name in touched(changes) - confirmed:
        slot = slots.get(name)
        assert slot is None or slot.scope == own.scope


@pytest.mark.requirement("D-008")
@given(stories, told)
def test_the_same_claim_twice_is_added_once(
    story: list[tuple[Claim, float, float]], last: tuple[Claim, float, float]
) -> None:
    world = lived(story)
    said, at, trust = last
    world.tell(said, at=at, trust=trust)
    again = world.tell(said, at=at, trust=trust)
    assert "Add" not in kinds(again)


def most_held(world: World) -> int:
    """How many unflagged values the fullest single-valued slot holds."""
    held: Counter[object] = Counter()
    for one in world.memories.values():
        unflagged = one.status is Status.ACTIVE and not one.contested
        if unflagged and one.cardinality is Cardinality.SINGLE and one.stance is Stance.ASSERTED:
            held[get_slot(one)] += 1
    return max(held.values(), default=0)


@pytest.mark.requirement("R-074", "D-008")
@given(stories)
def test_one_slot_never_holds_two_unflagged_values(story: list[tuple[Claim, float, float]]) -> None:
    assert most_held(lived(story)) <= 1


@pytest.mark.requirement("C-014")
@given(stories)
def test_what_is_untrue_has_an_end_and_no_period_is_turned_round(story: list[tuple[Claim, float, float]]) -> None:
    for one in lived(story).memories.values():
        if one.status is Status.SUPERSEDED:
            assert one.valid_until_us is not None
            assert one.valid_from_us is not None
            assert one.valid_from_us <= one.valid_until_us


@pytest.mark.requirement("D-005", "D-006")
@given(stories, told)
def test_what_is_not_meant_changes_nothing_that_is_held(
    story: list[tuple[Claim, float, float]], last: tuple[Claim, float, float]
) -> None:
    world = lived(story)
    said, at, trust = last
    supposed = replace(said, stance=Stance.HYPOTHETICAL)
    _, changes = decided(world, supposed, at, trust)
    assert set(kinds(changes)) <= {"Add", "Confirm"}
    for change in changes:
        if isinstance(change, Confirm):
            assert world.memories[change.memory_id].stance not in ASSERTIVE_STANCES
        if isinstance(change, Add):
            assert change.draft.confidence <= 0.3


@pytest.mark.requirement("R-077")
@given(stories)
def test_every_saying_is_kept_as_evidence_and_no_memory_is_lost(story: list[tuple[Claim, float, float]]) -> None:
    world = lived(story)
    assert {event for _, event, _ in world.evidence} == {f"e{number + 1}-abc123" for number in range(len(story))}
    assert all(one.status in {Status.ACTIVE, Status.CHALLENGED, Status.SUPERSEDED} for one in world.memories.values())


@pytest.mark.requirement("R-086")
@given(stories, st.integers(0, 9), st.sampled_from(["keep", "scopes"]))
def test_an_answer_closes_the_question_and_leaves_one_value_a_slot(
    story: list[tuple[Claim, float, float]], pick: int, style: str
) -> None:
    world = lived(story)
    for case in world.open():
        value = case.values[pick % len(case.values)]
        if style == "scopes":
            world.resolve(61, scopes={"the answer": value, "default": case.values[0]}, case=case)
        else:
            world.resolve(61, keep=value, case=case)
        assert world.contests[case.id].state is ContestState.RESOLVED
        assert not any(world.memories[one].contested for one in case.memory_ids)
        assert not any(world.memories[one].status is Status.ACTIVE for one in case.memory_ids)
    assert most_held(world) <= 1


@pytest.mark.requirement("R-077")
def test_a_surer_word_of_a_past_period_stays_in_the_past() -> None:
    faint, firm = claim("late morning", "meeting_time", confidence=0.35), claim("late morning", "meeting_time")
    world = lived([(claim("morning", "meeting_time"), 1.0, 1.0), (faint, 0.0, 1.0), (firm, 0.0, 1.0)])
    assert [one.value for one in world.memories.values() if one.status is Status.ACTIVE] == ["morning"]
    assert most_held(world) == 1
