"""Counting the memories of a conversation against gold: what is held, retired, found and refused."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import cli, tables
from benchmarks.talk import run_talk
from benchmarks.talk_figures import (
    Answer,
    Gold,
    GoldClaim,
    GoldQuestion,
    Replaced,
    StoredMemory,
    compute_figures,
    count_talk,
    load_gold,
    measure_coverage,
)
from credenda import CredendaError, Invalid
from credenda.write.facts.extractor import ReadingExtractor

from .gold import CLAIM, MOVE

TURNS = {"1": "I live in Graz and I love chess.", "2": "I moved to Linz.", "3": "Let us know!"}
CONVERSATION = {
    "conv": "c1",
    "speakers": ["user", "assistant"],
    "sessions": [
        {
            "id": "S1",
            "time": "2026-05-08T13:56:00Z",
            "turns": [{"id": at, "speaker": "user", "text": text} for at, text in TURNS.items()],
        }
    ],
}
QUESTIONS: list[dict[str, object]] = [
    {"question": "Where do I live?", "answer": "Linz", "stale": ["Graz"], "turns": ["2"], "kind": "current"},
    {"question": "What is my dog called?", "answer": "", "turns": [], "kind": "absent"},
]


def claim(**changes: object) -> GoldClaim:
    row = CLAIM | {"replaces": (), "relation": ""} | changes
    return GoldClaim(**row)  # pyright: ignore[reportArgumentType]


def held(**changes: object) -> StoredMemory:
    row: dict[str, object] = {
        "id": "m1",
        "status": "active",
        "entity": "user",
        "attribute": "residence",
        "value": "Graz",
        "text": "I live in Graz",
        "stance": "asserted",
        "confidence": 0.9,
        "superseded_by": None,
        "turns": ("1",),
        "reason": "",
    }
    return StoredMemory(**(row | changes))  # pyright: ignore[reportArgumentType]


def answer(*texts: str, turns: tuple[str, ...] = (), memories: bool = True, abstained: bool = False) -> Answer:
    return Answer(texts=texts, memories=(memories,) * len(texts), turns=frozenset(turns), abstained=abstained)


def find_nothing(question: str) -> Answer:
    del question
    return answer(abstained=True)


def count(gold: Gold, *memories: StoredMemory) -> Mapping[str, int]:
    return count_talk(gold, memories, TURNS, find_nothing).counts


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    data, gold = tmp_path / "talk.jsonl", tmp_path / "gold"
    gold.mkdir()
    data.write_text(json.dumps(CONVERSATION), encoding="utf-8")
    for kind, rows in (("claims", [CLAIM, MOVE]), ("questions", QUESTIONS)):
        (gold / f"dev.c1.{kind}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return data, gold


def test_words_count_by_their_stems_and_without_stopwords() -> None:
    assert measure_coverage("planning the trips", "She planned a trip") == 1
    assert measure_coverage("$70 budget", "the budget is $75") == 0.5
    assert measure_coverage("the", "anything") == 1


def test_a_claim_is_held_by_a_firm_memory_of_its_turn_that_says_its_value() -> None:
    gold = Gold([claim()], [])
    assert count(gold, held())["held_2"] == count(gold, held())["slot_2"] == 1
    for other in ({"turns": ("2",)}, {"value": "Wien", "text": "I live in Wien"}, {"stance": "hypothetical"}):
        assert count(gold, held(**other))["held_2"] == 0
    assert count(gold, held(status="superseded"))["held_2"] == 0


def test_a_catch_all_attribute_and_another_entity_hold_without_a_slot() -> None:
    gold = Gold([claim()], [])
    for other in ({"attribute": "likes"}, {"entity": "Ben"}):
        counts = count(gold, held(**other))
        assert (counts["held_2"], counts["slot_2"]) == (1, 0)


def test_a_retired_memory_still_holds_a_claim_that_later_changed() -> None:
    move = claim(turn="2", value="Linz", replaces=(Replaced("1", "residence", "Graz"),), relation="changed")
    counts = count(Gold([claim(), move], []), held(status="superseded", superseded_by="m2"))
    assert counts["held_2"] == 1


def test_a_named_belief_that_no_claim_supports_is_listed() -> None:
    junk = held(id="m3", attribute="allergy", value="Please let us know", text="allergy: let us know", turns=("3",))
    tally = count_talk(Gold([claim()], []), [held(), junk], TURNS, find_nothing)
    assert (tally.counts["named"], tally.counts["named_supported"]) == (2, 1)
    assert tally.unsupported[0]["value"] == "Please let us know"


def test_a_retirement_is_right_if_gold_says_that_one_replaced_the_other() -> None:
    old, new = held(status="superseded", superseded_by="m2"), held(id="m2", value="Linz", turns=("2",))
    move = claim(turn="2", value="Linz", replaces=(Replaced("1", "residence", "Graz"),), relation="changed")
    right = count_talk(Gold([claim(), move], []), [old, new], TURNS, find_nothing)
    assert (right.counts["retired"], right.counts["retired_right"], right.counts["updates_done"]) == (1, 1, 1)
    wrong = count_talk(Gold([claim(), claim(turn="2")], []), [old, new], TURNS, find_nothing)
    assert (wrong.counts["retired"], wrong.counts["retired_right"], wrong.counts["updates"]) == (1, 0, 0)
    assert wrong.retirements[0]["right"] is False


def test_searches_count_clauses_refusals_and_stale_values() -> None:
    question = GoldQuestion(
        question="Where do I live?", answer="Linz", stale=("Graz",), turns=frozenset("2"), kind="current"
    )
    gold = Gold([claim()], [question])
    found = {"I live in Graz": answer("I live in Graz", turns=("1",)), question.question: answer("Graz", "Linz")}
    counts = count_talk(gold, [], TURNS, lambda text: found[text]).counts
    assert (counts["clauses_found"], counts["answer_in_5"], counts["answer_first"]) == (1, 1, 0)
    assert (counts["stale"], counts["stale_first"], counts["refused"]) == (1, 1, 0)
    assert count_talk(gold, [], TURNS, find_nothing).counts["refused"] == 1


def test_a_share_of_nothing_is_not_a_figure() -> None:
    assert compute_figures({})["retirements right"] == {"count": 0, "of": 0, "share": None}


def test_the_command_stores_a_conversation_and_prints_each_retirement(files: tuple[Path, Path]) -> None:
    arguments = ["talk", "--data", str(files[0]), "--gold", str(files[1]), "--embedder", "none"]
    done = CliRunner().invoke(cli.bench, [*arguments, "--json"])
    document = json.loads(done.stdout)
    assert done.exit_code == 0
    assert document["figures"]["weight-2 claims held"] == {"count": 2, "of": 2, "share": 1.0}
    assert document["figures"]["updates carried out"]["count"] == 1
    text = tables.format_talk(document)
    assert "weight-2 claims held" in text
    assert "RIGHT c1 1: I live in Graz" in text


def test_a_conversation_without_gold_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(Invalid, match="has gold"):
        run_talk(files[0], empty, embedder="none", note=lambda _: None)


def test_a_job_that_failed_ends_the_count(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The verbatim memories of a failed job count for nothing: the command ends with an error that names the job."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(ReadingExtractor, "extract", fail)
    monkeypatch.setenv("CREDENDA_JOB_ATTEMPTS", "1")
    with pytest.raises(CredendaError, match="extract failed in c1"):
        run_talk(files[0], files[1], embedder="none", note=lambda _: None)


@pytest.mark.parametrize("broken", [{"weight": "much"}, {"relation": "vanished"}, {"turn": None, "replaces": [1]}])
def test_a_malformed_line_is_named(files: tuple[Path, Path], broken: dict[str, object]) -> None:
    path = files[1] / "dev.c1.claims.jsonl"
    path.write_text(json.dumps(CLAIM) + "\n" + json.dumps(CLAIM | broken), encoding="utf-8")
    with pytest.raises(Invalid, match="line 2"):
        load_gold(files[1], "c1")


def test_two_files_of_gold_for_one_conversation_are_refused(files: tuple[Path, Path]) -> None:
    (files[1] / "c1.claims.jsonl").write_text(json.dumps(CLAIM), encoding="utf-8")
    with pytest.raises(Invalid, match="2 files"):
        load_gold(files[1], "c1")
