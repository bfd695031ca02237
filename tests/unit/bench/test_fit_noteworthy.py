"""The fit of what is noteworthy: which sentences of a conversation the gold has, and what is learned of them."""

from __future__ import annotations

import numpy as np

from benchmarks.fit_noteworthy import Row, count_signs, describe, fit, list_rows, render, score_held_out
from credenda.bench.locomo import Conversation
from credenda.bench.talk_gold import GoldClaim
from credenda.text.weight_file import parse_weight_file


def make_claim(clause: str, *, stance: str = "asserted", weight: int = 2) -> GoldClaim:
    return GoldClaim(
        turn="t1",
        by="Ana",
        subject="Ana",
        attribute="event",
        value=clause,
        statement=clause,
        type="fact",
        stance=stance,
        weight=weight,
        clause=clause,
        replaces=(),
        relation="",
    )


def make_rows() -> list[Row]:
    """Return sentences of six conversations: those with "moved" were noted, those with "thanks" were not."""
    told = [Row(frozenset({"w:moved", f"w:{at}"}), 1, 2, f"conv-{at % 6}") for at in range(60)]
    return [*told, *(Row(frozenset({"w:thanks", f"w:{at}"}), 0, 0, f"conv-{at % 6}") for at in range(60))]


def test_a_sentence_has_the_label_of_the_weightiest_claim_in_its_words() -> None:
    text = "Thanks! I moved to Graz. I may visit Rome."
    message = {"role": "person", "name": "Ana", "content": text, "id": "t1", "timestamp": None}
    after = {"role": "person", "name": "Ana", "content": "I moved again.", "id": "t2", "timestamp": None}
    talk = Conversation(name="conv-1", sessions=[("s1", [message]), ("s2", [after])], turns={"t1": text})
    claims = {"t1": [make_claim("moved to Graz"), make_claim("visit Rome", stance="planned", weight=1)]}
    rows = list(list_rows(talk, claims, "conv-1"))
    assert [(row.label, row.weight) for row in rows] == [(0, 0), (1, 2), (2, 1)]  # the gold has not read session s2


def test_a_sign_of_few_conversations_has_no_weight() -> None:
    rows = [Row(frozenset({"w:graz"}), 1, 2, "conv-1")] * 20
    assert "w:graz" not in count_signs([*rows, *make_rows()])
    assert set(count_signs(make_rows())) == {"w:moved", "w:thanks"}


def test_held_out_conversations_are_scored_by_the_others() -> None:
    rows = make_rows()
    shares = score_held_out(rows)
    noted = 1 - shares[:, 0]
    assert noted[:60].min() > noted[60:].max()
    assert np.allclose(shares.sum(1), 1)
    assert describe(rows, shares)[2].startswith("from 0.4: 60 of 120 sentences, 1.00 of them noted; 60 of 60 noted")


def test_the_file_has_a_row_for_each_sign() -> None:
    known, weights = fit(make_rows())
    read = parse_weight_file(render(known, weights, ["a line"]))
    assert read.notes["held_out"] == ["a line"]
    assert {row[0]: int(row[2]) > int(row[1]) for row in read.rows} == {"w:moved": True, "w:thanks": False}
