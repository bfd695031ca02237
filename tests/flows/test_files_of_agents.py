"""A memory folder that an agent writes: what it removes in silence comes back, and its lines are its own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from credenda import Credenda


@pytest.fixture
def folder(mem: Credenda, tmp_path: Path) -> Path:
    mem.remember("I moved to Graz in May. I'm allergic to peanuts. I use Neovim as my editor.")
    mem.settle()
    place = tmp_path / "projects" / "p" / "memory"
    mem.data.sync_files(place, by_agent=True)
    return place


def find_page(folder: Path, word: str) -> Path:
    return next(path for path in sorted((folder / "consolidated").glob("*.md")) if word in path.read_text())


def test_a_silent_deletion_is_a_change_that_undo_takes_back(mem: Credenda, folder: Path) -> None:
    page = find_page(folder, "Graz")
    text = page.read_text()
    (line,) = [line for line in text.splitlines() if line.startswith("- ") and "Graz" in line]
    page.write_text(text.replace(f"{line}\n", ""))
    report = mem.data.sync_files(folder, by_agent=True)
    assert any("removed by the agent" in note for note in report.notes)
    (gone,) = mem.list(status="forgotten").items
    assert gone.value == "Graz"
    change = next(one for one in mem.why(gone.id).changes if one.kind == "forget")
    assert change.reason == "removed from its folder by an agent"
    mem.manage.undo(change.id)
    assert [one.value for one in mem.list(attribute="residence").items] == ["Graz"]
    mem.data.sync_files(folder, by_agent=True)
    assert "Graz" in find_page(folder, "Graz").read_text()


def test_a_line_of_the_agent_is_trusted_as_an_agents(mem: Credenda, folder: Path) -> None:
    page = find_page(folder, "Graz")
    page.write_text(page.read_text().replace("## Now\n", "## Now\n\n- I work at Initech.\n", 1))
    mem.data.sync_files(folder, by_agent=True)
    (job,) = mem.list(attribute="employer").items
    assert job.value == "Initech"
    assert job.trust == 0.7


def test_a_rewritten_entry_replaces_nothing(mem: Credenda, folder: Path) -> None:
    page = find_page(folder, "Neovim")
    page.write_text(page.read_text().replace("I use Neovim as my editor.", "Often mentions an editor such as Neovim."))
    mem.data.sync_files(folder, by_agent=True)
    assert [one.value for one in mem.list(attribute="editor").items] == ["Neovim"]
    assert mem.list(status="superseded").items == ()


def test_a_second_round_changes_nothing(mem: Credenda, folder: Path) -> None:
    mem.data.sync_files(folder, by_agent=True)
    before = {path: path.read_bytes() for path in folder.rglob("*.md")}
    mem.data.sync_files(folder, by_agent=True)
    assert {path: path.read_bytes() for path in folder.rglob("*.md")} == before
