"""A list that is imported again from the same path is a new state: what left it has ended, what is back holds again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.model.change import Actor, ChangeKind

LINES = ("Lives in Lisbon", "Is allergic to peanuts", "Jonas works at Nordlicht")


def give(mem: Credenda, folder: Path, *lines: str, name: str = "list.txt", dry_run: bool = False) -> int:
    """Import a list, and return the number of memories that it ended."""
    path = folder / name
    path.write_text("".join(f"- {line}\n" for line in lines), "utf-8")
    report = mem.data.import_(path, format="memories", dry_run=dry_run)
    mem.settle()
    return report.ended


def values(mem: Credenda) -> set[str | None]:
    return {one.value for one in mem.list().items}


def test_what_left_a_list_has_ended_and_nothing_else(mem: Credenda, tmp_path: Path) -> None:
    give(mem, tmp_path, *LINES[:2])
    assert values(mem) == {"Lisbon", "peanuts"}
    assert give(mem, tmp_path, LINES[0], dry_run=True) == 0
    assert give(mem, tmp_path, LINES[0]) == 1
    assert values(mem) == {"Lisbon"}
    (ended,) = mem.history(entity="user", attribute="allergy")
    (*_, last) = mem.why(ended.memory_id).changes
    assert (last.kind, last.actor, last.reason) == (
        ChangeKind.SUPERSEDE,
        Actor.FILE,
        "its file does not say it any more",
    )


def test_a_line_that_is_back_holds_again(mem: Credenda, tmp_path: Path) -> None:
    for lines in (LINES[:2], LINES[:1], LINES[:2]):
        give(mem, tmp_path, *lines)
    assert values(mem) == {"Lisbon", "peanuts"}
    assert give(mem, tmp_path, *LINES[:2]) == 0
    assert values(mem) == {"Lisbon", "peanuts"}


def test_a_line_that_is_back_ends_nothing_that_was_said_since(mem: Credenda, tmp_path: Path) -> None:
    for lines in (LINES[:2], LINES[1:2]):
        give(mem, tmp_path, *lines)
    mem.remember("I live in Porto.")
    mem.settle()
    give(mem, tmp_path, *LINES[:2])
    assert values(mem) == {"Porto", "peanuts"}


def test_a_line_that_is_written_otherwise_is_the_same_line(path: Path, tmp_path: Path) -> None:
    """The stored words depend on the user's name; the line does not."""
    with Credenda.open(path, user="jonas", workers=False) as mem:
        give(mem, tmp_path, *LINES)
        held = values(mem)
        written = tmp_path / "list.txt"
        text = written.read_text("utf-8").replace("- Lives", "* **Lives**").replace("- Is", "1. Is")
        written.write_text(text, "utf-8")
        report = mem.data.import_(written, format="memories")
        mem.settle()
    assert (report.turns, report.skipped, report.ended) == (0, 3, 0)
    assert held >= {"Lisbon", "peanuts"}


def test_a_deleted_line_does_not_come_back_in_whatever_wording(mem: Credenda, tmp_path: Path) -> None:
    give(mem, tmp_path, *LINES[:2])
    (allergy,) = mem.list(attribute="allergy").items
    mem.delete(allergy.id)
    for line in ("**Is allergic** to peanuts", "[2026-03-01] - Is allergic to peanuts", "User is allergic to peanuts."):
        assert give(mem, tmp_path, LINES[0], line) == 0
        assert values(mem) == {"Lisbon"}
    give(mem, tmp_path, LINES[0])
    give(mem, tmp_path, *LINES[:2])
    assert values(mem) == {"Lisbon"}


def test_what_was_pinned_or_said_stays(mem: Credenda, tmp_path: Path) -> None:
    give(mem, tmp_path, *LINES[:2])
    (home,) = mem.list(attribute="residence").items
    mem.manage.pin(home.id)
    mem.remember("I am allergic to peanuts.")
    mem.settle()
    assert give(mem, tmp_path, "Likes tea") == 0
    assert values(mem) >= {"Lisbon", "peanuts"}


def test_another_list_is_another_state(mem: Credenda, tmp_path: Path) -> None:
    give(mem, tmp_path, *LINES[:2])
    assert give(mem, tmp_path, "Likes tea", name="other.txt") == 0
    assert values(mem) >= {"Lisbon", "peanuts"}


@pytest.mark.parametrize("damage", ["", "{nonsense\n"])
def test_what_left_a_graph_has_ended_unless_it_is_damaged(mem: Credenda, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "memory.jsonl"
    for kept in (["lives in Ghent", "likes tea"], ["lives in Ghent"]):
        line = {"type": "entity", "name": "default_user", "entityType": "person", "observations": kept}
        path.write_text(json.dumps(line) + "\n" + (damage if len(kept) == 1 else ""), "utf-8")
        report = mem.data.import_(path)
        mem.settle()
    assert report.format == "mcp-memory"
    assert report.ended == (0 if damage else 1)
    held = " ".join(one.text for one in mem.list().items)
    assert "Ghent" in held
    assert ("tea" in held) == bool(damage)
