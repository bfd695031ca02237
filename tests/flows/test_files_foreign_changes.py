"""Pages of others that change later: lines that are edited, removed and moved, and words that are deleted here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from credenda import Credenda

from .foreign_folders import FOLDERS, lay_out_folder, put, sync, take_picture
from .test_files import active

Say = Callable[..., None]


@pytest.fixture
def suzent(tmp_path: Path) -> Path:
    return lay_out_folder(tmp_path / "theirs", FOLDERS["suzent"])


def test_a_line_removed_from_a_page_of_theirs_is_forgotten(mem: Credenda, tmp_path: Path) -> None:
    path = put(tmp_path / "theirs", "me.md", "I live in Nantes.\n\nI like figs.\n\nI play chess.\n\nI own a kayak.\n")
    sync(mem, tmp_path / "theirs")
    path.write_text(path.read_text().replace("I like figs.\n\n", ""))
    dry = mem.data.sync_files(tmp_path / "theirs", dry_run=True)
    assert [one.split(" ", 2)[::2] for one in dry.pending] == [["me.md:", "I like figs."]]
    report = sync(mem, tmp_path / "theirs")
    assert report.deleted == 1
    assert any("`restore` brings it back" in note for note in report.notes)
    (gone,) = mem.list(status="forgotten").items
    assert gone.text == "I like figs."
    assert not sync(mem, tmp_path / "theirs").changed
    mem.restore(gone.id)
    assert not sync(mem, tmp_path / "theirs").deleted
    assert "I like figs." in active(mem)
    path.write_text(path.read_text() + "\nI like pears.\n")
    assert sync(mem, tmp_path / "theirs").remembered == 1


def test_an_edited_line_of_theirs_is_said_anew(mem: Credenda, tmp_path: Path) -> None:
    path = put(tmp_path / "theirs", "me.md", "I live in Nantes.\n\nI like figs.\n")
    sync(mem, tmp_path / "theirs")
    path.write_text("I live in Brest.\n\nI like sour figs.\n")
    report = sync(mem, tmp_path / "theirs")
    assert (report.remembered, report.waiting) == (2, 0)
    assert active(mem) == ["I like sour figs.", "I live in Brest."]
    assert [one.value for one in mem.list(attribute="residence", status="superseded").items] == ["Nantes"]


def test_what_else_supports_a_memory_outlives_the_line(mem: Credenda, say: Say, tmp_path: Path) -> None:
    path = put(tmp_path / "theirs", "me.md", "I like figs.\n\nI play chess.\n")
    put(tmp_path / "theirs", "other.md", "I play chess.\n")
    sync(mem, tmp_path / "theirs")
    say("I like figs.")
    path.write_text("Nothing here.\n")
    assert sync(mem, tmp_path / "theirs").deleted == 0
    assert {"I like figs.", "I play chess."} <= set(active(mem))


@pytest.mark.parametrize("missing", ["delete", "restore"])
def test_a_page_of_theirs_that_is_gone_waits(mem: Credenda, tmp_path: Path, missing: str) -> None:
    place = tmp_path / "theirs"
    path = put(place, "me.md", "I live in Nantes.\n\nI like figs.\n")
    put(place, "other.md", "I play chess.\n")
    sync(mem, place)
    path.unlink()
    for _ in range(2):
        report = sync(mem, place)
        assert (report.waiting, report.deleted) == (2, 0)
        assert [one.partition(":")[0] for one in report.pending] == ["me.md", "me.md"]
    report = sync(mem, place, missing=missing)
    assert (report.waiting, report.deleted) == (0, 2 if missing == "delete" else 0)
    assert ("I like figs." in active(mem)) is (missing == "restore")
    assert not sync(mem, place).changed
    assert not path.exists()


def test_a_page_of_theirs_may_move(mem: Credenda, tmp_path: Path) -> None:
    place = tmp_path / "theirs"
    path = put(place, "me.md", "I live in Nantes.\n\nI like figs.\n")
    sync(mem, place)
    events = mem.stats().events
    (place / "about").mkdir()
    path.rename(place / "about/me too.md")
    report = sync(mem, place)
    assert (report.changed, report.waiting, mem.stats().events) == (False, 0, events)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_an_entry_moved_to_a_page_of_theirs_changes_no_other_line(
    mem: Credenda, say: Say, tmp_path: Path, ending: str
) -> None:
    place = tmp_path / "theirs"
    theirs = "\n\n# Teas  \n\n\nI like scones.   \nYou are a patient assistant.\n\n* oolong\n-  black\n\n"
    path = put(place, "teas.md", theirs.replace("\n", ending))
    say("I like tea.", days=0)
    sync(mem, place)
    ours = place / "consolidated/user.md"
    lines = ours.read_text().split("\n")
    at = lines.index("- I like tea.")
    entry = lines[at - 1 : at + 1]
    ours.write_text("\n".join([*lines[: at - 1], *lines[at + 1 :]]))
    path.write_bytes(path.read_bytes() + ending.join([*entry, "", "the end  ", ""]).encode())
    report = sync(mem, place)
    assert (report.deleted, report.waiting) == (0, 0)
    text = path.read_bytes().decode()
    assert text.startswith(theirs.replace("\n", ending))
    assert f"{ending}the end  {ending}" in text
    assert text.count("\n") == text.count(ending)
    mem.correct(next(one.id for one in mem.list(limit=50).items if one.text == "I like tea."), text="I like coffee.")
    sync(mem, place)
    text = path.read_bytes().decode()
    assert text.startswith(theirs.replace("\n", ending))
    assert '"status":"superseded"' in text
    assert not sync(mem, place).changed


@pytest.mark.requirement("S-060", "S-062")
@pytest.mark.parametrize("verb", ["delete", "forget"])
def test_words_that_go_here_stand_there_and_do_not_return(mem: Credenda, tmp_path: Path, verb: str) -> None:
    place = tmp_path / "theirs"
    path = put(place, "me.md", "I live in Nantes.\n\nI like figs.\n")
    sync(mem, place)
    before = take_picture(place)["me.md"]
    (memory,) = (one for one in mem.list(limit=50).items if "figs" in one.text)
    getattr(mem, verb)(memory.id)
    for _ in range(2):
        report = sync(mem, place)
        assert [note for note in report.notes if note.startswith("me.md: 1 line with words")], report.notes
        assert take_picture(place)["me.md"] == before
    if verb == "delete":
        ours = [one for one in place.rglob("*.md") if one != path]
        assert not [one for one in ours if "figs" in one.read_text()]
        (place / ".credenda/sync.json").unlink()
        sync(mem, place)
    assert not [text for text in active(mem) if "figs" in text]
    path.write_text("I live in Nantes.\n")
    assert not [note for note in sync(mem, place).notes if "words" in note]


@pytest.mark.requirement("S-017", "S-064")
def test_an_erasure_leaves_their_pages_and_reads_them_no_more(mem: Credenda, say: Say, suzent: Path) -> None:
    before = take_picture(suzent)
    say("I live in Graz.")
    sync(mem, suzent)
    mem.erase(confirm="ana")
    for _ in range(2):
        report = sync(mem, suzent)
        assert (report.remembered, mem.stats().events) == (0, 0)
    now = take_picture(suzent)
    assert {name: now[name] for name in before} == before
    left = {name for name in now if name not in before and not name.startswith(".credenda/")}
    assert left <= {"index.md", "MEMORY-credenda.md"}
    assert "Graz" not in "".join((suzent / name).read_text() for name in left)
    put(suzent, "user.md", "# User\n\nCall me Noor.\n\nI play the harp.\n")
    assert sync(mem, suzent).remembered == 1
