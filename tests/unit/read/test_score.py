"""What rows are worth, and what their scores mean."""

import math
from typing import Literal, Unpack

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.model.query import Query
from credenda.read.candidates import (
    Candidates,
    QuestionSignals,
    Rise,
    Row,
    Signs,
    estimate_answerability,
    measure_lead,
    measure_rise,
    pick_most_relevant,
)
from credenda.read.score import compute_final_scores, compute_recall_weights, score_rows
from credenda.read.weights import Calibration, load_talk_weights, load_weights

from .build import MemoryParts, candidates, day, memory

WORDS = load_weights().engine(None)


Profile = Literal["default", "recall", "evidence"]
COVERED = Signs(words=1, coverage=1)


def row(
    key: float = 1.0, *, signs: Signs = COVERED, id: str = "m1-abcde1", at: float = 0, **parts: Unpack[MemoryParts]
) -> Row:
    held = memory(id=id, at=at, **parts)
    return Row(kind="memory", id=held.id, text=held.text, key=key, signs=signs, memory=held)


def only(one: Row, query: Query, now: float = 0) -> Row:
    (scored,) = score_rows([one], query, load_weights(), day(now))
    return scored


@pytest.mark.requirement("R-118")
@given(st.floats(0, 1))
def test_recalls_weights_add_up_to_one(recency_weight: float) -> None:
    made = compute_recall_weights(recency_weight)
    assert made.relevance + made.recency + made.importance + made.strength == pytest.approx(1)
    assert made.relevance == pytest.approx(0.70 - 0.30 * recency_weight)
    assert made.recency == pytest.approx(0.40 * recency_weight)
    assert made.importance == pytest.approx(0.20 - 0.10 * recency_weight)
    assert made.strength == pytest.approx(0.10)


@pytest.mark.requirement("R-119", "R-097")
def test_recalls_score_is_the_published_sum() -> None:
    one = row(0.5, importance=0.9, decay_score=0.3, access_count=3, last_accessed_us=day(6))
    two = row(0.5, id="m2-abcde1", access_count=7)
    scored, _ = score_rows([one, two], Query(text="q", profile="recall"), load_weights(), day(10))
    expected: dict[str, float] = {
        "relevance": 0.61 * 0.5,
        "recency": 0.12 * math.exp(-4 / 4),
        "importance": 0.17 * 0.9 * 0.3,
        "strength": 0.10 * math.log(4) / math.log(8),
    }
    assert scored.terms == pytest.approx(expected)
    assert scored.key == pytest.approx(sum(expected.values()))


@pytest.mark.requirement("D-001")
@pytest.mark.parametrize("profile", ["default", "recall", "evidence"])
def test_relevant_beats_important_but_irrelevant(profile: Profile) -> None:
    """First on both lists but old and of little weight, against far down both lists, fresh, weighty and popular."""
    old = row(1.0 if profile == "recall" else 3.0, importance=0.5, decay_score=1.0, at=-60)
    fresh = row(0.3, id="m2-abcde1", importance=1.0, decay_score=1.0, access_count=9)
    first, second = score_rows([old, fresh], Query(text="q", profile=profile), load_weights(), day(0))
    assert first.key > second.key


@pytest.mark.requirement("S-065")
def test_profile_evidence_ranks_by_relevance_and_recency_alone() -> None:
    query = Query(text="q", profile="evidence")
    weighty, light = row(1, importance=1.0, decay_score=0.9), row(1, importance=0.0, decay_score=0.1)
    assert only(weighty, query).key == only(light, query).key
    assert set(only(weighty, query).terms) == {"relevance", "recency"}


@pytest.mark.requirement("R-123")
def test_a_higher_recency_weight_prefers_the_fresh() -> None:
    assert Query(text="q").recency_weight == 0.3
    profiles: tuple[Profile, ...] = ("default", "recall", "evidence")
    for profile in profiles:
        gaps: list[float] = []
        for recency_weight in (0.0, 0.3, 1.0):
            query = Query(text="q", profile=profile, recency_weight=recency_weight)
            gaps.append(only(row(0.5), query).key - only(row(0.5, at=-20), query).key)
        assert gaps[0] == pytest.approx(0)
        assert 0 < gaps[1] < gaps[2]


@pytest.mark.requirement("R-098")
def test_decay_lowers_a_memory_and_does_not_remove_it() -> None:
    query = Query(text="q")
    faded, lively = only(row(1, decay_score=0.0), query), only(row(1, decay_score=1.0), query)
    assert lively.key - faded.key == pytest.approx(load_weights().standing.retention)


def sureness(*, engine: Calibration = WORDS, asking: QuestionSignals | None = None, **signs: float) -> float:
    marks = {"slot", "rarest"}
    given = Signs(**{name: bool(value) if name in marks else value for name, value in signs.items()})  # pyright: ignore[reportArgumentType]
    return estimate_answerability(
        [row(signs=given)], [], engine, load_weights(), asking=asking or QuestionSignals(searched=600)
    )


@pytest.mark.requirement("C-020")
def test_an_answer_is_surer_the_more_of_the_question_is_covered() -> None:
    sure = [sureness(coverage=part) for part in (0.0, 0.3, 0.7, 1.0)]
    assert sure == sorted(sure)
    assert sure[0] < 0.04
    assert sure[1] > 2 * sure[0]


@pytest.mark.requirement("C-020")
def test_a_slot_that_holds_the_answer_is_sure_without_shared_words() -> None:
    assert sureness(slot=True) > 0.5


@pytest.mark.requirement("C-020")
def test_an_empty_slot_counts_against_an_answer_unless_the_words_are_there() -> None:
    slot = QuestionSignals(names_slot=True, searched=600)
    assert sureness(coverage=0.5, asking=slot) < sureness(coverage=0.5)
    assert sureness(coverage=0.9, asking=slot) == sureness(coverage=0.9)


@pytest.mark.requirement("C-020")
def test_the_rarest_word_of_the_question_counts_for_itself() -> None:
    assert sureness(coverage=0.5, rarest=True) > sureness(coverage=0.5)


@pytest.mark.requirement("C-020")
def test_what_is_near_among_few_texts_is_chance_among_many() -> None:
    minilm = load_weights().engine("all-MiniLM-L6-v2:int8")
    sure = [sureness(engine=minilm, cosine=0.3, asking=QuestionSignals(searched=n)) for n in (1, 10, 1_000, 100_000)]
    assert sure == sorted(sure, reverse=True)
    assert sure[0] > 2 * sure[-1]


@pytest.mark.requirement("C-020")
def test_a_question_about_strangers_is_answered_less_surely_and_one_for_a_course_of_events_more() -> None:
    plain, strange, wide = (
        sureness(coverage=0.6, asking=QuestionSignals(searched=600, strange=strange, broad=broad))
        for strange, broad in ((False, False), (True, False), (False, True))
    )
    assert strange < plain < wide
    held = QuestionSignals(searched=600, strange=True)
    assert sureness(slot=True, asking=held) == sureness(slot=True)


def found_of(coverage: list[float], cosine: list[float] | None = None, *, searched: int) -> Candidates:
    near = np.array(cosine or [np.nan] * len(coverage), np.float32)
    return candidates(len(coverage), coverage=np.array(coverage, np.float32), cosine=near, searched=searched)


@pytest.mark.requirement("C-020")
def test_one_text_alone_with_the_words_of_a_question_stands_out_and_several_do_not() -> None:
    alone, several = (found_of([0.9] * count + [0.1] * (30 - count), searched=600) for count in (1, 25))
    apart, together = (measure_rise(found, np.arange(30)) for found in (alone, several))
    assert apart.above > 2 * together.above > 0
    assert apart.nearer == together.nearer == 0
    sure = [sureness(coverage=0.9, asking=QuestionSignals(searched=600, rise=rise)) for rise in (apart, together)]
    assert sure == sorted(sure)


def test_of_two_texts_no_second_one_on_a_matter_is_expected() -> None:
    rises = [measure_rise(found_of([0.4, 0.1], [0.3, 0.2], searched=n), np.arange(2)) for n in (1, 2, 4, 500, 9_000)]
    assert rises[0] == rises[1] == measure_rise(found_of([], searched=900), np.arange(0)) == Rise()
    part = math.log(2) / math.log(250)
    assert list(rises[2]) == pytest.approx([part * 0.275, part * 0.175])
    assert list(rises[3]) == list(rises[4]) == pytest.approx([0.4 - 0.5 / 30, 0.3 - 0.5 / 30])


def test_how_far_one_text_rises_above_the_others_is_bounded() -> None:
    assert list(measure_rise(found_of([1.0], [0.9], searched=600), np.arange(1))) == pytest.approx([0.5, 0.4])


@pytest.mark.parametrize(
    ("theirs", "others", "lead"), [([1, 1], [1], 0.2), ([1], [1, 1], -0.2), ([1] * 9, [], 1.0), ([], [], 0.0)]
)
def test_who_leads_is_told_by_five_texts_of_each_side(theirs: list[float], others: list[float], lead: float) -> None:
    coverage = np.array([*theirs, *others], np.float32)
    by_named = np.arange(len(coverage)) < len(theirs)
    assert measure_lead(coverage, by_named, ~by_named) == pytest.approx(lead)


def test_what_was_said_by_who_never_talks_with_them_leads_nobody() -> None:
    coverage = np.array([0.4, 0.2, 1.0], np.float32)
    theirs, partners = np.array([True, False, False]), np.array([False, True, False])
    assert measure_lead(coverage, theirs, partners) == pytest.approx(0.04)


@pytest.mark.requirement("C-020")
def test_a_large_store_is_no_reason_to_refuse() -> None:
    sure = [sureness(coverage=0.5, asking=QuestionSignals(searched=n)) for n in (500, 5_000, 100_000)]
    assert sure[0] > sure[1] == sure[2]


@pytest.mark.requirement("C-020")
def test_half_of_a_question_without_its_rarest_word_is_little_in_a_small_store() -> None:
    small, large = QuestionSignals(searched=20), QuestionSignals(searched=600)
    scant, rare, most = (
        sureness(coverage=coverage, rarest=rarest, asking=small)
        / sureness(coverage=coverage, rarest=rarest, asking=large)
        for coverage, rarest in ((0.4, False), (0.4, True), (0.6, False))
    )
    assert scant < min(rare, most)


@pytest.mark.requirement("C-020")
def test_what_a_row_is_worth_by_itself_makes_no_search_surer() -> None:
    fits, worthy = row(2.0, signs=Signs(coverage=0.6)), row(0.1, signs=Signs(coverage=0.9))
    read = [worthy, *(fits._replace(id=f"m_{number}") for number in range(5))]
    relevant = pick_most_relevant(read)
    assert relevant == read[1:]
    asking = QuestionSignals(searched=600)
    assert estimate_answerability(read[:2], relevant, WORDS, load_weights(), asking=asking) == sureness(coverage=0.6)


def test_talk_between_persons_has_a_flatter_curve_with_the_same_order() -> None:
    asking, rows = QuestionSignals(searched=600), [[row(signs=Signs(coverage=share))] for share in (0.1, 0.5, 0.9)]
    usual, talk = (
        [estimate_answerability(one, [], WORDS, tuned, asking=asking) for one in rows]
        for tuned in (load_weights(), load_talk_weights())
    )
    assert talk == sorted(talk)
    assert talk[0] > usual[0]
    assert talk[-1] - talk[0] < usual[-1] - usual[0]


def test_nothing_answers_nothing() -> None:
    assert estimate_answerability([], [], WORDS, load_weights(), asking=QuestionSignals()) == 0.0


def test_an_engine_is_calibrated_by_its_model() -> None:
    minilm = load_weights().engine("all-MiniLM-L6-v2:int8")
    assert minilm.cosine > 0
    near, far = (sureness(engine=minilm, coverage=0.2, cosine=near) for near in (0.7, 0.1))
    assert near > 0.5
    assert far < 0.2


KEYS = st.lists(st.floats(-10, 10), min_size=1, max_size=20)


@pytest.mark.requirement("C-019")
@given(KEYS, st.floats(0, 1), st.sampled_from(["default", "recall", "evidence"]))
def test_scores_lie_in_the_unit_interval_and_never_rise(keys: list[float], sure: float, profile: Profile) -> None:
    rows = [row(key) for key in sorted(keys, reverse=True)]
    scores = compute_final_scores(rows, Query(text="q", profile=profile), sure, 0.65)
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


def test_the_best_hit_scores_as_sure_as_the_search() -> None:
    assert compute_final_scores([row(5)], Query(text="q"), 0.8, 0.65) == [0.8]


def test_a_row_that_is_here_for_its_neighbours_is_discounted() -> None:
    beside = row(1.0, signs=Signs(words=2.0, coverage=0.0))
    said, neighbour = compute_final_scores([row(1.0), beside], Query(text="q"), 0.9, 0.65)
    assert neighbour < 0.5 * said


def test_what_another_person_said_makes_an_answer_less_sure() -> None:
    theirs, plain, own = (
        sureness(coverage=0.9, asking=QuestionSignals(searched=600, lead=lead)) for lead in (-0.9, 0.0, 0.9)
    )
    assert theirs < plain < own
