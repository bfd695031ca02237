"""Faithfulness: each claim of a response is supported, contradicted or not found in its context."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.errors import Invalid, LimitExceeded
from credenda.model.evaluation import FaithfulnessScore, Verdict
from credenda.testing import ScriptedModel

YES, NO, NONE = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.NOT_FOUND


def verdicts(score: FaithfulnessScore) -> list[Verdict]:
    return [one.verdict for one in score.claims]


@pytest.mark.requirement("R-178")
@pytest.mark.parametrize(
    ("response", "context", "expected"),
    [
        ("You live in Linz.", "I live in Linz.", [YES]),
        ("You live in Graz.", "I live in Linz.", [NO]),
        ("You have a dog.", "I live in Linz.", [NONE]),
        ("You don't like tea.", "I like tea.", [NO]),
        ("You like tea.", "I don't like tea.", [NO]),
        ("You like coffee.", "I like tea.", [NONE]),
        ("Your flight leaves at 8:30.", "My flight leaves at 7:30.", [NO]),
        ("Your flight leaves at 7:30.", "My flight leaves at 7:30.", [YES]),
        ("Your sister Eva works at Acme.", "My sister Eva works at Acme.", [YES]),
        ("Your sister Eva works at Initech.", "My sister Eva works at Acme.", [NO]),
        ("You are allergic to peanuts.", "The user is allergic to peanuts.", [YES]),
        ("The deployment uses Kubernetes.", "Our deployment uses Kubernetes and Helm.", [YES]),
        ("- You live in Linz.\n- You have a cat.", "I live in Linz.", [YES, NONE]),
        ("Sure! You live in Linz. Shall I book a table?", "I live in Linz.", [YES]),
        ("Sure! Shall I book a table?", "I live in Linz.", []),
        ("You live in Linz.", "", [NONE]),
    ],
)
def test_a_claim_is_judged_by_the_line_that_says_so(
    response: str, context: str, expected: list[Verdict], mem: Credenda
) -> None:
    score = mem.inspect.score(response, context)
    assert verdicts(score) == expected, score.claims
    assert score.score == (expected.count(YES) / len(expected) if expected else None)
    assert (score.supported, score.contradicted, score.not_found) == tuple(
        expected.count(one) for one in (YES, NO, NONE)
    )
    for claim in score.claims:
        assert bool(claim.line) == (claim.verdict is not NONE)


def test_a_line_of_a_packed_context_names_its_memory(mem: Credenda) -> None:
    mem.remember("I live in Linz.")
    mem.settle()
    (memory,) = mem.list().items
    score = mem.inspect.score("You live in Linz. You live in Graz.", mem.context("Where do I live?").text)
    assert [(one.verdict, one.ids) for one in score.claims] == [(YES, (memory.id,)), (NO, (memory.id,))]


def test_scores_are_stored_without_words_and_their_trend_is_read(mem: Credenda, tmp_path: Path) -> None:
    for number, response in enumerate(("You live in Zanzibar.", "You live in Graz.", "Hello!"), 1):
        score = mem.inspect.score(response, "I live in Zanzibar.", session=f"s{number % 2}")
        assert score.id == number
    listed = mem.inspect.scores().items
    assert [(one.id, one.score) for one in listed] == [(3, None), (2, 0.0), (1, 1.0)]
    assert [one.id for one in mem.inspect.scores(session="s1").items] == [3, 1]
    first = mem.inspect.scores(limit=1)
    assert mem.inspect.scores(limit=5, cursor=first.next_cursor).items == listed[1:]
    assert {one.judge for one in listed} == {"rules"}
    for path in tmp_path.iterdir():
        assert b"Zanzibar" not in path.read_bytes()


def test_a_model_judges_what_the_rules_find_no_line_for(tmp_path: Path) -> None:
    answer = {"verdicts": [{"claim": 1, "verdict": "supported", "line": 1}]}
    model = ScriptedModel([json.dumps(answer)])
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False, llm=model) as mem:
        score = mem.inspect.score("You live in Linz. Your home is by the Danube.", "I live in Linz.")
        assert verdicts(score) == [YES, YES]
        assert score.claims[1].reason == "the model compared them"
        assert score.judge.startswith("rules + faithfulness-1 ")
        (question,) = model.asked
        assert [one["text"] for one in json.loads(question.prompt)["claims"]] == ["Your home is by the Danube."]
        costs = mem.inspect.costs()
        assert (costs.calls, set(costs.by_operation)) == (1, {"score"})


@pytest.mark.parametrize(
    "answer",
    [
        "no JSON",
        "[]",
        '{"verdicts": [{"claim": 9, "verdict": "supported", "line": 1}]}',
        '{"verdicts": [{"claim": 1, "verdict": "supported", "line": 7}]}',
        '{"verdicts": [{"claim": 1, "verdict": "maybe", "line": 1}]}',
        '{"verdicts": [{"claim": 1}]}',
    ],
)
def test_an_answer_that_does_not_fit_leaves_the_rules_alone(answer: str, tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False, llm=ScriptedModel([answer])) as mem:
        score = mem.inspect.score("Your home is by the Danube.", "I live in Linz.")
    assert (verdicts(score), score.judge) == ([NONE], "rules")


def test_a_text_has_bounds(mem: Credenda) -> None:
    with pytest.raises(LimitExceeded):
        mem.inspect.score("x" * 100_001, "I live in Linz.")
    with pytest.raises(Invalid):
        mem.inspect.score(" ", "I live in Linz.")


def test_an_erasure_takes_the_scores_of_a_user_who_never_wrote(tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False) as mem:
        mem.inspect.score("You live in Linz.", "I live in Linz.")
        mem.erase("ana")
        assert mem.inspect.scores().items == ()
        mem.inspect.score("You live in Linz.", "I live in Linz.")
        mem.remember("I live in Linz.")
        mem.erase("DELETE MY DATA")
        assert mem.inspect.scores().items == ()
