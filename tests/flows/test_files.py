"""A folder of pages and a memory, kept in step."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Conflict, Credenda, Invalid, MemoryUnit
from credenda.model.change import Actor
from credenda.model.memory import Status
from credenda.testing import ManualClock

Say = Callable[..., None]


def page(vault: Path, name: str = "consolidated/user.md") -> Path:
    return vault / name


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new).encode())


def add_line(path: Path, line: str) -> None:
    text = path.read_text("utf-8")
    path.write_text(text.replace("## Now\n", f"## Now\n\n{line}\n", 1), "utf-8")


def remove_entry(path: Path, text: str) -> None:
    """Take an entry out of a page, with its comment."""
    lines = path.read_text("utf-8").split("\n")
    at = next(number for number, line in enumerate(lines) if line == f"- {text}")
    del lines[at - 1 : at + 1]
    path.write_text("\n".join(lines), "utf-8")


def active(mem: Credenda) -> list[str]:
    return sorted(one.text for one in mem.list(limit=50).items)


def snapshot(vault: Path) -> dict[str, bytes]:
    return {str(one.relative_to(vault)): one.read_bytes() for one in sorted(vault.rglob("*")) if one.is_file()}


@pytest.mark.requirement("S-014", "S-015", "S-101")
def test_a_second_sync_changes_nothing(mem: Credenda, say: Say, vault: Path) -> None:
    say("I live in Linz.", "My sister Mara likes tea.", "Always answer in German.", "I moved to Graz.")
    first = mem.data.sync_files(vault)
    before = snapshot(vault)
    second = mem.data.sync_files(vault)
    assert {"MEMORY.md", "index.md", "consolidated/user.md"} < set(first.written)
    assert not second.changed
    assert snapshot(vault) == before
    assert "- Always answer in German." in page(vault, "MEMORY.md").read_text("utf-8")


@pytest.mark.requirement("S-018")
def test_an_entry_has_a_comment_that_is_the_codes_and_a_text_below_it(mem: Credenda, say: Say, vault: Path) -> None:
    say("I live in Linz.")
    mem.data.sync_files(vault)
    text = page(vault).read_text("utf-8")
    assert re.search(
        r'<!--m \{"id":"m1-[0-9a-f]{6}","first_seen":"2026-03-01T.*"sources":\["e1-.*\}-->\n- I live in', text
    )
    edit(page(vault), '"confidence":0.85', '"confidence":0.1')
    assert mem.data.sync_files(vault).corrected == 0
    assert page(vault).read_text("utf-8") == text


def test_an_edited_entry_is_a_correction_by_a_file(mem: Credenda, say: Say, vault: Path) -> None:
    say("I live in Linz.")
    mem.data.sync_files(vault)
    edit(page(vault), "I live in Linz.", "I live in Wels.")
    report = mem.data.sync_files(vault)
    assert report.corrected == 1
    (memory,) = mem.list(attribute="residence").items
    assert (memory.text, memory.value) == ("I live in Wels.", "Wels")
    assert {change.actor for change in mem.why(memory.id).changes} == {Actor.FILE}
    assert not mem.data.sync_files(vault).changed


def test_a_removed_entry_is_a_delete_and_a_new_line_is_remembered(mem: Credenda, say: Say, vault: Path) -> None:
    say("I live in Linz.", "I like tea.", "I play chess.")
    mem.data.sync_files(vault)
    remove_entry(page(vault), "I like tea.")
    add_line(page(vault), "- I like the cello.")
    report = mem.data.sync_files(vault)
    assert (report.deleted, report.remembered) == (1, 1)
    assert active(mem) == ["I like the cello.", "I live in Linz.", "I play chess."]
    assert not [hit for hit in mem.search("tea").hits if "tea" in hit.quote]
    assert "tea" not in "".join(one.read_text("utf-8") for one in vault.rglob("*.md"))
    assert "<!--m" in page(vault).read_text("utf-8").split("- I like the cello.")[0].splitlines()[-1]
    assert not mem.data.sync_files(vault).changed


def test_what_both_sides_changed_is_asked_about(mem: Credenda, say: Say, vault: Path) -> None:
    say("I live in Linz.")
    mem.data.sync_files(vault)
    say("I moved to Graz.")
    edit(page(vault), "I live in Linz.", "I live in Wels.")
    report = mem.data.sync_files(vault)
    assert (report.contested, report.corrected) == (1, 0)
    (contest,) = mem.manage.contests()
    assert set(contest.values) == {"Graz", "Wels"}
    assert active(mem) == ["I live in Wels.", "I moved to Graz."]
    assert "## Open questions" in page(vault).read_text("utf-8")
    assert not mem.data.sync_files(vault).changed
    mem.manage.resolve(contest.id, keep="Wels")
    mem.data.sync_files(vault)
    assert "## Open questions" not in page(vault).read_text("utf-8")
    assert [one.value for one in mem.list(attribute="residence").items] == ["Wels"]


def test_a_question_about_words_alone_can_be_answered_too(mem: Credenda, vault: Path) -> None:
    memory = mem.store(MemoryUnit(text="Long walks calm me"))
    mem.data.sync_files(vault)
    mem.correct(memory.id, text="Long swims calm me")
    edit(page(vault, "consolidated/notes.md"), "Long walks calm me", "Long naps calm me")
    assert mem.data.sync_files(vault).contested == 1
    (contest,) = mem.manage.contests()
    assert set(contest.values) == {"Long swims calm me", "Long naps calm me"}
    mem.manage.resolve(contest.id, keep="Long naps calm me")
    mem.data.sync_files(vault)
    assert not mem.data.sync_files(vault).changed
    assert [one for one in active(mem) if "naps" in one]
    assert not [one for one in active(mem) if "swims" in one]


def test_an_entry_removed_here_and_changed_there_stays(mem: Credenda, say: Say, vault: Path) -> None:
    say("I live in Linz.", "I like tea.")
    mem.data.sync_files(vault)
    say("I moved to Graz.")
    remove_entry(page(vault), "I live in Linz.")
    report = mem.data.sync_files(vault)
    assert report.deleted == 0
    assert any("stays" in note for note in report.notes)
    assert [one.status for one in mem.list(status=None, limit=50).items if one.value == "Linz"] == [Status.SUPERSEDED]


def test_no_folder_is_a_clear_error(mem: Credenda, tmp_path: Path, path: Path) -> None:
    with pytest.raises(Invalid, match="is not a folder"):
        mem.data.sync_files(path)
    with pytest.raises(Invalid, match="empty"):
        mem.data.sync_files(" ")
    with pytest.raises(Invalid, match="missing entries"):
        mem.data.sync_files(tmp_path / "v", missing="maybe")


BELIEF = ("text", "type", "entity", "attribute", "value", "scope", "stance", "speaker", "status", "valid_from")
BELIEF_TOO = ("valid_until", "pinned", "confidence", "importance", "layer", "topic", "relation", "confirmations")


def beliefs(mem: Credenda) -> list[tuple[object, ...]]:
    found = mem.list(status=None, limit=50).items
    return sorted((*(str(getattr(one, name)) for name in (*BELIEF, *BELIEF_TOO)), str(one.tags)) for one in found)


def filled(mem: Credenda, say: Say, clock: ManualClock) -> None:
    say("I live in Linz. I like tea.", "I moved to Graz.", "Always answer in German.", "My sister Mara lives in Wels.")
    say("I prefer morning meetings.", "I prefer afternoon meetings.", "I prefer morning meetings.", days=20)
    say("I live in Graz.", "I play chess.", "I don't play chess any more.", "What if I lived in Rome?")
    mem.remember("We decided to use Postgres.", topic="work", session="s1", tags=["db"])
    mem.settle()
    mem.manage.pin(mem.list(entity="user", attribute="residence").items[0].id)
    clock.advance(timedelta(days=1))


@pytest.mark.requirement("S-091", "S-100")
def test_a_rebuild_from_files_reproduces_the_beliefs(
    mem: Credenda, say: Say, *, vault: Path, clock: ManualClock, tmp_path: Path
) -> None:
    filled(mem, say, clock)
    mem.data.sync_files(vault)
    with Credenda.open(tmp_path / "new.db", user="ana", clock=clock, workers=False) as new:
        dry = new.data.rebuild(from_files=vault, dry_run=True)
        assert not dry.applied
        assert new.stats().events == 0
        report = new.data.rebuild(from_files=vault)
        assert report.applied
        assert len(report.differences) == len(dry.differences) == len(beliefs(mem))
        assert beliefs(new) == beliefs(mem)
        assert new.stats().events == mem.stats().events
        (old_case,), (case,) = mem.manage.contests(), new.manage.contests()
        assert (case.values, case.state, case.question) == (old_case.values, old_case.state, old_case.question)
        memory = new.list(entity="user", attribute="residence").items[0]
        assert next(event.text[a:b] for event, a, b in new.why(memory.id).evidence) == "I moved to Graz."
        assert new.data.doctor().ok
        assert not new.data.rebuild().differences
        before = beliefs(new)
        new.settle()
        assert beliefs(new) == before
        new.data.sync_files(vault)
        assert not new.data.sync_files(vault).changed
        assert beliefs(new) == before
        with pytest.raises(Conflict, match="not empty"):
            new.data.rebuild(from_files=vault)


@pytest.mark.requirement("S-062", "S-099")
def test_a_rebuild_from_old_files_brings_nothing_deleted_back(
    mem: Credenda, say: Say, *, vault: Path, clock: ManualClock, tmp_path: Path
) -> None:
    say("I'm allergic to zorkmids. I live in Linz.", "I like tea.")
    mem.data.sync_files(vault)
    old = {one: one.read_bytes() for one in vault.rglob("*.md")}
    mem.delete(mem.list(attribute="allergy").items[0].id)
    mem.data.sync_files(vault)
    assert "zorkmids" not in "".join(one.read_text("utf-8") for one in vault.rglob("*.*") if one.is_file())
    assert (vault / ".tombstones.jsonl").read_text("utf-8")
    for one, data in old.items():
        one.write_bytes(data)
    with Credenda.open(tmp_path / "new.db", user="ana", clock=clock, workers=False) as new:
        report = new.data.rebuild(from_files=vault)
        assert any("deleted" in note for note in report.kept)
        assert active(new) == ["I like tea.", "I live in Linz."]
        assert not [hit for hit in new.search("zorkmids allergic").hits if "zorkmids" in hit.quote]
        new.remember("I'm allergic to zorkmids.")
        new.settle()
        assert active(new) == ["I like tea.", "I live in Linz."]
        new.data.sync_files(vault)
        assert "zorkmids" not in "".join(one.read_text("utf-8") for one in vault.rglob("*.*") if one.is_file())
    assert b"zorkmids" not in (tmp_path / "new.db").read_bytes()


@pytest.mark.parametrize("name", ["new.md", "people/ben.md", "a/b/c/deep.md"])
def test_a_new_page_is_taken_in_wherever_it_lies(mem: Credenda, vault: Path, name: str) -> None:
    mem.data.sync_files(vault)
    page = vault / name
    page.parent.mkdir(parents=True, exist_ok=True)
    text = '---\nentity: "Ben"\n---\n# Ben\n\n- likes tea\n'
    page.write_text(text, "utf-8")
    report = mem.data.sync_files(vault)
    assert (report.remembered, report.left_alone) == (1, ())
    assert "Ben likes tea" in {memory.text for memory in mem.list(entity="Ben").items}
    assert page.read_text("utf-8") == text
    (ours,) = (vault / "consolidated").glob("Ben*.md")  # another name if a page of any folder has it
    assert "- Ben likes tea" in ours.read_text("utf-8")
    again = mem.data.sync_files(vault)
    assert (again.remembered, mem.stats().events) == (0, report.remembered)
    page.unlink()
    assert [one for one in mem.data.sync_files(vault).pending if "likes tea" in str(one)]


FLAT = "we're in the Lerkils flat now, damp but ours"


def read_you(folder: Path) -> str:
    return (folder / "consolidated" / "user.md").read_text("utf-8")


def test_a_page_shows_the_statement_of_a_memory_and_its_quotation_behind_it(mem: Credenda, vault: Path) -> None:
    mem.remember(FLAT, claims=[{"quote": FLAT, "attribute": "home", "value": "Lerkils flat"}])
    mem.data.sync_files(vault)
    lines = read_you(vault).splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("#### home: Lerkils flat · ")]
    assert lines[at + 1].startswith("<!--m ")
    assert lines[at + 2] == f"- {FLAT}"
    assert not mem.data.sync_files(vault).changed


def test_an_edited_quotation_still_corrects_and_the_statement_follows(mem: Credenda, vault: Path) -> None:
    text = "I live in Halden."
    mem.remember(text, claims=[{"quote": text, "attribute": "residence", "value": "Halden"}])
    mem.data.sync_files(vault)
    path = vault / "consolidated" / "user.md"
    path.write_text(read_you(vault).replace(f"- {text}", "- I live in Moss."), "utf-8")
    assert mem.data.sync_files(vault).corrected == 1
    assert "#### residence: Moss · " in read_you(vault)
    assert "#### residence: Halden" not in read_you(vault)
    assert not mem.data.sync_files(vault).changed


def test_a_statement_that_a_person_edited_is_not_lost(mem: Credenda, vault: Path) -> None:
    mem.remember(FLAT, claims=[{"quote": FLAT, "attribute": "home", "value": "Lerkils flat"}])
    mem.data.sync_files(vault)
    path = vault / "consolidated" / "user.md"
    path.write_text(read_you(vault).replace("#### home: Lerkils flat", "#### home: my own words"), "utf-8")
    mem.data.sync_files(vault)
    assert "#### home: my own words" in read_you(vault)
    assert "#### home: Lerkils flat" in read_you(vault)
    assert not mem.data.sync_files(vault).changed


def test_no_statement_of_a_deleted_memory_stays_on_its_page(mem: Credenda, vault: Path) -> None:
    mem.remember(FLAT, claims=[{"quote": FLAT, "attribute": "home", "value": "Lerkils flat"}])
    mem.remember(
        "I keep bees in Moss, truly.", claims=[{"quote": "I keep bees", "attribute": "keeps", "value": "bees"}]
    )
    mem.data.sync_files(vault)
    (flat,) = [one for one in mem.list().items if one.value == "Lerkils flat"]
    mem.delete(flat.id)
    mem.data.sync_files(vault)
    assert "Lerkils" not in read_you(vault)
    assert "#### keeps: bees" in read_you(vault)
