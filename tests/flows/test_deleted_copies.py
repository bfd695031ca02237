"""A memory that was written from others keeps its claim, and none of the words that are deleted."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from credenda import Conflict, Credenda, MemoryUnit, restore_backup
from credenda.model.memory import Memory
from credenda.testing import ManualClock, Question, ScriptedModel

from .deleted_words import FORMS, check_gone, list_held

Say = Callable[..., None]
SENTENCE = "I work as a nurse at Zumtobel in Dornbirn."
PLACE = "Zumtobel in Dornbirn"


def _get(mem: Credenda, value: str) -> Memory:
    return next(one for one in list_held(mem) if one.value == value)


def _texts(mem: Credenda) -> dict[str | None, str]:
    return {one.value: one.text for one in list_held(mem)}


def _retype(mem: Credenda, value: str, right: str, reason: str = "") -> Memory:
    """Correct a memory by its sentence with another value."""
    held = _get(mem, value)
    return mem.correct(held.id, text=held.text.replace(value, right), value=right, reason=reason)


def _accountant(mem: Credenda, name: str = "Petronella") -> Memory:
    text = f"My accountant in Voitsberg is {name}."
    return mem.store(MemoryUnit(text=text, entity="user", attribute="accountant", value=name))


@pytest.mark.requirement("S-061")
def test_a_correction_of_a_value_loses_the_words_of_a_deleted_sibling(mem: Credenda, say: Say, path: Path) -> None:
    say(SENTENCE)
    mem.correct(_get(mem, "nurse").id, value="glazier")
    mem.correct(_get(mem, "glazier").id, value="tiler", reason=f"I have left {PLACE}")
    gone = _get(mem, PLACE)
    plan = mem.manage.plan_deletion(gone.id)
    assert {(one.text, one.left) for one in plan.kept} == {
        (SENTENCE, "I work as a nurse."),
        ("Correction: glazier", "Correction: glazier"),  # the reason of its end names the place
        ("Correction: tiler", "Correction: tiler"),
    }
    receipt = mem.delete(gone.id)
    assert set(receipt.kept) == {one.id for one in plan.kept}
    assert _texts(mem) == {
        "nurse": "I work as a nurse.",
        "glazier": "Correction: glazier",
        "tiler": "Correction: tiler",
    }
    assert mem.search("Where do I work?").hits[0].quote == "Correction: tiler"
    check_gone(mem, path, "Zumtobel", "Dornbirn")


@pytest.mark.requirement("S-061")
def test_a_corrected_memory_keeps_its_claim_when_its_first_version_is_deleted(mem: Credenda, path: Path) -> None:
    first = _accountant(mem)
    right = mem.correct(first.id, value="Pauline")
    plan = mem.manage.plan_deletion(first.id)
    assert plan.kept == mem.delete(first.id).kept == ()
    after = mem.get(right.id)
    assert (after.text, after.value, after.status) == ("Correction: Pauline", "Pauline", "active")
    assert mem.search("Who is my accountant?").hits[0].id == right.id
    assert not mem.remember("My accountant in Voitsberg is Pauline.", session="a new statement").refused
    assert mem.delete_where(session="a new statement").events == 1
    check_gone(mem, path, "Voitsberg", "Petronella")


def test_the_later_versions_of_a_correction_are_written_anew_too(mem: Credenda, path: Path) -> None:
    first = _accountant(mem)
    second = mem.correct(first.id, value="Pauline")
    third = mem.correct(second.id, value="Philippa")
    mem.delete(first.id)
    assert {one.id: one.text for one in list_held(mem)} == {
        second.id: "Correction: Pauline",
        third.id: "Correction: Philippa",
    }
    check_gone(mem, path, "Voitsberg", "Petronella")


def test_a_correction_that_was_taken_back_holds_no_deleted_words_either(mem: Credenda, say: Say, path: Path) -> None:
    say(SENTENCE)
    right = _retype(mem, "nurse", "glazier")
    (added,) = (one for one in mem.why(right.id).changes if one.kind == "add")
    undone = mem.manage.undo(added.id, cascade=True)
    mem.delete(_get(mem, PLACE).id)
    mem.manage.undo(undone.changes[0].id, cascade=True)
    assert _texts(mem)["glazier"] == "I work as a glazier."
    check_gone(mem, path, "Zumtobel", "Dornbirn")


def test_after_the_deletion_the_correction_can_be_taken_back(mem: Credenda, say: Say, path: Path) -> None:
    say(SENTENCE)
    right = _retype(mem, "nurse", "glazier")
    mem.delete(_get(mem, PLACE).id)
    (added,) = (one for one in mem.why(right.id).changes if one.kind == "add")
    mem.manage.undo(added.id, cascade=True)
    assert _get(mem, "nurse").text == "I work as a nurse."
    assert _get(mem, "nurse").status == "active"
    check_gone(mem, path, "Zumtobel", "Dornbirn")


def test_a_typed_correction_loses_the_words_that_state_what_is_deleted(mem: Credenda, say: Say, path: Path) -> None:
    say(SENTENCE)
    mem.correct(_get(mem, "nurse").id, text=f"I work as a glazier at {PLACE}.")
    mem.delete(_get(mem, PLACE).id)
    assert _texts(mem) == {"nurse": "I work as a nurse.", "glazier": "I work as a glazier."}
    check_gone(mem, path, "Zumtobel", "Dornbirn")


def test_a_typed_sentence_stays_without_the_value_that_it_corrects(mem: Credenda, path: Path) -> None:
    first = _accountant(mem)
    text = "My accountant is Pauline, not Petronella."
    right = mem.correct(first.id, text=text, value="Pauline", reason="Petronella has retired")
    mem.delete(first.id)
    assert mem.get(right.id).text == "My accountant is Pauline."
    check_gone(mem, path, "Petronella", "Voitsberg")


@pytest.mark.parametrize(
    "case",
    [
        ("Sorry, I live in Bregenz, not Voitsberg.", "Sorry, I live in Bregenz."),
        ("I moved from Voitsberg to Bregenz.", "I moved to Bregenz."),
    ],
)
def test_a_message_that_replaces_a_value_and_names_it_loses_the_name(
    mem: Credenda, say: Say, path: Path, case: tuple[str, str]
) -> None:
    said, left = case
    say("I live in Voitsberg.", said)
    mem.delete(_get(mem, "Voitsberg").id)
    assert _texts(mem) == {"Bregenz": left}
    check_gone(mem, path, "Voitsberg")


def test_a_deleted_message_leaves_its_words_in_no_correction(mem: Credenda, say: Say, path: Path) -> None:
    say(SENTENCE)
    right = mem.correct(_get(mem, "nurse").id, value="glazier")
    mem.delete(mem.why(_get(mem, PLACE).id).evidence[0][0].id)
    assert _texts(mem) == {"glazier": "Correction: glazier"}
    assert mem.get(right.id).status == "active"
    check_gone(mem, path, "Zumtobel", "Dornbirn", "nurse")


def test_expiry_leaves_the_words_in_no_correction(mem: Credenda, say: Say, path: Path, clock: ManualClock) -> None:
    say(SENTENCE, days=30)
    mem.correct(_get(mem, "nurse").id, value="glazier")
    mem.manage.policy(days=10)
    assert mem.manage.apply_policies().events == 1
    assert _texts(mem) == {"glazier": "Correction: glazier"}
    assert not mem.remember(SENTENCE).refused
    clock.advance(timedelta(days=11))
    mem.manage.apply_policies()
    check_gone(mem, path, "Zumtobel", "Dornbirn")


def test_a_memory_beside_the_deleted_one_that_was_corrected_later_loses_them(mem: Credenda, say: Say) -> None:
    say("I'm vegan, I love hiking and my dog is called Waldemar.")
    right = mem.correct(_get(mem, "hiking").id, value="sailing")
    mem.delete(_get(mem, "Waldemar").id)
    assert mem.get(right.id).text == "Correction: sailing"
    mem.delete(next(one.id for one in list_held(mem) if one.value == "vegan"))
    assert (mem.get(right.id).text, mem.get(right.id).value) == ("Correction: sailing", "sailing")
    assert not [one.text for one in list_held(mem) if "vegan" in one.text]


@pytest.mark.sqlite_file  # a backup is a copy of the file
def test_a_restored_backup_loses_them_in_its_corrections(
    mem: Credenda, say: Say, path: Path, clock: ManualClock
) -> None:
    say(SENTENCE)
    _retype(mem, "nurse", "glazier")
    backup = path.with_name("backup.db")
    mem.data.backup(backup)
    mem.delete(_get(mem, PLACE).id)
    mem.close()
    restore_backup(backup, path, replace=True, clock=clock)
    assert b"Zumtobel" not in path.read_bytes()
    with Credenda.open(path, user="ana", clock=clock, workers=False) as restored:
        assert _texts(restored) == {"nurse": "I work as a nurse.", "glazier": "I work as a glazier."}
        assert restored.data.doctor().findings == ()


@pytest.mark.parametrize("kind", FORMS[1:])
def test_an_older_export_brings_no_copy_back(mem: Credenda, say: Say, path: Path, kind: str) -> None:
    say(SENTENCE)
    _retype(mem, "nurse", "glazier")
    older = path.parent.with_name(f"{path.parent.name}-older") / "older.json"
    older.parent.mkdir()
    mem.data.export(older, format=kind)
    assert PLACE in older.read_text("utf-8")
    mem.delete(_get(mem, PLACE).id)
    mem.data.import_(older)
    mem.settle()
    assert not [one.text for one in list_held(mem) if "Zumtobel" in one.text]
    check_gone(mem, path, "Zumtobel", "Dornbirn")


def test_no_page_brings_a_copy_back(mem: Credenda, say: Say, path: Path) -> None:
    say(SENTENCE)
    mem.correct(_get(mem, "nurse").id, value="glazier")
    pages = path.with_name("pages")
    mem.data.sync_files(pages)
    stale = {page: page.read_bytes() for page in pages.rglob("*.md")}
    assert any(b"Zumtobel" in data for data in stale.values())
    mem.delete(_get(mem, PLACE).id)
    mem.data.sync_files(pages)
    assert not any(b"Zumtobel" in page.read_bytes() for page in pages.rglob("*.md"))
    for page, data in stale.items():
        page.write_bytes(data)
    report = mem.data.sync_files(pages)
    assert any("deleted" in note for note in report.notes)
    assert not [one.text for one in list_held(mem) if "Zumtobel" in one.text]
    with pytest.raises(Conflict, match="deleted"):
        mem.correct(mem.list().items[0].id, text=SENTENCE)
    check_gone(mem, path, "Zumtobel", "Dornbirn")


@pytest.mark.requirement("S-060")
def test_answers_to_a_contest_lose_a_value_that_is_deleted(mem: Credenda, path: Path) -> None:
    for value, day in (("quetzal", "2026-01-01"), ("afternoon", "2026-01-20"), ("quetzal", "2026-02-10")):
        text = f"I prefer {value} meetings"
        slot = {"entity": "user", "attribute": "meeting_time", "value": f"{value} meetings"}
        mem.store(MemoryUnit(text=text, type="preference", created_at=day, **slot))  # type: ignore[arg-type]
    (asked,) = mem.manage.contests()
    mem.manage.resolve(asked.id, scopes={"consulting": "quetzal", "default": "afternoon"})
    answer = next(one for one in mem.list().items if one.value == "afternoon meetings")
    right = mem.correct(answer.id, value="evening meetings")
    assert "quetzal" in answer.text
    gone = next(one for one in mem.list().items if one.value == "quetzal meetings")
    plan = mem.manage.plan_deletion(gone.id)
    assert answer.id in {one.id for one in (*plan.taken, *plan.kept)}
    mem.delete(gone.id)
    assert mem.get(right.id).text == "Correction: evening meetings"
    while left := [one.id for one in list_held(mem) if one.value == "quetzal meetings"]:
        mem.delete(left[0])
    assert mem.get(right.id).value == "evening meetings"
    check_gone(mem, path, "quetzal")


def _merging(path: Path, clock: ManualClock, text: str) -> Credenda:
    def answer(question: Question) -> object:
        if "entries" not in json.loads(question.prompt):
            return {"claims": []}
        first, *rest = (one["id"] for one in json.loads(question.prompt)["entries"])
        return {"operations": [{"op": "replace", "target": first, "with": rest, "kind": "same", "text": text}]}

    llm = ScriptedModel(answer)  # type: ignore[arg-type]
    return Credenda.open(path, user="ana", clock=clock, workers=False, embedder="hashed", llm=llm)


def test_a_merged_text_and_its_correction_lose_the_words_of_a_source(path: Path, clock: ManualClock) -> None:
    told = ("The choir sings in Voitsberg on Mondays.", "On Mondays the choir sings in Voitsberg town.")
    with _merging(path, clock, "The choir sings in Voitsberg on Mondays, in town.") as mem:
        mem.store(MemoryUnit(text=told[0], entity="choir", attribute="meeting_day", value="Mondays"))
        mem.store(MemoryUnit(text=told[1], entity="choir"))
        mem.settle()
        assert mem.manage.consolidate(force=True).memories_consolidated
        (merged,) = mem.list(limit=50).items
        right = mem.correct(merged.id, value="Fridays")
        assert "Voitsberg" in merged.text
        source = next(one for one in list_held(mem) if one.id not in {merged.id, right.id})
        plan = mem.manage.plan_deletion(source.id)
        assert {merged.id} <= {one.id for one in (*plan.taken, *plan.kept)}
        mem.delete(source.id)
        after = mem.get(right.id)
        assert (after.value, after.text) == ("Fridays", "Correction: Fridays")
        check_gone(mem, path, "Voitsberg")


def test_a_card_made_of_a_correction_is_deleted_and_named(mem: Credenda, say: Say, path: Path) -> None:
    say(SENTENCE, "I love hiking.", "My dog is called Waldemar.", "I'm allergic to pollen.", "I speak Danish.")
    mem.correct(_get(mem, "nurse").id, value="glazier")
    mem.manage.dream()
    (card,) = mem.list(attribute="peer_card").items
    plan = mem.manage.plan_deletion(_get(mem, PLACE).id)
    assert card.id in {one.id for one in plan.taken}
    receipt = mem.delete(_get(mem, PLACE).id)
    assert receipt.taken == tuple(one.id for one in plan.taken)
    assert receipt.memories == plan.memories
    check_gone(mem, path, "Zumtobel", "Dornbirn")


def test_the_plan_names_what_holds_the_same_value(mem: Credenda, say: Say) -> None:
    say("I live in Voitsberg.", "I've moved to Bregenz.", "I've moved back to Voitsberg.")
    now = next(one for one in mem.list(attribute="residence").items)
    earlier = [one.id for one in list_held(mem) if one.value == "Voitsberg" and one.id != now.id]
    plan = mem.manage.plan_deletion(now.id)
    assert [one.id for one in plan.taken] == earlier
    assert plan.memories == 1 + len(plan.taken)


def test_the_plan_names_what_mentions_the_value_and_stays(mem: Credenda, say: Say) -> None:
    say("I live in Voitsberg.", "My brother Max works in Voitsberg, near the mill.", "I like tea.")
    brother = next(one for one in list_held(mem) if "brother" in one.text)
    gone = next(one for one in list_held(mem) if one.text == "I live in Voitsberg.")
    plan = mem.manage.plan_deletion(gone.id)
    assert [(one.id, one.text) for one in plan.mentions] == [(brother.id, brother.text)]
    assert (plan.kept, plan.taken) == ((), ())
    assert mem.delete(gone.id).mentions == (brother.id,)
    assert mem.get(brother.id).text == brother.text


JOBS = ("nurse", "carpenter", "librarian")
PLACES = ("Quendelbau", "Ottakringer", "Zumtobel")
TOWNS = ("Voitsberg", "Dornbirn", "Schladming")
STEPS = ("correct", "retype", "undo", "consolidate", "rebuild", "reextract", "repeat")
Steps = list[tuple[str, int]]
_STEP = st.tuples(st.sampled_from(STEPS), st.integers(0, 5))


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    picks=st.tuples(*(st.sampled_from(one) for one in (JOBS, PLACES, TOWNS)), st.integers(0, 5)),
    orders=st.tuples(st.lists(_STEP, min_size=1, max_size=5), st.lists(_STEP, max_size=2)),
)
def test_in_any_order_no_deleted_value_is_left(
    tmp_path_factory: pytest.TempPathFactory, picks: tuple[str, str, str, int], orders: tuple[Steps, Steps]
) -> None:
    job, place, town, target = picks
    steps, after = orders
    folder = tmp_path_factory.mktemp("orders")
    path, clock = folder / "memory.db", ManualClock("2026-03-01T09:00:00Z")
    with Credenda.open(path, user="ana", clock=clock, workers=False) as mem:
        mem.remember(f"I work as a {job} at {place} and live in {town}.")
        mem.settle()
        for name, number in steps:
            clock.advance(timedelta(days=1))
            _take_step(mem, name, number)
        named = [one for one in list_held(mem) if one.value in {place, town, job}]
        if not named:
            return
        gone = named[target % len(named)]
        assert gone.value is not None
        plan = mem.manage.plan_deletion(gone.id)
        holding = {one.id for one in list_held(mem) if gone.value in one.text} - {gone.id}
        assert holding <= {one.id for one in (*plan.kept, *plan.taken, *plan.mentions)}
        mem.delete(gone.id)
        for name, number in after:
            clock.advance(timedelta(days=1))
            _take_step(mem, name, number)
        assert mem.data.doctor().findings == ()
        mem.data.export(folder / "all.jsonl")
        mem.data.sync_files(folder / "pages")
    for file in folder.rglob("*"):
        kept = bool(plan.mentions) or not file.is_file()
        assert kept or gone.value.encode() not in file.read_bytes(), file.name


def _take_step(mem: Credenda, name: str, number: int) -> None:
    held = mem.list(limit=50).items
    one = held[number % len(held)] if held else None
    if name == "consolidate":
        mem.manage.consolidate(force=True)
    elif name in {"rebuild", "reextract"}:
        mem.data.rebuild(reextract=name == "reextract")
    elif one is not None and name == "correct":
        mem.correct(one.id, value=f"Ersatzwert{number}{one.id.partition('-')[0]}")
    elif one is not None and name == "retype" and one.value:
        mem.correct(one.id, text=one.text.replace(one.value, f"Neuwort{number}{one.id.partition('-')[0]}"))
    elif one is not None and name == "undo":
        changes = [change for change in mem.why(one.id).changes if change.kind in {"add", "supersede"}]
        mem.manage.undo(changes[-1].id, cascade=True)
    elif one is not None and name == "repeat":
        mem.remember(one.text)
        mem.settle()
