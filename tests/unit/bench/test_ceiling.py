"""A program that answers with the gold claims: what the path of a model keeps of them."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.ceiling import run_ceiling
from benchmarks.tables import format_ceiling

SAID = {"S1": "I live in Graz.", "S2": "I moved to Linz."}
CLAIM = {"by": "user", "subject": "user", "attribute": "residence", "type": "fact", "stance": "asserted", "weight": 2}
GRAZ = {"turn": "S1-1", "value": "Graz", "statement": "The user lives in Graz.", "clause": "I live in Graz"}
LINZ = {"turn": "S2-1", "value": "Linz", "statement": "The user lives in Linz.", "clause": "I moved to Linz"}
MOVED = {"replaces": [{"turn": "S1-1", "attribute": "residence", "value": "Graz"}], "relation": "changed"}


def test_gold_answers_name_the_shown_memory_that_they_replace(tmp_path: Path) -> None:
    sessions = [
        {"id": name, "time": "2026-05-08T13:56:00Z", "turns": [{"id": f"{name}-1", "speaker": "user", "text": text}]}
        for name, text in SAID.items()
    ]
    conversation = {"conv": "c1", "speakers": ["user", "assistant"], "sessions": sessions}
    (tmp_path / "talk.jsonl").write_text(json.dumps(conversation))
    claims = (CLAIM | GRAZ, CLAIM | LINZ | MOVED)
    (tmp_path / "c1.claims.jsonl").write_text("".join(json.dumps(one) + "\n" for one in claims))
    said: list[str] = []
    document = run_ceiling(tmp_path / "talk.jsonl", tmp_path, note=said.append)
    assert said == ["c1: 1 of 1 replaced values shown"]
    assert (document["figures"]["updates carried out"]["count"], document["outcomes"]) == (1, {})
    assert document["figures"]["retirements right"]["share"] == 1
    assert "1 of 1 replaced values shown" in format_ceiling(document)
