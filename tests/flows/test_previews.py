"""Previews: what would become of a text, and what an agent would get; neither changes anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from credenda import Credenda
from credenda.errors import Invalid
from credenda.model.evaluation import PreviewedClaim, PreviewOutcome
from credenda.testing import ScriptedModel


def tell(mem: Credenda, *texts: str) -> None:
    for text in texts:
        mem.remember(text)
        mem.settle()


def claims(mem: Credenda, text: str) -> list[PreviewedClaim]:
    return list(mem.inspect.extraction(text).claims)


def state(mem: Credenda) -> tuple[object, ...]:
    stats = mem.stats()
    return (
        *(stats.events, stats.changes, stats.jobs, stats.tombstones, stats.open_contests),
        mem.list(status=None, limit=50).items,
    )


def test_a_preview_of_a_text_says_what_remembering_it_then_does_and_stores_nothing(mem: Credenda) -> None:
    tell(mem, "I live in Linz.", "I like tea.")
    before = state(mem)
    moved, liked, new = claims(mem, "I moved to Graz. I like tea. My sister Eva works at Acme.")
    assert state(mem) == before
    assert (moved.outcome, moved.attribute, moved.value) == (PreviewOutcome.REPLACED, "residence", "Graz")
    (linz,) = moved.replaced
    assert (linz.text, mem.get(linz.id).value) == ("I live in Linz.", "Linz")
    assert "Graz" in moved.reason
    assert liked.outcome is PreviewOutcome.CONFIRMED
    assert mem.get(liked.memory_id or "").value == "tea"
    assert (new.outcome, new.reason) == (PreviewOutcome.STORED, "first statement")
    tell(mem, "I moved to Graz. I like tea. My sister Eva works at Acme.")
    assert mem.get(linz.id).status == "superseded"
    assert mem.get(liked.memory_id or "").confirmations == 1
    assert mem.list(attribute=new.attribute).items[0].value == new.value


def test_the_first_text_of_a_user_has_a_preview_too(mem: Credenda) -> None:
    (one,) = claims(mem, "I live in Linz.")
    assert (one.outcome, one.text, (one.start, one.end)) == (PreviewOutcome.STORED, "I live in Linz.", (0, 15))
    assert state(mem)[:2] == (0, 0)
    tell(mem, "I live in Linz.")
    assert mem.list().items[0].id.startswith("m1-")


def test_a_preview_says_that_a_question_would_be_asked(mem: Credenda) -> None:
    said = ["I prefer morning meetings.", "I prefer afternoon meetings now.", "I prefer morning meetings."]
    tell(mem, *said[:2])
    (asked,) = claims(mem, said[2])
    assert asked.outcome is PreviewOutcome.CONTESTED
    tell(mem, said[2])
    assert [one.question for one in mem.manage.contests()] == [asked.question]


def test_what_was_deleted_would_be_refused_and_is_not_told(mem: Credenda) -> None:
    tell(mem, "I live in Linz.", "I like tea.")
    mem.delete(mem.list(attribute="residence").items[0].id)
    before = state(mem)
    found = mem.inspect.extraction("I live in Linz. I like coffee.")
    assert state(mem) == before
    assert any("restates deleted text" in one for one in found.refused)
    assert "Linz" not in "".join(found.messages)
    tell(mem, "I live in Linz. I like coffee.")
    kept = [one.value for one in mem.list().items if one.value != "tea"]
    assert [one.value for one in found.claims if one.outcome is PreviewOutcome.STORED] == kept


def test_secrets_are_masked_as_they_would_be(mem: Credenda) -> None:
    found = mem.inspect.extraction("My key is sk-ant-api03-" + "a" * 40)
    assert "aaaa" not in str(found)
    assert found.refused


def test_a_text_that_cannot_be_remembered_has_no_preview(mem: Credenda) -> None:
    with pytest.raises(Invalid):
        mem.inspect.extraction(" ")
    with pytest.raises(Invalid):
        mem.inspect.extraction("I live in Linz.", source="nobody")


def test_a_preview_works_on_a_memory_that_is_only_read(mem: Credenda, tmp_path: Path) -> None:
    tell(mem, "I live in Linz.")
    with Credenda.open(tmp_path / "memory.db", user="ana", read_only=True, workers=False) as reading:
        assert claims(reading, "I moved to Graz.")[0].outcome is PreviewOutcome.REPLACED


def test_a_model_is_not_asked(tmp_path: Path) -> None:
    model = ScriptedModel()
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False, llm=model) as mem:
        found = mem.inspect.extraction("I live in Linz.")
    assert found.model_would_read
    assert not model.asked


def test_the_preview_of_a_context_is_the_context_with_its_reasons(mem: Credenda) -> None:
    tell(mem, "I live in Linz.", "Always answer in German.", "I like tea.", "My sister Eva works at Acme.")
    packed = mem.context("Where does my sister work?")
    before = state(mem)
    shown = mem.inspect.context("Where does my sister work?")
    assert (shown.text, shown.tokens) == (packed.text, packed.tokens)
    assert [line.text in shown.text for line in shown.lines] == [True] * len(shown.lines)
    by_id = {line.ids[0]: line for line in shown.lines}
    (eva,) = [line for line in shown.lines if "Acme" in line.text]
    assert eva.reason == "the search found it"
    assert eva.score is not None
    assert eva.terms
    (order,) = mem.list(attribute="instruction").items
    assert by_id[order.id].reason.startswith("it is in the core")
    assert state(mem) == before


def test_what_does_not_fit_is_named_with_the_reason(mem: Credenda) -> None:
    tell(mem, "My sister Eva works at Acme.", "My brother Max works at Initech.", "I work at Hooli.")
    shown = mem.inspect.context("Who works where?", token_budget=70)
    assert shown.tokens <= shown.token_budget == 70
    left = [line for line in shown.left_out if line.reason.startswith("no room is left for it")]
    assert left
    assert all(line.text not in shown.text and line.tokens for line in left)


def test_the_block_of_every_turn_is_previewed_by_its_own_budget(mem: Credenda) -> None:
    tell(mem, "I live in Linz.")
    assert mem.inspect.context("Linz", automatic=True).token_budget < mem.inspect.context("Linz").token_budget
    assert mem.get(mem.list().items[0].id).access_count == 0


def test_without_a_query_the_core_alone_is_previewed(mem: Credenda) -> None:
    tell(mem, "I live in Linz.")
    shown = mem.inspect.context()
    assert all(line.score is None for line in shown.lines)
    assert shown.text == mem.context().text


def test_a_preview_shows_a_change_that_the_words_of_a_held_sentence_tell(mem: Credenda) -> None:
    tell(mem, "We deploy with Jenkins.")
    (told,) = claims(mem, "We deploy with GitHub Actions now.")
    assert (told.attribute, told.value, told.outcome) == ("tool", "GitHub Actions", PreviewOutcome.STORED)
