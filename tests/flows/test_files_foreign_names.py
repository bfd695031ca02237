"""Names that Credenda needs and that files of others have: those files stay, whatever there is of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.portability.files.folder import open_folder
from credenda.portability.files.next_state import read_tombstones

from .foreign_folders import put, sync, take_picture
from .test_files import active

Say = Callable[..., None]
HASHED = {"created_us": 1, "digest": "ab" * 32, "key": "cd" * 16, "kind": "text", "normaliser": 1}
"""A line as another memory that shares the folder writes it."""


def delete(mem: Credenda, words: str) -> None:
    mem.delete(next(one.id for one in mem.list(limit=50).items if words in one.text))


@pytest.mark.requirement("S-060", "S-061")
@pytest.mark.parametrize(
    "theirs",
    ['{"text": "User likes oolong tea."}\n', "", "not json\n", '{"key": "oolong", "entry": "tea"}\n', "[1]\n"],
)
def test_tombstones_of_theirs_stay_under_both_names(mem: Credenda, say: Say, tmp_path: Path, theirs: str) -> None:
    place = tmp_path / "theirs"
    put(place, ".tombstones.jsonl", '{"fact": "user likes mint tea"}\n')
    put(place, ".tombstones-credenda.jsonl", theirs)
    say("I like figs.", "I play chess.")
    before = take_picture(place)
    sync(mem, place)
    delete(mem, "figs")
    report = sync(mem, place)
    now = take_picture(place)
    assert {name: now[name] for name in before} == before
    (name,) = {name for name in now if name.startswith(".tombstones")} - before.keys()
    assert [note for note in report.notes if note.endswith(f"the hashes of deletions are in {name}")]
    assert "figs" not in (place / name).read_text()
    for one in before:
        (place / one).unlink()
    sync(mem, place)
    (last,) = place.glob(".tombstones*")
    assert last.name == ".tombstones.jsonl"
    assert read_tombstones(open_folder(place), b"other")[1] > 0


def test_tombstones_of_a_memory_that_shares_the_folder_are_joined(mem: Credenda, say: Say, tmp_path: Path) -> None:
    place = tmp_path / "vault"
    line = json.dumps(HASHED, sort_keys=True)
    put(place, ".tombstones.jsonl", f"<<<<<<< a\n{line}\n>>>>>>> b\n")
    say("I like figs.", "I play chess.")
    sync(mem, place)
    delete(mem, "figs")
    sync(mem, place)
    assert line in (place / ".tombstones.jsonl").read_text()
    assert [path.name for path in place.glob(".tombstones*")] == [".tombstones.jsonl"]


@pytest.mark.parametrize("name", [".tombstones.jsonl", ".tombstones-credenda.jsonl"])
def test_tombstones_that_cannot_be_read_stay(mem: Credenda, say: Say, tmp_path: Path, name: str) -> None:
    place = tmp_path / "theirs"
    put(place, ".tombstones.jsonl", "mine\n")
    (place / name).unlink(missing_ok=True)
    (place / name).symlink_to(put(tmp_path, "elsewhere", '{"text": "x"}\n'))
    before = list(place.glob(".tombstones*"))
    say("I like figs.", "I play chess.")
    sync(mem, place)
    delete(mem, "figs")
    sync(mem, place)
    assert (place / name).is_symlink()
    assert (tmp_path / "elsewhere").read_text() == '{"text": "x"}\n'
    assert len(list(place.glob(".tombstones*"))) > len(before)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_pages_of_theirs_stay_under_every_name(mem: Credenda, say: Say, tmp_path: Path, depth: int) -> None:
    place = tmp_path / "theirs"
    ends = ["-credenda" * count for count in range(depth)]
    for end in ends:
        for stem in ("MEMORY", "index", "archive/2026-03-01"):
            put(place, f"{stem}{end}.md", f"# Mine{end}\n\n")
    say("I like rye bread.", "Always answer in German.", days=0)
    before = take_picture(place)
    report = sync(mem, place)
    end = "-credenda" * depth
    assert {f"MEMORY{end}.md", f"index{end}.md", f"archive/2026-03-01{end}.md"} <= set(report.written)
    assert not report.notes
    for _ in range(2):
        now = take_picture(place)
        assert {name: now[name] for name in before} == before
        again = sync(mem, place)
        assert not again.changed
        assert not again.notes
    core = place / f"MEMORY{end}.md"
    core.write_text(core.read_text().replace("- Always answer in German.", "- Always answer in French."))
    assert sync(mem, place).corrected == 1
    assert "Always answer in French." in active(mem)
    assert f"[[MEMORY{end}|Always on]]" in (place / f"index{end}.md").read_text()
