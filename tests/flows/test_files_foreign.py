"""Folders that others keep: every file of theirs is read, and stays byte for byte as it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.portability.files import folder as folder_module
from credenda.testing import ManualClock

from .belief_stores import write_suzent
from .foreign_folders import FOLDERS, lay_out_folder, put, sync, take_picture
from .test_files import active, add_line, page, snapshot

Say = Callable[..., None]
STATE = re.compile(r"\.credenda/|\.tombstones")


@pytest.fixture(params=sorted(FOLDERS))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return lay_out_folder(tmp_path / "theirs", FOLDERS[request.param])


@pytest.fixture
def suzent(tmp_path: Path) -> Path:
    return lay_out_folder(tmp_path / "theirs", FOLDERS["suzent"])


def days(mem: Credenda) -> dict[str, str]:
    """Return the day since which each memory holds."""
    return {one.text: str(one.valid_from)[:10] for one in mem.list(limit=50, status=None).items}


@pytest.mark.requirement("S-014", "S-017", "S-054")
def test_the_files_of_others_stay_as_they_were(mem: Credenda, say: Say, folder: Path) -> None:
    say("I live in Graz.", "Always answer in German.")
    before = take_picture(folder)
    report = sync(mem, folder)
    assert report.remembered
    assert not report.removed
    now = take_picture(folder)
    assert {name: now[name] for name in before} == before
    assert {name for name in now if name not in before and not STATE.match(name)} == set(report.written)
    assert not sync(mem, folder).changed
    assert take_picture(folder).keys() == now.keys()
    say("I moved to Wels.")
    assert sync(mem, folder).written
    now = take_picture(folder)
    assert {name: now[name] for name in before} == before
    assert mem.data.doctor().ok


@pytest.mark.requirement("S-009", "S-014", "S-017", "S-054", "S-092")
def test_the_first_sync_takes_the_days_over_and_leaves_every_file(
    mem: Credenda, clock: ManualClock, tmp_path: Path
) -> None:
    clock.advance(timedelta(days=100))
    persona = "# Persona\n\nYou are Suzent, a calm assistant.\nAlways be brief.\n"
    files = {
        "archive/2026-05-27.md": "# 2026-05-27\n\n- User works at Google.\n- User likes skiing.\n",
        ".tombstones.jsonl": '{"text": "user likes skiing."}\n',
        "persona.md": persona,
    }
    folder = lay_out_folder(tmp_path / "v", files)
    before = take_picture(folder)
    dry = mem.data.sync_files(folder, dry_run=True)
    assert take_picture(folder) == before
    report = sync(mem, folder)
    assert (dry.written, dry.removed) == (report.written, report.removed)
    assert not report.removed
    now = take_picture(folder)
    assert {name: now[name] for name in before} == before
    held = {one.text: str(one.valid_from)[:10] for one in mem.list().items}
    assert held["User works at Google."] == "2026-05-27"
    assert not any("skiing" in text for text in held)
    assert not mem.search("skiing").hits


@pytest.mark.requirement("S-014", "S-092")
def test_a_core_that_another_program_made_is_as_old_as_the_days_of_which_it_was_made(
    mem: Credenda, suzent: Path
) -> None:
    put(suzent, "archive/2026-02-11.md", "# 2026-02-11\n\n- User joined Quillmark.\n")
    core = put(
        suzent, "MEMORY.md", "# Memory\n\n- User works at Initech.\n- User likes lead.\n- User likes oolong tea.\n"
    )
    before = core.read_bytes()
    sync(mem, suzent)
    assert [one.value for one in mem.list(attribute="employer").items] == ["Quillmark"]
    assert {one.value: str(one.valid_from)[:10] for one in mem.list(attribute="likes").items} == {"lead": "2026-02-09"}
    assert not mem.manage.contests()
    assert not sync(mem, suzent).changed
    assert core.read_bytes() == before
    put(suzent, ".consolidation_state.json", '{"watermark_date": "2026-02-12"}\n')
    core = put(suzent, "MEMORY.md", "# Memory\n\n- User works at Quillmark.\n- User likes lead.\n- User likes rain.\n")
    before = core.read_bytes()
    sync(mem, suzent)
    since = {one.value: str(one.valid_from)[:10] for one in mem.list(attribute="likes").items}
    assert since == {"lead": "2026-02-09", "rain": "2026-02-12"}
    assert [one.value for one in mem.list(attribute="employer").items] == ["Quillmark"]
    assert core.read_bytes() == before


@pytest.mark.requirement("S-014", "S-092")
@pytest.mark.parametrize(("told", "since"), [(True, "2026-02-07"), (False, "2026-02-05")])
def test_the_words_of_a_rewritten_entry_hold_since_they_were_written(
    mem: Credenda, tmp_path: Path, *, told: bool, since: str
) -> None:
    folder = write_suzent(tmp_path / "theirs")
    if not told:  # then nothing but the entry says when this began
        for name in ("2026-02-05", "2026-02-07"):
            (folder / f"archive/{name}.md").unlink()
    sync(mem, folder)
    held = {one.value: one for one in mem.list(attribute="employer", status=None).items}
    assert str(held["Initech"].valid_from)[:10] == since
    if told:
        ended = held["Hooli"]
        assert (str(ended.valid_from)[:10], str(ended.valid_until)[:10]) == ("2026-02-05", "2026-02-07")


@pytest.mark.requirement("S-014", "S-092")
def test_day_files_are_read_once_and_keep_their_days(mem: Credenda, suzent: Path) -> None:
    sync(mem, suzent)
    held = {one.value: one for one in mem.list(attribute="employer", status=None).items}
    assert (held["Hooli"].status, held["Initech"].status) == ("superseded", "active")
    assert str(held["Hooli"].valid_from)[:10] == "2026-01-05"
    assert str(held["Initech"].valid_from)[:16] == "2026-02-09 08:15"
    assert mem.why(held["Hooli"].id).evidence[0][0].occurred_at.date().isoformat() == "2026-01-05"
    events = mem.stats().events
    for _ in range(2):
        assert not sync(mem, suzent).remembered
    assert mem.stats().events == events


@pytest.mark.parametrize(
    ("name", "text", "day"),
    [
        ("2025-11-03.md", "I moved to Nantes.\n", "2025-11-03"),
        ("diary/2025_11_03 Monday.md", "I moved to Nantes.\n", "2025-11-03"),
        ("20251103.md", "I moved to Nantes.\n", "2025-11-03"),
        ("archive/2025_11_03.md", "I moved to Nantes.\n", "2025-11-03"),
        ("archive/20251103.md", "I moved to Nantes.\n", "2025-11-03"),
        ("journals/20251103 log.md", "I moved to Nantes.\n", "2025-11-03"),
        ("202511031.md", "I moved to Nantes.\n", "2026-03-01"),
        ("20251399.md", "I moved to Nantes.\n", "2026-03-01"),
        ("move.md", "---\ncreated: '2025-11-03T18:00:00Z'\n---\n\nI moved to Nantes.\n", "2025-11-03"),
        ("diary.md", "# Diary\n\n## Mon 2025-11-03\n\nI moved to Nantes.\n\n## Someday\n", "2025-11-03"),
        ("2025-01-01.md", "---\ndate: 2025-01-02\n---\n### [[2025-11-03]]\n\nI moved to Nantes.\n", "2025-11-03"),
        ("2025-11-03.md", "# Log\n\n## 2025-11-09\n\n## Other\n\nI moved to Nantes.\n", "2025-11-03"),
        ("2027-11-03.md", "I moved to Nantes.\n", "2026-03-01"),
        ("2025-13-40.md", "---\ndate: soon\n---\nI moved to Nantes.\n", "2026-03-01"),
        ("plan 2025-11-03.md", "## Trip of 2025-11-03\n\nI moved to Nantes.\n", "2026-03-01"),
    ],
)
def test_a_line_has_the_day_that_its_page_gives_it(
    mem: Credenda, tmp_path: Path, *, name: str, text: str, day: str
) -> None:
    put(tmp_path / "theirs", name, text)
    sync(mem, tmp_path / "theirs")
    assert days(mem) == {"I moved to Nantes.": day}


@pytest.mark.requirement("S-060", "S-061")
@pytest.mark.parametrize("place", ["", "consolidated/"])
@pytest.mark.parametrize(
    "line", ['{"text": "user keeps  BEES", "at": 1}', '"User keeps bees."', '{"key":"user keeps bees"}']
)
def test_what_another_program_deleted_does_not_return(mem: Credenda, suzent: Path, place: str, line: str) -> None:
    (suzent / ".tombstones.jsonl").unlink()
    stones = put(suzent, f"{place}.tombstones.jsonl", f"{line}\nnot json\n")
    report = sync(mem, suzent)
    assert any(note.startswith("archive/2026-02-09.md: 1 line with words that were deleted") for note in report.notes)
    mem.remember("User keeps bees.")
    mem.settle()
    assert not [text for text in active(mem) if "user keeps bees" in text.casefold()]
    assert "User works at Initech." in active(mem)
    assert stones.read_text() == f"{line}\nnot json\n"
    (suzent / ".credenda/sync.json").unlink()
    sync(mem, suzent)
    assert not [text for text in active(mem) if "user keeps bees" in text.casefold()]
    beside = suzent / (".tombstones.jsonl" if place else ".tombstones-credenda.jsonl")
    assert "bees" not in beside.read_text().casefold()


def test_a_file_of_theirs_keeps_its_name_and_ours_is_beside_it(mem: Credenda, say: Say, suzent: Path) -> None:
    today = put(suzent, "archive/2026-03-01.md", "# 2026-03-01\n\n- User bought a kite.\n")
    put(suzent, "Index.md", "# Contents\n")
    say("I like rye bread.", "Always answer in German.", days=0)
    before = take_picture(suzent)
    report = sync(mem, suzent)
    assert {"MEMORY-credenda.md", "index-credenda.md", "archive/2026-03-01-credenda.md"} <= set(report.written)
    now = take_picture(suzent)
    assert {name: now[name] for name in before} == before
    ours = [suzent / name for name in report.written]
    links = {link for path in ours for link in re.findall(r"\[\[([^|\]]+)\|", path.read_text())}
    assert all((suzent / f"{link}.md").is_file() and suzent / f"{link}.md" != today for link in links)
    assert {"MEMORY-credenda", "index-credenda", "archive/2026-03-01-credenda"} <= links
    core = suzent / "MEMORY-credenda.md"
    core.write_text(core.read_text().replace("- Always answer in German.", "- Always answer in French."))
    assert sync(mem, suzent).corrected == 1
    assert "Always answer in French." in active(mem)
    add_line(
        next(path for path in ours if "rye bread" in path.read_text() and "archive" not in path.parts),
        "- I own a kayak.",
    )
    assert sync(mem, suzent).remembered == 1
    assert not sync(mem, suzent).changed


def odd_files(place: Path) -> None:
    """Write files that are hard to read or to write, each with a sentence."""
    put(place, "crlf.md", "# A\r\n\r\nI like figs.\r\n")
    put(place, "bom.md", "\ufeff---\r\ntitle: b\r\n---\r\nI like plums.  \r\n\r\n\r\n")
    put(place, "no end.md", "I like quinces.")
    put(place, "mixed.md", "I like pears.\r\n\nI like dates.\n\r\n")
    put(place, "white.md", "\n\n  \n")
    put(place, "empty.md", "")
    put(
        place,
        "links.md",
        "See [[crlf|those]] and ![[x.png]] #tag ^block\n\n<!-- mine -->\n***\n1. one\n2. two\n\ttab\n",
    )
    put(place, "fence.md", '```\n<!--m {"id":"m1-000000"}-->\n- I like lead.\n<!--end-->\n```\n')
    put(place, "odd \u00e9 name.md", "I like sorrel.\n")
    (place / "utf16.md").write_bytes("I like tin.\n".encode("utf-16"))
    (place / "zeros.md").write_bytes(b"I like\x00iron.\n")
    (place / "binary.md").write_bytes(bytes(range(256)))
    put(place, "merge.md", "<<<<<<< HEAD\nI like zinc.\n=======\nI like brass.\n>>>>>>> x\n")
    put(place, "huge.md", "I like salt. " * 200_000)
    put(place, "elsewhere.txt", "I like chalk.\n")
    (place / "link.md").symlink_to(place / "elsewhere.txt")
    (place / "MEMORY.md").symlink_to(place / "elsewhere.txt")
    (place / "archive").mkdir()
    (place / "archive/2026-03-01.md").write_bytes(b"\xff\xfe# 2026-03-01\n")
    put(place, "read only.md", "I like chives.\n").chmod(0o444)


def test_odd_files_of_theirs_stay_too(mem: Credenda, say: Say, tmp_path: Path) -> None:
    place = tmp_path / "theirs"
    place.mkdir()
    odd_files(place)
    say("I live in Graz.", days=0)
    before = take_picture(place)
    report = sync(mem, place)
    assert {"I like figs.", "I like plums.", "I like quinces.", "I like sorrel.", "I like chives."} <= set(active(mem))
    assert not [text for text in active(mem) if re.search("tin|iron|zinc|brass|chalk", text)]
    left = " ".join(report.left_alone)
    assert all(name in left for name in ("utf16.md", "zeros.md", "binary.md", "merge.md", "link.md", "MEMORY.md"))
    assert {"MEMORY-credenda.md", "archive/2026-03-01-credenda.md"} <= set(report.written)
    for _ in range(2):
        now = take_picture(place)
        assert {name: now[name] for name in before} == before
        assert not sync(mem, place).changed


@pytest.mark.parametrize("name", ["consolidated/user.md", "MEMORY.md", "archive/2026-03-01.md"])
def test_prose_in_a_page_of_ours_stays(mem: Credenda, say: Say, tmp_path: Path, name: str) -> None:
    place = tmp_path / "vault"
    say("I live in Linz.", "Always answer in German.", days=0)
    mem.data.sync_files(place)
    path = place / name
    lines = "You are a patient assistant at the lake.  \nI like figs.\n"
    path.write_text(path.read_text().replace("######", f"{lines}\n######", 1))
    report = sync(mem, place)
    assert report.remembered == 1
    assert "I like figs." in active(mem)
    assert lines in path.read_text()
    assert not sync(mem, place).changed
    (event,) = (
        hit for hit in mem.search("patient assistant at the lake", kinds=("event",)).hits if "lake" in hit.quote
    )
    mem.delete(event.id)
    sync(mem, place)
    assert "lake" not in "".join(one.read_text() for one in place.rglob("*.md"))


def test_what_another_program_adds_to_a_day_of_ours_stays(mem: Credenda, say: Say, tmp_path: Path) -> None:
    place = tmp_path / "vault"
    say("I live in Linz.", days=2)
    mem.data.sync_files(place)
    path = place / "archive/2026-03-01.md"
    path.write_text(path.read_text() + "\n- User works at Hooli.  \n- User keeps bees.\n")
    sync(mem, place)
    assert "- User works at Hooli.  \n- User keeps bees.\n" in path.read_text()
    assert days(mem)["User works at Hooli."] == "2026-03-01"
    assert not sync(mem, place).changed


def test_broken_off_anywhere_their_files_stay_and_nothing_is_said_twice(
    mem: Credenda, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = take_picture(folder)
    whole = folder_module.replace_file
    counts: set[int] = set()
    for allowed in range(8):
        left = [allowed]

        def fail(path: Path, left: list[int] = left) -> object:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return whole(path)

        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr(folder_module, "replace_file", fail)
            mem.data.sync_files(folder)
        counts.add(mem.stats().events)
        now = take_picture(folder)
        assert {name: now[name] for name in before} == before
    assert len(counts) == 1
    mem.data.sync_files(folder)
    assert not sync(mem, folder).changed


def test_a_dry_run_beside_a_run_changes_nothing(mem: Credenda, suzent: Path) -> None:
    before = take_picture(suzent)
    with folder_module.open_folder(suzent).locked():
        dry = mem.data.sync_files(suzent, dry_run=True)
    assert dry.written
    now = take_picture(suzent)
    assert {name: now[name] for name in now if not STATE.match(name)} == {
        name: before[name] for name in before if not STATE.match(name)
    }
    assert mem.stats().events == 0


def test_a_rebuild_reads_our_pages_alone(mem: Credenda, suzent: Path, tmp_path: Path, clock: ManualClock) -> None:
    sync(mem, suzent)
    before, held = take_picture(suzent), active(mem)
    with Credenda.open(tmp_path / "new.db", user="ana", clock=clock, workers=False) as new:
        new.data.rebuild(from_files=suzent)
        assert active(new) == held
        events = new.stats().events
        sync(new, suzent)
        assert (active(new), new.stats().events) == (held, events)
    theirs = {name: seen for name, seen in before.items() if name in FOLDERS["suzent"]}
    assert {name: take_picture(suzent)[name] for name in theirs} == theirs


def test_a_page_of_theirs_beside_ours_is_named_in_no_removal(mem: Credenda, say: Say, folder: Path) -> None:
    """Everything of ours can go again; what is left is what was there."""
    say("I live in Graz.")
    before = snapshot(folder)
    sync(mem, folder)
    mem.erase(confirm="ana")
    report = sync(mem, folder)
    assert not set(report.removed) & before.keys()
    assert {name: snapshot(folder)[name] for name in before} == before
    assert not page(folder, "consolidated/Graz.md").exists()
