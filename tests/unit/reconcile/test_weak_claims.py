"""What is not meant, not sure or not trusted never replaces a belief."""

import pytest

from credenda.model.claim import UpdateKind
from credenda.model.memory import Cardinality, Layer, MemoryType, Relation, Stance, Status

from .build import World, claim, day, kinds


@pytest.mark.requirement("D-005", "R-040")
@pytest.mark.parametrize("stance", [Stance.HYPOTHETICAL, Stance.ROLE_PLAY, Stance.SARCASTIC])
def test_what_is_not_meant_is_kept_beside_the_belief_at_low_confidence(stance: Stance) -> None:
    world = World()
    world.tell(claim("Rome"))
    changes = world.tell(claim("Bern", stance=stance, confidence=0.9), at=1)
    assert kinds(changes) == ["Add"]
    supposed = world.of("Bern")
    assert (supposed.status, supposed.layer) == (Status.ACTIVE, Layer.WORKING)
    assert supposed.confidence <= 0.3
    assert world.of("Rome").status is Status.ACTIVE


@pytest.mark.requirement("D-005")
@pytest.mark.parametrize("stance", [Stance.CONSIDERED, Stance.PLANNED, Stance.REPORTED])
def test_plans_and_reports_stand_beside_the_belief(stance: Stance) -> None:
    world = World()
    world.tell(claim("Python", "language"))
    changes = world.tell(claim("Rust", "language", stance=stance, confidence=0.5), at=1)
    assert kinds(changes) == ["Add"]
    assert world.of("Rust").confidence == 0.5
    assert kinds(world.tell(claim("Rust", "language", stance=stance, confidence=0.5), at=2)) == ["Confirm"]


@pytest.mark.requirement("D-005")
def test_a_game_confirms_no_fact_though_the_words_are_the_same() -> None:
    world = World()
    world.tell(claim("doctor", "job_title", text="I am a doctor"))
    changes = world.tell(claim("doctor", "job_title", text="I am a doctor", stance=Stance.ROLE_PLAY), at=1)
    assert kinds(changes) == ["Add"]
    slotless = claim(None, None, text="It rains", stance=Stance.ASSERTED)
    world.tell(slotless)
    assert kinds(world.tell(claim(None, None, text="It rains", stance=Stance.SARCASTIC))) == ["Add"]


def test_a_report_of_what_is_known_confirms_it() -> None:
    world = World()
    world.tell(claim("Linz"))
    assert kinds(world.tell(claim("Linz", stance=Stance.REPORTED), at=1)) == ["Confirm"]


@pytest.mark.parametrize("stance", [Stance.PLANNED, Stance.HYPOTHETICAL, Stance.CONSIDERED])
def test_a_plan_gives_way_when_it_comes_true(stance: Stance) -> None:
    world = World()
    world.tell(claim("Graz"))
    world.tell(claim("Linz", stance=stance, confidence=0.5), at=1)
    world.tell(claim("Linz", move=UpdateKind.CHANGE), at=2)
    wished, fact = [one for one in world.memories.values() if one.value == "Linz"]
    assert (wished.status, wished.relation, wished.superseded_by) == (Status.SUPERSEDED, Relation.REFINED, fact.id)
    assert world.values() == ["Linz"]
    assert world.true_at(1.5) == ["Graz"], "a plan was never true"


@pytest.mark.requirement("D-006")
@pytest.mark.parametrize(
    ("confidence", "trust", "stands"),
    [
        (0.3, 1.0, True),
        (0.6, 1.0, True),
        (0.7, 1.0, False),
        (0.9, 1.0, False),
        (0.9, 0.7, True),
        (0.9, 0.5, True),
    ],
)
def test_a_clearly_weaker_claim_only_challenges(*, confidence: float, trust: float, stands: bool) -> None:
    world = World()
    world.tell(claim("Graz", confidence=0.9))
    world.tell(claim("Linz", confidence=confidence), at=1, trust=trust)
    assert world.values() == (["Graz"] if stands else ["Linz"])
    assert world.of("Linz").status is (Status.CHALLENGED if stands else Status.ACTIVE)


@pytest.mark.requirement("D-006")
def test_sources_of_like_trust_replace_each_other() -> None:
    world = World()
    world.tell(claim("Graz"), trust=0.7)
    world.tell(claim("Linz"), at=1, trust=0.5)
    assert world.values() == ["Linz"]


@pytest.mark.requirement("D-006")
def test_a_claim_that_no_search_shows_hides_none_that_is_shown() -> None:
    world = World()
    world.tell(claim("Graz", confidence=0.5))
    world.tell(claim("Linz", confidence=0.35), at=1)
    assert world.values() == ["Graz"]


@pytest.mark.requirement("D-006")
def test_a_weak_denial_ends_nothing() -> None:
    world = World()
    world.tell(claim("fish", "eats"))
    world.tell(claim("fish", "eats", move=UpdateKind.END), at=1, trust=0.5)
    assert world.memories["m1-abc123"].status is Status.ACTIVE
    assert world.of("fish").status is Status.CHALLENGED


@pytest.mark.requirement("D-006")
def test_a_weak_decision_doubts_no_fact() -> None:
    world = World()
    world.tell(claim("MySQL", "database"))
    changes = world.tell(claim("Postgres", "database", type=MemoryType.DECISION), at=1, trust=0.5)
    assert kinds(changes) == ["Add"]


@pytest.mark.requirement("D-006")
def test_a_challenge_said_again_weakly_is_counted_and_said_firmly_it_wins() -> None:
    world = World()
    world.tell(claim("Graz"))
    world.tell(claim("Linz"), at=1, trust=0.5)
    assert kinds(world.tell(claim("Linz"), at=2, trust=0.5)) == ["Confirm"]
    assert world.values() == ["Graz"]
    world.tell(claim("Linz"), at=3)
    assert world.values() == ["Linz"]
    assert world.of("Linz").trust == 1.0
    assert (world.true_at(2), world.true_at(4)) == (["Graz"], ["Linz"])


@pytest.mark.requirement("D-006", "D-007")
def test_a_challenge_repeated_as_one_of_several_does_not_win_beside_what_stands() -> None:
    world = World()
    world.tell(claim("morning", "shift"))
    world.tell(claim("noon", "shift", confidence=0.6), at=1)
    world.tell(claim("noon", "shift", cardinality=Cardinality.SET), at=2)
    assert world.values() == ["morning"]


@pytest.mark.requirement("D-006")
def test_a_challenge_that_never_won_leaves_as_wrong() -> None:
    world = World()
    world.tell(claim("Graz"))
    world.tell(claim("Wels"), at=1, trust=0.5)
    world.tell(claim("Linz", move=UpdateKind.CHANGE), at=2)
    assert (world.of("Graz").relation, world.of("Wels").relation) == (Relation.CHANGED, Relation.CORRECTED)
    assert world.true_at(1.5) == ["Graz"]


def test_a_faint_memory_is_replaced_by_the_same_said_firmly() -> None:
    world = World()
    world.tell(claim("doctor", "job_title", confidence=0.3))
    world.tell(claim("doctor", "job_title", confidence=0.9), at=1)
    assert [one.confidence for one in world.memories.values() if one.status is Status.ACTIVE] == [0.9]
    assert world.memories["m1-abc123"].valid_until_us == day(1)
