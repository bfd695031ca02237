"""A synchronisation deletes only entries that a person removed from a page that was read completely."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from credenda import Credenda, NotFound, Unavailable
from credenda.portability.files import folder
from credenda.testing import ManualClock

from .test_files import active, add_line, page, remove_entry, snapshot

Say = Callable[..., None]
Damage = Callable[[Path, int], object]
FACTS = ("Always answer in German.", "I live in Linz.", "I like tea.", "Ich mag Käse.", "My sister Mara lives in Wels.")


@pytest.fixture
def synced(mem: Credenda, say: Say, vault: Path) -> Path:
    say(*FACTS)
    mem.data.sync_files(vault)
    return vault


def link(target: Path, _: int) -> None:
    target.rename(target.parent.parent / "real.md")
    target.symlink_to(target.parent.parent / "real.md")


def dangle(target: Path, _: int) -> None:
    target.unlink()
    target.symlink_to(target.parent / "nowhere")


def make_folder(target: Path, _: int) -> None:
    target.unlink()
    target.mkdir()


def make_pipe(target: Path, _: int) -> None:
    target.unlink()
    os.mkfifo(target)


def zero_fill(target: Path, at: int) -> None:
    data = target.read_bytes()
    start = at % len(data)
    target.write_bytes(data[:start] + b"\0" * len(data[start:]))


def cut(target: Path, at: int) -> None:
    data = target.read_bytes()
    target.write_bytes(data[: at % len(data)])


def cut_beginning(target: Path, at: int) -> None:
    data = target.read_bytes()
    target.write_bytes(data[at % len(data) :])


def conflict(target: Path, at: int) -> None:
    lines = target.read_bytes().split(b"\n")
    start = at % len(lines)
    lines[start : start + 3] = [(b"<" * 7 + b" HEAD", b"|" * 7 + b" base", b">" * 7 + b" theirs")[at % 3]]
    target.write_bytes(b"\n".join(lines))


def cover(target: Path, _: int) -> None:
    others = [one for one in target.parent.glob("*.md") if one != target and one.is_file()]
    target.write_bytes(others[0].read_bytes() if others else b"# Other\n\n- I own a boat.\n\n<!--end-->\n")


DAMAGES: dict[str, Damage] = {
    "linked": link,
    "a dangling link": dangle,
    "a folder": make_folder,
    "a pipe": make_pipe,
    "UTF-16": lambda target, _: target.write_text(target.read_bytes().decode("utf-8", "ignore"), "utf-16"),
    "code page": lambda target, _: target.write_bytes("Käse\n".encode("latin-1") + target.read_bytes()[:400]),
    "zero-filled": zero_fill,
    "cut off": cut,
    "beheaded": cut_beginning,
    "empty": lambda target, _: target.write_bytes(b""),
    "white": lambda target, at: target.write_bytes(b" \n\t\r\n" * (at % 50)),
    "in conflict": conflict,
    "another page": cover,
    "gone": lambda target, _: target.unlink(),
    "renamed as a conflict copy": lambda target, _: (
        target.rename(target.with_name(f"{target.stem} (Ana's conflicted copy 2026-03-01).md")) and None
    ),
}


def test_entries_on_a_damaged_page_are_neither_deleted_nor_forbidden(mem: Credenda, synced: Path) -> None:
    before, stones = active(mem), mem.stats().tombstones
    user = page(synced)
    whole = snapshot(synced)
    for name, damage in DAMAGES.items():
        for at in (0, 60, 400, len(whole["consolidated/user.md"]) - 14):
            damage(user, at)
            report = mem.data.sync_files(synced)
            assert (report.deleted, mem.stats().tombstones) == (0, stones), (name, at)
            assert set(before) <= set(active(mem)), (name, at)
            if user.is_dir() and not user.is_symlink():
                user.rmdir()
            user.unlink(missing_ok=True)
            for copy in user.parent.glob("*conflicted*"):
                copy.unlink()
            user.write_bytes(whole["consolidated/user.md"])
            assert mem.data.sync_files(synced).deleted == 0
    assert set(before) <= set(active(mem))
    assert mem.data.sync_files(synced).waiting == 0


@settings(
    max_examples=12,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    report_multiple_bugs=False,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(DAMAGES)), st.integers(0, 5_000), st.sampled_from([0, 1, 2])),
        min_size=1,
        max_size=4,
    )
)
def test_no_damage_to_pages_ever_deletes(damages: list[tuple[str, int, int]]) -> None:
    """Damage is left in place, so that later rounds meet the pages that earlier rounds left."""
    place = Path(tempfile.mkdtemp())
    try:
        with Credenda.open(place / "m.db", user="ana", clock=ManualClock("2026-03-01T09:00:00Z"), workers=False) as mem:
            for fact in FACTS:
                mem.remember(fact)
            mem.settle()
            mem.data.sync_files(place / "vault")
            held, events = active(mem), mem.stats().events - mem.stats().redacted_events
            for name, at, pick in damages:
                pages = sorted(one for one in (place / "vault").glob("*/*.md") if one.is_file() and one.stat().st_size)
                if pages:
                    target = pages[pick % len(pages)]
                    DAMAGES[name](target.resolve() if name != "gone" else target, at)
                report = mem.data.sync_files(place / "vault")
                assert report.deleted == 0
                assert mem.stats().tombstones == 0
                assert set(held) <= set(active(mem))
                assert mem.stats().events - mem.stats().redacted_events >= events
    finally:
        shutil.rmtree(place)


def test_nothing_in_the_folder_is_deleted_while_any_page_cannot_be_read(mem: Credenda, synced: Path) -> None:
    mara = page(synced, "consolidated/user's sister Mara.md")
    whole = mara.read_bytes()
    mara.write_bytes(b"\xff" + whole)
    remove_entry(page(synced), "I like tea.")
    for missing in ("ask", "delete"):
        report = mem.data.sync_files(synced, missing=missing)
        assert (report.deleted, report.waiting) == (0, 1)
        assert [one for one in report.left_alone if "Mara" in one]
        assert any("could not be read" in note for note in report.notes)
    mara.write_bytes(whole)
    assert mem.data.sync_files(synced).waiting == 1
    report = mem.data.sync_files(synced, missing="delete")
    assert (report.deleted, report.waiting) == (1, 0)
    assert "I like tea." not in active(mem)


def test_an_older_version_of_a_page_deletes_nothing(mem: Credenda, synced: Path, say: Say) -> None:
    """A checkout of another branch, a restored backup, a folder that a service rolled back."""
    old = snapshot(synced)
    say("I play chess.", "I own a cello.")
    mem.data.sync_files(synced)
    for name, data in old.items():
        if name.endswith(".md"):
            (synced / name).write_bytes(data)
    report = mem.data.sync_files(synced)
    assert report.deleted == 0
    assert any("not the version" in note for note in report.notes)
    assert {"I play chess.", "I own a cello."} <= set(active(mem))
    report = mem.data.sync_files(synced, missing="restore")
    assert report.waiting == 0
    assert "- I play chess." in page(synced).read_text("utf-8")


def test_a_third_of_a_page_at_once_waits(mem: Credenda, synced: Path) -> None:
    for fact in ("Ich mag Käse.", "I like tea.", "I live in Linz."):
        remove_entry(page(synced), fact)
    dry = mem.data.sync_files(synced, dry_run=True)
    assert (dry.dry_run, dry.deleted, dry.waiting) == (True, 0, 3)
    assert any(one.startswith("consolidated/user.md: m") and one.endswith(" I like tea.") for one in dry.pending)
    report = mem.data.sync_files(synced)
    assert (report.deleted, report.waiting, report.pending) == (0, 3, dry.pending)
    assert mem.data.sync_files(synced, missing="delete").deleted == 3


def test_a_dry_run_shows_a_deletion_and_changes_nothing(mem: Credenda, synced: Path, tmp_path: Path) -> None:
    remove_entry(page(synced), "I like tea.")
    add_line(page(synced), "- I own a cello.")
    before, held = snapshot(synced), active(mem)
    report = mem.data.sync_files(synced, dry_run=True)
    assert (report.deleted, report.remembered, report.waiting) == (1, 1, 0)
    assert len(report.pending) == 1
    assert report.pending[0].endswith("I like tea.")
    assert (snapshot(synced), active(mem)) == (before, held)
    with pytest.raises(NotFound, match="no folder"):
        mem.data.sync_files(tmp_path / "other", dry_run=True)
    assert not (tmp_path / "other").exists()


def test_an_editor_that_saves_in_steps_deletes_nothing(mem: Credenda, synced: Path) -> None:
    user = page(synced)
    whole = user.read_bytes()
    held = active(mem)
    for step in (None, b"", whole[:300], whole[: len(whole) // 2], whole):
        user.unlink(missing_ok=True)
        if step is not None:
            user.write_bytes(step)
        assert mem.data.sync_files(synced).deleted == 0
    assert active(mem) == held
    assert not mem.data.sync_files(synced).changed
    assert user.read_bytes() == whole


def test_an_emptied_folder_deletes_nothing(mem: Credenda, synced: Path) -> None:
    held = active(mem)
    for one in synced.iterdir():
        if one.name != ".credenda":
            shutil.rmtree(one) if one.is_dir() else one.unlink()
    assert mem.data.sync_files(synced).deleted == 0
    shutil.rmtree(synced)
    assert mem.data.sync_files(synced).deleted == 0
    assert active(mem) == held


def test_a_line_moved_to_a_page_that_then_breaks_is_kept(mem: Credenda, synced: Path) -> None:
    user, mara = page(synced), page(synced, "consolidated/user's sister Mara.md")
    lines = user.read_text("utf-8").split("\n")
    at = lines.index("- I like tea.")
    moved = "\n".join(lines[at - 1 : at + 1])
    before = mara.read_text("utf-8")
    user.write_text(user.read_text("utf-8").replace(moved, ""), "utf-8")
    mara.write_text(before.replace("## Now\n", f"## Now\n\n{moved}\n").replace("\n", "\r\n"), "utf-16")
    assert mem.data.sync_files(synced).deleted == 0
    mara.write_text(before, "utf-8")
    report = mem.data.sync_files(synced)
    assert (report.deleted, report.waiting) == (0, 1)
    assert mem.data.sync_files(synced, missing="restore").waiting == 0
    assert "- I like tea." in user.read_text("utf-8")


def test_a_full_disk_leaves_whole_pages(mem: Credenda, synced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_line(page(synced), "- I own a cello.")
    before = snapshot(synced)

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(Unavailable, match="the disk is full"):
        mem.data.sync_files(synced)
    monkeypatch.undo()
    assert snapshot(synced) == before
    assert mem.data.sync_files(synced).deleted == 0
    assert set(FACTS) | {"I own a cello."} <= {*active(mem)}
    assert not mem.data.sync_files(synced).changed


def test_what_another_machine_deleted_is_deleted_and_what_it_never_had_is_not(
    mem: Credenda, *, synced: Path, tmp_path: Path, clock: ManualClock
) -> None:
    other_vault = tmp_path / "clone"
    shutil.copytree(synced, other_vault, ignore=shutil.ignore_patterns(".credenda"))
    with Credenda.open(tmp_path / "b.db", user="ana", clock=clock, workers=False) as other:
        other.data.sync_files(other_vault)
        old = snapshot(other_vault)
        mem.remember("I play chess.")
        mem.settle()
        mem.data.sync_files(synced)
        for name, data in old.items():  # a branch that never had the new entry, written by the other machine
            if ".credenda" not in name:
                (synced / name).write_bytes(data)
        assert mem.data.sync_files(synced).deleted == 0
        assert "I play chess." in active(mem)
        mem.data.sync_files(synced, missing="restore")
        remove_entry(page(other_vault), "I like tea.")
        assert other.data.sync_files(other_vault).deleted == 1
        for name in ("consolidated/user.md", folder.TOMBSTONES):
            shutil.copy(other_vault / name, synced / name)
        mem.data.sync_files(synced)
        assert "I like tea." not in active(mem)
        assert "I play chess." in active(mem)
