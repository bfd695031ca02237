"""Deleted text, and its placeholders, come back through no field of an imported item."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from credenda import Conflict, Credenda, MemoryUnit, bootstrap
from credenda.model.event import Event
from credenda.storage.store import EventFilter

Say = Callable[..., None]
GONE = "Zorka likes tea."


@pytest.fixture
def deleted(mem: Credenda, say: Say) -> Credenda:
    say(GONE)
    for memory in mem.list(status=None, limit=50).items:
        mem.delete(memory.id)
    while hits := [hit for hit in mem.search("Zorka").hits if "Zorka" in hit.quote]:
        mem.delete(hits[0].id)
    return mem


def events(path: Path) -> list[Event]:
    with closing(bootstrap.open_store(path, read_only=True)) as store, store.reader("ana") as reader:
        return reader.find_events(EventFilter(worded=True))


def texts(mem: Credenda) -> list[str]:
    return [one.text for one in mem.list(status=None, limit=50).items]


@pytest.mark.requirement("S-062")
def test_no_memory_is_a_name_with_a_placeholder(deleted: Credenda, tmp_path: Path, path: Path) -> None:
    old = tmp_path / "old.jsonl"
    lines = (
        {"type": "entity", "name": "Zorka", "entityType": "person", "observations": ["Zorka likes tea.", "Likes tea"]},
        {"type": "entity", "name": "Nurse Zorka", "entityType": "person", "observations": ["Zorka likes tea."]},
        {"type": "relation", "from": "Zorka", "to": "tea", "relationType": "likes"},
    )
    old.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    deleted.data.import_(old)
    deleted.settle()
    assert texts(deleted) == []
    assert all("Zorka" not in repr((one.text, one.metadata, one.tags, one.topic)) for one in events(path))


@pytest.mark.requirement("S-062")
def test_tags_topics_sessions_and_nested_metadata_are_compared_too(deleted: Credenda, path: Path) -> None:
    deleted.remember(
        "I live in Linz.",
        topic="zorka likes tea",
        session="Zorka likes tea",
        tags=["zorka likes tea", "home"],
        metadata={"headings": ["Zorka likes tea.", "Home"], "about": {"title": "Zorka likes tea", "page": 3}},
    )
    deleted.settle()
    (event,) = [one for one in events(path) if "Linz" in one.text]
    assert (event.topic, event.session, event.tags) == (None, "", ("home",))
    assert event.metadata == {"headings": ["Home"], "about": {"page": 3}}
    memory = deleted.store(MemoryUnit(text="I own a cello.", topic="Zorka likes tea", tags=("zorka likes tea", "x")))
    assert (memory.topic, memory.tags) == (None, ("x",))
    with pytest.raises(Conflict, match="deleted"):
        deleted.store(MemoryUnit(text=GONE))


def test_a_placeholder_in_a_file_is_no_text(mem: Credenda, tmp_path: Path, path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text(
        "Ana: [deleted]\n\nI live in Linz. [deleted] I like milk.\n\n\u2588\u2588\u2588 \u2588\u2588\n", "utf-8"
    )
    report = mem.data.import_(note)
    rows = [{"id": "1", "memory": "Ana: [deleted]", "user_id": "ana", "metadata": {"category": "[deleted]", "n": 1}}]
    rows += [{"id": "2", "memory": "I play chess", "user_id": "ana", "metadata": {"was": "\u2588\u2588\u2588", "n": 2}}]
    mem0 = tmp_path / "mem0.json"
    mem0.write_text(json.dumps({"results": rows}), "utf-8")
    mem.data.import_(mem0, "mem0")
    mem.settle()
    assert len([one for one in report.problems if "placeholder" in one]) >= 1
    assert sorted(one.text for one in events(path)) == ["I live in Linz. I like milk.", "I play chess"]
    assert not [one for one in events(path) if "deleted" in repr(one.metadata) or "\u2588" in repr(one.metadata)]
    assert not [one for one in texts(mem) if "deleted" in one or "\u2588" in one]


def test_a_placeholder_on_a_page_is_no_text(mem: Credenda, tmp_path: Path, path: Path) -> None:
    folder = tmp_path / "vault/consolidated"
    folder.mkdir(parents=True)
    (folder / "ana.md").write_text("- Ana: [deleted]\n- \u2588\u2588\u2588\u2588\n- I live in Linz.\n", "utf-8")
    report = mem.data.sync_files(tmp_path / "vault")
    assert report.remembered == 1
    assert len([one for one in report.notes if "placeholder" in one]) == 1
    assert [one.text for one in events(path)] == ["I live in Linz."]


@pytest.mark.parametrize("name", ["markdown", "obsidian", "text", None])
def test_links_in_an_imported_folder_are_named_and_not_followed(
    mem: Credenda, *, tmp_path: Path, path: Path, name: str | None
) -> None:
    outside = tmp_path / "outside"
    (outside / "more").mkdir(parents=True)
    for one in (outside / "secret.md", outside / "more/deep.md", outside / "secret.txt"):
        one.write_text("The vault is in zorkmid street.\n", "utf-8")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "one.md").write_text("I live in [[Linz]].\n", "utf-8")
    (notes / "two.txt").write_text("I live in Linz.\n", "utf-8")
    (notes / "secret.md").symlink_to(outside / "secret.md")
    (notes / "secret.txt").symlink_to(outside / "secret.txt")
    (notes / "more").symlink_to(outside / "more")
    (notes / "loop").symlink_to(notes)
    (notes / "nowhere.md").symlink_to(outside / "missing.md")
    report = mem.data.import_(notes, name)
    mem.settle()
    assert not [one for one in events(path) if "zorkmid" in one.text]
    assert report.turns == 1
    linked = {one.partition(",")[0].partition(":")[0] for one in report.problems if "links are not followed" in one}
    assert linked == {"secret.md", "secret.txt", "more", "loop", "nowhere.md"}
