"""Families of conversations side by side: the simple base, intervals, and the curve of the probability."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import tables
from benchmarks.families import Answer, compute_intervals, measure_families, recalibrate
from benchmarks.locomo import Conversation, PlainBm25, Question
from benchmarks.simple_base import SimpleBase


def say(turn: str, name: str, text: str, day: int = 1) -> dict[str, object]:
    moment = f"2024-05-{day:02}T10:00:00"
    return {"role": "person", "name": name, "content": text, "timestamp": moment, "id": turn}


TALK = Conversation(
    name="c",
    sessions=[
        ("s1", [say("1", "Ann", "Which instrument do you play?"), say("2", "Bo", "The oboe"), say("3", "Ann", "Nice")]),
        (
            "s2",
            [say("4", "Ann", "It rains", 9), say("5", "Bo", "I bought a red canoe", 9), say("6", "Ann", "Lovely", 9)],
        ),
    ],
    turns={},
)
FLAT = np.zeros((6, 2))


def test_the_base_gives_an_answer_the_words_of_the_question_before_it() -> None:
    ranked = SimpleBase(TALK, FLAT).rank("Which instrument is it?", np.zeros(2), 6)
    assert ranked.index("2") < min(ranked.index(turn) for turn in ("4", "5", "6"))


def test_the_base_prefers_the_named_speaker_and_the_day() -> None:
    base = SimpleBase(TALK, FLAT)
    assert set(base.rank("What of Bo?", np.zeros(2), 2)) == {"2", "5"}
    assert set(base.rank("Who wrote on 9 May?", np.zeros(2), 3)) == {"4", "5", "6"}


def test_the_base_compares_vectors_with_a_share_of_the_neighbours() -> None:
    vectors = np.zeros((6, 2))
    vectors[:, 0], vectors[4] = 1.0, (0.0, 1.0)
    ranked = SimpleBase(TALK, vectors).rank("?", np.array([0.0, 1.0]), 6)
    assert ranked[0] == "5"
    assert {"4", "6"} == set(ranked[1:3])


def test_scores_of_words_are_those_that_rank() -> None:
    plain = PlainBm25({"a": "red canoe", "b": "red red barn", "c": "tea"})
    scores = plain.score("red canoe")
    assert set(scores) == {"a", "b"}
    assert plain.rank("red canoe", 5) == sorted(scores, key=lambda name: -scores[name])


def test_intervals_over_conversations_are_wider_where_they_differ() -> None:
    values = np.array([1.0] * 20 + [0.0] * 20)
    found = compute_intervals(values, ["a"] * 20 + ["b"] * 20)
    assert found["mean"] == 50.0
    assert found["conversations"] == (0.0, 100.0)
    assert 30 < found["questions"][0] < 50 < found["questions"][1] < 70


def answer(probability: float, *, found: bool, family: str = "f", own: bool = True) -> Answer:
    asked = Question(conversation="c", category="x", text="q", gold=frozenset({"1"}))
    ranked = {"this version": ["1"] if found else ["2"], "plain BM25": ["2"], "simple base": ["1"]}
    return Answer(family, asked, ranked, probability, own)


def test_a_curve_raises_probabilities_that_are_too_low() -> None:
    answers = [answer(0.2, found=at % 5 > 0) for at in range(200)] + [answer(0.7, found=True) for _ in range(100)]
    low, high = recalibrate(answers, np.array([0.2, 0.7]), foreign=0.0).tolist()
    assert low == pytest.approx(0.8, abs=0.05)
    assert high > 0.95


def test_foreign_questions_hold_the_curve_down() -> None:
    own = [answer(0.2 + at / 500, found=at % 10 > 0) for at in range(100)]
    answers = [*own, *(one._replace(own=False) for one in own)]
    without, with_them = (float(recalibrate(answers, np.array([0.3]), foreign=share)[0]) for share in (0.0, 0.5))
    assert without == pytest.approx(0.9, abs=0.05)
    assert with_them == pytest.approx(0.45, abs=0.05)


def test_a_family_is_measured_beside_its_baselines_and_shown() -> None:
    answers = [answer(0.6, found=at > 0, family=family) for family in ("f", "g") for at in range(4)]
    answers += [answer(0.1, found=True, family=family, own=False) for family in ("f", "g")]
    document: dict[str, Any] = measure_families(["f", "g"], answers, [])
    rows = document["families"]["f"]["rows"]
    assert rows["this version"]["any@10"]["mean"] == 75.0
    assert rows["plain BM25"]["any@10"]["this version is higher by"]["mean"] == 75.0
    assert rows["simple base"]["mrr"]["this version is higher by"]["mean"] == -25.0
    assert document["probability"]["f"]["as given"]["foreign"] == {"mean": 0.1, "found": 0.0, "brier": 0.01}
    shown = tables.format_families(document)
    assert "version before" not in shown
    assert "curve, 20% foreign" in shown
