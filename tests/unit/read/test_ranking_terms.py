"""The terms of a score: a reader can add them up, and the reference names each."""

from __future__ import annotations

from pathlib import Path

import pytest

from .build import World

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "ranking.md"
OUTER = ("relevance", "importance", "retention", "recency", "question", "answers", "feedback", "newer", "echo")
BESIDE = ("coverage", "cosine", "key")


def test_the_terms_of_a_hit_add_up_and_are_documented(world: World) -> None:
    for at, text in enumerate(("Bo steers a crimson barge", "Which barge?", "Bo steers a violet barge now", "Tea")):
        world.say(text, at=at, session="s")
    world.hold("Ana has a barge", at=5)
    found = world.search("Which barge does Bo steer?", explain=True)
    assert len(found.hits) >= 4
    page = PAGE.read_text(encoding="utf-8")
    for hit in found.hits:
        inner = {name: value for name, value in hit.terms.items() if name not in (*OUTER, *BESIDE)}
        outer = {name: hit.terms[name] for name in OUTER if name in hit.terms}
        assert sum(inner.values()) == pytest.approx(hit.terms["relevance"], abs=1e-4)
        assert sum(outer.values()) == pytest.approx(hit.terms["key"], abs=1e-4)
        assert [name for name in hit.terms if f"`{name}`" not in page] == []
