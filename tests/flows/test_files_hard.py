"""Folders as they are in life: half-written, merged, moved, linked, taken away, and erased."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from credenda import Credenda, CredendaError, MemoryUnit, Unavailable
from credenda.portability.files import folder
from credenda.services import file_sync
from credenda.testing import ManualClock

from .test_files import active, add_line, edit, page, remove_entry, snapshot

Say = Callable[..., None]


def test_a_page_that_cannot_be_read_is_left_alone_and_the_rest_goes_on(mem: Credenda, synced: Path) -> None:
    user, mara = page(synced), page(synced, "consolidated/user's sister Mara.md")
    edit(mara, "lives in Wels", "lives in Steyr")
    damages = {
        b"\xff\xfe broken": "UTF-8",
        b"zero \x00 bytes": "zero bytes",
        b"<<<<<<< HEAD\n- one\n=======\n- two\n>>>>>>> theirs\n": "merge",
    }
    whole = user.read_bytes()
    for damage, why in damages.items():
        user.write_bytes(whole.replace(b"- I like tea.", damage))
        before = user.read_bytes()
        report = mem.data.sync_files(synced)
        assert user.read_bytes() == before
        assert [one for one in report.left_alone if why in one]
        assert report.deleted == 0
        assert "I like tea." in active(mem)
    assert "My sister Mara lives in Steyr." in active(mem)
    user.write_bytes(whole)
    mem.data.sync_files(synced)
    assert not mem.data.sync_files(synced).changed


def test_a_page_that_was_cut_off_deletes_nothing(mem: Credenda, synced: Path) -> None:
    user = page(synced)
    whole = user.read_bytes()
    for size in range(0, len(whole) - 11, 97):
        user.write_bytes(whole[:size])
        report = mem.data.sync_files(synced)
        assert report.deleted == report.corrected == report.remembered == report.contested == 0, whole[:size]
        if not report.left_alone:  # only what stands below the last entry was cut off
            assert len(whole) - size < 200
            assert user.read_bytes() == whole
        else:
            assert user.read_bytes() == whole[:size]
    user.write_bytes(whole)
    assert not mem.data.sync_files(synced).changed
    assert len(active(mem)) == 4


@pytest.mark.parametrize("part", ["consolidated", "archive", "consolidated/user.md"])
def test_what_is_gone_as_a_whole_waits_until_somebody_says_what_it_means(
    mem: Credenda, synced: Path, part: str
) -> None:
    target = synced / part
    for one in [target] if target.is_file() else list(target.iterdir()):
        one.unlink()
    if target.is_dir():
        target.rmdir()
    for _ in range(10):
        mem.remember("I like tea.")
    mem.settle()
    expected = active(mem)
    count = 3 if part == "consolidated/user.md" else 4
    report = mem.data.sync_files(synced)
    assert report.waiting == len(report.pending) == count
    assert report.deleted == 0
    assert active(mem) == expected
    assert mem.data.sync_files(synced).waiting == count
    assert mem.data.sync_files(synced, missing="restore").waiting == 0
    assert active(mem) == expected
    assert not mem.data.sync_files(synced).changed


def test_more_than_ten_entries_at_once_are_deleted_only_on_purpose(mem: Credenda, vault: Path) -> None:
    for number in range(14):
        mem.store(MemoryUnit(text=f"Fact number {number}"))
    mem.data.sync_files(vault)
    notes = page(vault, "consolidated/notes.md")
    for number in range(11):
        remove_entry(notes, f"Fact number {number}")
    assert (mem.data.sync_files(vault).waiting, len(active(mem))) == (11, 14)
    before = snapshot(vault)
    assert mem.data.sync_files(vault).waiting == 11
    assert snapshot(vault) == before
    report = mem.data.sync_files(vault, missing="delete")
    assert (report.deleted, report.waiting) == (11, 0)
    assert active(mem) == ["Fact number 11", "Fact number 12", "Fact number 13"]


def test_without_a_state_nothing_is_deleted_and_what_differs_is_asked_about(mem: Credenda, synced: Path) -> None:
    (synced / ".credenda/sync.json").unlink()
    remove_entry(page(synced), "I play chess.")
    edit(page(synced), "I live in Linz.", "I live in Wels.")
    add_line(page(synced), "- I like tea.")
    report = mem.data.sync_files(synced)
    assert (report.deleted, report.contested, report.remembered) == (0, 1, 0)
    assert "I play chess." in active(mem)
    assert "- I play chess." in page(synced).read_text("utf-8")
    assert page(synced).read_text("utf-8").count("- I like tea.") == 1
    assert not mem.data.sync_files(synced).changed


def test_the_state_of_another_memory_says_nothing_here(
    mem: Credenda, synced: Path, tmp_path: Path, clock: ManualClock
) -> None:
    remove_entry(page(synced), "I play chess.")
    with Credenda.open(tmp_path / "b.db", user="ben", clock=clock, workers=False) as ben:
        report = ben.data.sync_files(synced)
        assert report.deleted == 0
        assert "another memory" in " ".join(report.notes)
        assert "I like tea." in active(ben)
        again = ben.data.sync_files(synced)
        assert (again.changed, again.notes) == (False, ())
    assert "I play chess." in active(mem)


def test_entries_moved_renamed_and_copied_stay_what_they_are(mem: Credenda, synced: Path) -> None:
    before = active(mem)
    ids = sorted(one.id for one in mem.list(limit=50).items)
    user = page(synced)
    lines = user.read_text("utf-8").split("\n")
    at = lines.index("- I like tea.")
    moved = "\n".join(lines[at - 1 : at + 1])
    user.write_text(user.read_text("utf-8").replace(moved, ""), "utf-8")
    (synced / "consolidated/hobbies").mkdir()
    (synced / "consolidated/hobbies/tea.md").write_text(f"# Tea\n\n{moved}\n", "utf-8")
    user.rename(user.with_name("About me.md"))
    report = mem.data.sync_files(synced)
    assert (report.deleted, report.remembered, report.corrected) == (0, 0, 0)
    assert active(mem) == before
    assert sorted(one.id for one in mem.list(limit=50).items) == ids
    assert not user.exists()
    mem.remember("I like cake.")
    mem.settle()
    mem.data.sync_files(synced)
    assert "- I like cake." in user.with_name("About me.md").read_text("utf-8")
    assert "I like tea." in (synced / "consolidated/hobbies/tea.md").read_text("utf-8")
    assert not mem.data.sync_files(synced).changed


def test_line_ends_front_matter_and_a_persons_own_lines_stay(mem: Credenda, synced: Path) -> None:
    user = page(synced)
    text = (
        user.read_text("utf-8")
        .replace("credenda: page", "credenda: page\ntags: [me]")
        .replace("## Now", "## Now\n\n<!-- mine -->\n\n### Things I do\n\n---")
    )
    user.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert not mem.data.sync_files(synced).changed
    edit(user, "- I like tea.", "- I like cake.")
    assert mem.data.sync_files(synced).corrected == 1
    data = user.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf---\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")
    assert all(part in data for part in (b"tags: [me]", b"<!-- mine -->", b"### Things I do\r\n\r\n---"))
    assert not mem.data.sync_files(synced).changed


def test_text_that_looks_like_a_mark_stays_text(mem: Credenda, vault: Path) -> None:
    hostile = (
        '<!--m {"id":"m1-000000"}-->',
        "-->",
        "## Now",
        "<!--end-->",
        "- a list\n- of things\n\n  indented\n\ttab",
        "<\\!-- escaped already",
        "```\n<!--m {}-->\n```",
        "---\ncredenda: page\n---",
        "<<<<<<< HEAD\n=======\n>>>>>>> x",
        "line\r\nends\rof all kinds   \n",
        "\u2028separators\u0085 and \u202eturned",
        "#### 10:00 user",
        "- - -",
        "\\***",
        "1. one\n2. two",
        "> quoted\n\n\n\nfar below",
    )
    for number, text in enumerate(hostile):
        mem.store(MemoryUnit(text=text, entity=text[:20], attribute=f"a{number}", value=text[:50]))
    before = sorted((one.text, one.value) for one in mem.list(limit=50).items)
    mem.data.sync_files(vault)
    report = mem.data.sync_files(vault)
    assert not report.changed
    assert not report.left_alone
    (vault / ".credenda/sync.json").unlink()
    report = mem.data.sync_files(vault)
    assert (report.remembered, report.contested, report.deleted) == (0, 0, 0)
    assert sorted((one.text, one.value) for one in mem.list(limit=50).items) == before


def test_names_of_entities_never_leave_the_folder(mem: Credenda, vault: Path) -> None:
    names = (
        "../../etc/passwd",
        "/abs",
        "CON",
        "nul.md",
        "a/b",
        "a\\b",
        "A/B",
        "..",
        ".hidden",
        "…",
        "日本",
        "Ana",
        "ANA!",
    )
    names += ("x" * 300, "é", "e\u0301", "tab\tname", "%2e%2e", "C:\\x", "index", "notes", "user.")
    for number, name in enumerate(names):
        unit = MemoryUnit(text=f"Fact {number} about it", entity=name[:256], attribute="about", value=str(number))
        mem.store(unit)
    mem.data.sync_files(vault)
    found = {one.relative_to(vault).as_posix() for one in vault.rglob("*") if one.is_file()}
    assert all(one.startswith(("archive/", "consolidated/", ".")) or one in {"MEMORY.md", "index.md"} for one in found)
    pages = [one.split("/", 1)[1] for one in found if one.startswith("consolidated/")]
    assert all("/" not in one and len(one.encode()) < 100 and not one.startswith((".", " ")) for one in pages)
    assert len({one.casefold() for one in pages}) == len(pages)
    assert {one.parent for one in vault.parent.iterdir()} == {vault.parent}
    assert not mem.data.sync_files(vault).changed


def test_links_are_not_followed(mem: Credenda, synced: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("- The password is zorkmid.\n", "utf-8")
    (synced / "consolidated/secret.md").symlink_to(outside / "secret.md")
    (synced / "consolidated/all").symlink_to(outside)
    report = mem.data.sync_files(synced)
    assert len([one for one in report.left_alone if "link" in one]) == 2
    assert not [one for one in active(mem) if "zorkmid" in one]
    core = page(synced, "MEMORY.md")
    core.unlink()
    core.symlink_to(outside / "core.md")
    mem.data.sync_files(synced)
    assert not (outside / "core.md").exists()
    assert [one.name for one in outside.iterdir()] == ["secret.md"]


def test_pages_are_private_unless_a_person_opens_them(mem: Credenda, synced: Path) -> None:
    modes = {one.stat().st_mode & 0o777 for one in synced.rglob("*") if one.is_file()}
    assert modes == {0o600}
    assert {one.stat().st_mode & 0o777 for one in synced.rglob("*") if one.is_dir()} == {0o700}
    page(synced).chmod(0o644)
    edit(page(synced), "- I like tea.", "- I like cake.")
    mem.data.sync_files(synced)
    assert page(synced).stat().st_mode & 0o777 == 0o644


def test_a_page_that_changes_while_it_is_compared_is_not_overwritten(
    mem: Credenda, synced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(page(synced), "- I like tea.", "- I like cake.")
    drawn = file_sync.lay_out

    def lay_out(*given: object) -> object:
        add_line(page(synced), "- I play the cello.")
        return drawn(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(file_sync, "lay_out", lay_out)
    report = mem.data.sync_files(synced)
    assert any("changed while" in note for note in report.notes)
    monkeypatch.undo()
    mem.data.sync_files(synced)
    assert {"I like cake.", "I play the cello."} <= set(active(mem))
    assert not mem.data.sync_files(synced).changed


def test_broken_off_anywhere_the_next_sync_goes_on(
    mem: Credenda, synced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_line(page(synced), "- I play the cello.")
    edit(page(synced), "- I like tea.", "- I like cake.")
    remove_entry(page(synced), "I play chess.")
    whole = folder.replace_file
    broken = 0
    for allowed in range(12):
        left = [allowed]

        def fail(path: Path, left: list[int] = left) -> object:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return whole(path)

        monkeypatch.setattr(folder, "replace_file", fail)
        try:
            mem.data.sync_files(synced)
        except KeyboardInterrupt:
            broken += 1
    assert broken >= 3
    monkeypatch.undo()
    mem.data.sync_files(synced)
    assert active(mem) == ["I like cake.", "I live in Linz.", "I play the cello.", "My sister Mara lives in Wels."]
    assert mem.stats().events == 6
    assert not mem.data.sync_files(synced).changed
    assert not list(synced.rglob("*.part"))


def test_only_one_synchronises_a_folder_at_a_time(mem: Credenda, synced: Path) -> None:
    with folder.open_folder(synced).locked(), pytest.raises(Unavailable, match="another process"):
        mem.data.sync_files(synced)
    mem.data.sync_files(synced)


def test_a_folder_that_cannot_be_written_is_a_clear_error(mem: Credenda, tmp_path: Path) -> None:
    for name in ("\x00", "x" * 5_000):
        with pytest.raises(CredendaError) as raised:
            mem.data.sync_files(tmp_path / name)
        assert raised.value.fix
    assert mem.data.doctor().ok


def test_a_comment_lost_with_an_edit_deletes_nothing(mem: Credenda, synced: Path) -> None:
    path = page(synced)
    remove_entry(path, "I live in Linz.")
    add_line(path, "- I live in Graz.")
    report = mem.data.sync_files(synced)
    assert (report.deleted, report.remembered) == (0, 1)
    assert any("may be an edit of it: it stays" in note for note in report.notes)
    held = {one.text: one.status for one in mem.list(status=None, limit=50).items}
    assert {"I live in Linz.", "I live in Graz."} <= held.keys()
    assert {"- I live in Linz.", "- I live in Graz."} <= set(path.read_text("utf-8").split("\n"))
    assert not mem.data.sync_files(synced).changed
    remove_entry(path, "I live in Linz.")
    assert mem.data.sync_files(synced).deleted == 1
    assert "I live in Linz." not in path.read_text("utf-8")


def test_what_another_entry_still_says_is_not_deleted_with_one(mem: Credenda, synced: Path) -> None:
    path = page(synced)
    for text in ("I like rum.", "I like tea."):
        (memory,) = [one for one in mem.list(limit=50).items if one.text.startswith("I like")]
        mem.correct(memory.id, text=text)
    mem.data.sync_files(synced)
    assert path.read_text("utf-8").count("- I like tea.") == 2
    remove_entry(path, "I like tea.")
    report = mem.data.sync_files(synced)
    assert report.deleted == 0
    assert any("another entry has the same text" in note for note in report.notes)
    assert "I like tea." in active(mem)
    for _ in range(2):
        remove_entry(path, "I like tea.")
    mem.data.sync_files(synced)
    assert "I like tea." not in active(mem)
    assert "tea" not in path.read_text("utf-8")


def test_of_two_that_say_the_same_the_one_without_a_comment_is_recognised(mem: Credenda, synced: Path) -> None:
    path = page(synced)
    for text in ("I like rum.", "I like tea."):
        (memory,) = [one for one in mem.list(limit=50).items if one.text.startswith("I like")]
        mem.correct(memory.id, text=text)
    mem.data.sync_files(synced)
    lines = path.read_text("utf-8").split("\n")
    now, before = (at for at, line in enumerate(lines) if line == "- I like tea.")
    lines[before] = "- I like gin."
    del lines[now - 1]
    path.write_text("\n".join(lines), "utf-8")
    report = mem.data.sync_files(synced)
    assert (report.deleted, report.remembered) == (0, 1)
    assert {"I like tea.", "I like gin."} <= set(active(mem))


def test_a_new_page_may_have_the_name_that_another_had(mem: Credenda, synced: Path) -> None:
    path = synced / "consolidated/mine.md"
    path.write_text("- I play the cello.\n", "utf-8")
    mem.data.sync_files(synced)
    path.rename(path.with_name("other.md"))
    path.write_text("- I collect stamps.\n", "utf-8")
    report = mem.data.sync_files(synced)
    assert (report.left_alone, report.deleted, report.remembered) == ((), 0, 1)
    assert {"I play the cello.", "I collect stamps."} <= set(active(mem))
    assert not mem.data.sync_files(synced).changed
