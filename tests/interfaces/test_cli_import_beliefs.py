"""`credenda import` of Recall, engram and Suzent: every memory keeps its status, its times and its layer."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.flows.belief_stores import ENGRAM_ROWS, RECALL_ROWS, write_engram, write_recall, write_suzent
from tests.flows.foreign_folders import take_picture

from .terminal import Terminal

STATUSES = ("active", "challenged", "candidate", "superseded", "merged", "invalidated", "archived", "forgotten")


def read_all(ana: Terminal) -> dict[str, dict[str, Any]]:
    """Return every memory by its words, whatever its status."""
    return {one["text"]: one for status in STATUSES for one in ana.held("--status", status)}


def look(one: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(one[name][:10] if name.startswith("valid") and one[name] else one[name] for name in names)


def test_memories_of_recall_keep_status_slot_and_times(ana: Terminal, tmp_path: Path) -> None:
    report = ana.json("import", str(write_recall(tmp_path / "recall.db")))
    assert (report["format"], report["turns"], report["problems"]) == ("recall", 6, [])
    found = read_all(ana)
    times = ("status", "valid_from", "valid_until")
    hooli, initech = found["User works at Hooli"], found["User works at Initech"]
    assert look(hooli, *times, "superseded_by") == ("superseded", "2025-03-01", "2025-07-01", initech["id"])
    assert look(initech, *times) == ("active", "2025-07-01", None)
    assert look(initech, "topic", "source_session", "confidence", "base_importance") == ("work", "s2", 0.9, 0.7)
    assert initech["last_accessed"] == "2025-08-02T10:00:00Z"
    assert look(found["User is fond of rye bread"], *times) == ("merged", "2025-07-05", "2025-08-05")
    assert look(found["Chose SQLite for the tests"], "status", "type", "layer") == ("active", "decision", "procedural")
    history = ana.json("history", "user", "employer")
    assert [(one["value"], one["valid_until"]) for one in history] == [
        ("Hooli", "2025-07-01T08:00:00Z"),
        ("Initech", None),
    ]
    assert ana.values("--attribute", "employer", "--as-of", "2025-05-01") == ["Hooli"]


def test_two_values_that_recall_holds_in_one_slot_are_asked_about(ana: Terminal, tmp_path: Path) -> None:
    ana.run("import", str(write_recall(tmp_path / "recall.db")))
    (contest,) = ana.json("contests")
    assert (contest["attribute"], contest["values"]) == ("residence", ["Bergen", "Oslo"])
    assert {one["status"] for one in ana.held("--attribute", "residence")} == {"active"}


def test_one_user_of_several_is_imported(ana: Terminal, tmp_path: Path) -> None:
    other = {"id": "b1", "user_id": "bo", "text": "Bo sails", "type": "fact", "created_at": "2025-07-05T08:00:00Z"}
    path = write_recall(tmp_path / "recall.db", [*RECALL_ROWS, other])
    report = ana.json("import", str(path))
    assert (report["turns"], report["left_out"]) == (6, {"memories of other users": 1})
    assert "memories of 2 users" in ana.error("import", str(path), code=2, user="cy")


def test_memories_of_engram_keep_layer_type_status_and_reason(ana: Terminal, tmp_path: Path) -> None:
    report = ana.json("import", str(write_engram(tmp_path / "engram.db")))
    assert (report["format"], report["turns"], report["problems"]) == ("engram", 11, [])
    assert report["left_out"] == {"derived texts": 1, "rows of entities": 1}
    found = read_all(ana)
    wanted = {
        "scratch: the build is red": ("working", "narrative", "active"),
        "shipped v3.4 on january 2": ("episodic", "narrative", "active"),
        "the gateway signs its tokens": ("semantic", "fact", "active"),
        "run the linter before a release": ("procedural", "procedure", "active"),
        "the office is in Bergen": ("semantic", "fact", "challenged"),
        "the train leaves on Tuesdays": ("semantic", "fact", "invalidated"),
        "User works at Hooli": ("semantic", "fact", "superseded"),
        "the nightly job is slow": ("episodic", "narrative", "forgotten"),
        "the nightly job takes hours": ("episodic", "narrative", "merged"),
        "The nightly job is slow, for hours": ("semantic", "fact", "active"),
    }
    assert {text: look(one, "layer", "memory_type", "status") for text, one in found.items()} == wanted
    (code,) = ana.held("--layer", "codebase")
    assert look(code, "text", "memory_type") == ("how to roll back", "procedure")
    assert found["shipped v3.4 on january 2"]["pinned"]
    assert found["the gateway signs its tokens"]["base_importance"] == 0.9
    merged = found["the nightly job takes hours"]
    assert look(merged, "valid_from", "valid_until") == ("2026-01-10", "2026-01-11")
    assert merged["superseded_by"] == found["The nightly job is slow, for hours"]["id"]
    assert look(found["User works at Hooli"], "valid_from", "valid_until") == ("2026-01-08", "2026-01-23")
    wrong = ana.json("why", found["the train leaves on Tuesdays"]["id"])
    assert "invalidated in engram: it was cancelled" in str(wrong)


@pytest.mark.requirement("E-011", "E-126")
def test_memories_of_engram_without_a_type_get_that_of_their_metadata(ana: Terminal, tmp_path: Path) -> None:
    rows = (
        ("engram v0.3.0 has 66 MCP tools", "fact", "episodic"),
        ("always run drift_check before deploying", "procedure", "semantic"),
        ("session 2026-04-14: built retrieval profiles", "narrative", "semantic"),
        ("the API uses JWT tokens", "", "semantic"),
        ("always use real DB for integration tests", "", "procedural"),
        ("deployed v2.1 on march 28", "", "episodic"),
    )
    named = [
        {"id": f"t{at}", "content": text, "layer": layer, "metadata": f'{{"type": "{kind}"}}' if kind else "{}"}
        for at, (text, kind, layer) in enumerate(rows)
    ]
    untyped = {"memory_type": None, "created_at": 1_776_000_000, "last_accessed": 1_776_000_000, "chunk_hash": "h"}
    ana.run("import", str(write_engram(tmp_path / "engram.db", [{**untyped, **row} for row in named])))
    of_layer = {"semantic": "fact", "procedural": "procedure", "episodic": "narrative"}
    wanted = {text: (kind or of_layer[layer], layer) for text, kind, layer in rows}
    assert {text: look(one, "memory_type", "layer") for text, one in read_all(ana).items()} == wanted


@pytest.mark.requirement("S-034", "S-035")
def test_entries_and_the_lines_since_the_watermark_are_read_without_deleted_ones(ana: Terminal, tmp_path: Path) -> None:
    folder = write_suzent(tmp_path / "suzent")
    with (folder / "archive/2026-02-09.md").open("a", encoding="utf-8") as day:
        day.write("- User has a parrot called Pip.\n- User likes skiing.\n")
    ana.run("import", str(folder))
    since = {
        text: look(one, "status", "valid_from") for text, one in read_all(ana).items() if one["layer"] != "episodic"
    }
    assert since == {
        "User works at Initech (previously Hooli).": ("active", "2026-02-07"),
        "User lives in Bergen.": ("active", "2026-02-09"),
        "User likes skiing.": ("active", "2026-02-09"),
        "User plays the viola.": ("active", since["User plays the viola."][1]),
    }


def test_a_folder_of_suzent_keeps_its_days_its_watermark_and_its_deletions(ana: Terminal, tmp_path: Path) -> None:
    folder = write_suzent(tmp_path / "suzent")
    before = take_picture(folder)
    report = ana.json("import", str(folder))
    assert take_picture(folder) == before
    assert (report["format"], report["turns"], report["problems"]) == ("suzent", 7, [])
    assert report["left_out"] == {"deleted memories": 1, "lines of the core": 1}
    found = read_all(ana)
    times = ("status", "layer", "valid_from", "valid_until")
    assert look(found["User works at Initech (previously Hooli)."], *times[:3]) == ("active", "semantic", "2026-02-07")
    assert look(found["User works at Hooli."], *times) == ("merged", "episodic", "2026-02-05", "2026-02-08")
    assert look(found["User works at Initech."], *times) == ("merged", "episodic", "2026-02-07", "2026-02-08")
    (home,) = ana.held("--attribute", "residence")
    assert look(home, "value", "status") == ("Bergen", "active")
    assert home["valid_from"] == "2026-02-09T08:15:00Z"
    assert not any("parrot" in text for text in found)
    ana.run("remember", "User has a parrot called Pip.")
    assert not any("parrot" in text for text in read_all(ana))


@pytest.mark.parametrize("above", ["", "./", "backup/suzent/"])
def test_a_zip_of_the_folder_is_read_like_the_folder(ana: Terminal, tmp_path: Path, above: str) -> None:
    folder = write_suzent(tmp_path / "suzent")
    packed = tmp_path / "suzent.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(one for one in folder.rglob("*") if one.is_file()):
            member = zipfile.ZipInfo()
            member.filename = above + path.relative_to(folder).as_posix()  # as another program may write it
            archive.writestr(member, path.read_bytes())
    report = ana.json("import", str(packed))
    assert (report["format"], report["turns"], report["problems"]) == ("suzent", 7, [])
    assert report["left_out"] == {"deleted memories": 1, "lines of the core": 1}
    found = read_all(ana)
    assert look(found["User works at Hooli."], "status", "layer", "valid_until") == ("merged", "episodic", "2026-02-08")
    assert found["User lives in Bergen."]["status"] == "active"
    assert not any("parrot" in text for text in found)
    assert ana.json("import", str(folder))["turns"] == 0
    assert read_all(ana) == found


def test_a_second_import_adds_nothing(ana: Terminal, tmp_path: Path) -> None:
    paths = [write_recall(tmp_path / "recall.db"), write_engram(tmp_path / "engram.db"), write_suzent(tmp_path / "s")]
    for path in paths:
        planned = ana.json("import", str(path), "--dry-run")
        done = ana.json("import", str(path))
        assert {**planned, "dry_run": False} == done
    first = read_all(ana)
    for path in paths:
        again = ana.json("import", str(path))
        assert (again["turns"], again["problems"]) == (0, [])
    assert read_all(ana) == first


def test_what_has_ended_there_since_ends_here(ana: Terminal, tmp_path: Path) -> None:
    rows = {str(one["id"]): one for one in RECALL_ROWS}
    ana.run("import", str(write_recall(tmp_path / "recall.db")))
    ended = {"valid_until": "2025-09-01T00:00:00Z", "superseded_by": "r7"}
    new = {**rows["r2"], "id": "r7", "text": "User works at Acme", "value": "Acme"}
    new |= {"created_at": "2025-09-01T00:00:00Z", "valid_from": "2025-09-01T00:00:00Z"}
    changed = [*(rows | {"r2": {**rows["r2"], **ended}}).values(), new]
    report = ana.json("import", str(write_recall(tmp_path / "recall.db", changed)))
    assert (report["turns"], report["skipped"]) == (1, 6)
    found = read_all(ana)
    assert look(found["User works at Initech"], "status", "valid_until") == ("superseded", "2025-09-01")
    assert ana.values("--attribute", "employer") == ["Acme"]
    forgotten = [{**one, "forgotten": 1} if one["id"] == "g3" else one for one in ENGRAM_ROWS]
    ana.run("import", str(write_engram(tmp_path / "engram.db")))
    ana.run("import", str(write_engram(tmp_path / "engram.db", forgotten)))
    gone = read_all(ana)["the gateway signs its tokens"]
    assert gone["status"] == "forgotten"
    ana.run("restore", gone["id"], "--yes")
    ana.run("import", str(tmp_path / "engram.db"))
    assert read_all(ana)["the gateway signs its tokens"]["status"] == "active"


@pytest.mark.parametrize("status", ["forgotten", "archived"])
def test_a_status_of_engram_that_its_tools_do_not_set_is_kept(ana: Terminal, tmp_path: Path, status: str) -> None:
    rows = [{**one, "status": status} if one["id"] == "g3" else one for one in ENGRAM_ROWS]
    ana.run("import", str(write_engram(tmp_path / "engram.db", rows)))
    assert read_all(ana)["the gateway signs its tokens"]["status"] == status


def test_days_that_were_folded_since_are_history(ana: Terminal, tmp_path: Path) -> None:
    folder = write_suzent(tmp_path / "suzent")
    ana.run("import", str(folder))
    (folder / "consolidated/memory.md").write_text(
        '# Memory\n\n<!--m {"first_seen": "2026-02-05"}-->\nUser works at Initech (previously Hooli).\n\n'
        '<!--m {"first_seen": "2026-02-09"}-->\nUser keeps bees in Bergen.\n',
        "utf-8",
    )
    (folder / ".consolidation_state.json").write_text('{"watermark_date": "2026-02-10"}', "utf-8")
    ana.run("import", str(folder))
    active = [one["text"] for one in ana.held()]
    assert [text for text in active if "Bergen" in text] == ["User keeps bees in Bergen."]
    assert [text for text in active if "Initech" in text] == ["User works at Initech (previously Hooli)."]


def test_a_faint_value_of_recall_is_doubted_and_asks_nothing(ana: Terminal, tmp_path: Path) -> None:
    rows = [
        {"id": f"j{at}", "type": "fact", "entity": "user", "attribute": "job_title", "value": value}
        | {"text": f"User is a {value}", "confidence": sure, "created_at": f"2026-01-1{at}T00:00:00Z"}
        for at, (value, sure) in enumerate((("backend engineer", 0.9), ("doctor", 0.3)))
    ]
    ana.run("import", str(write_recall(tmp_path / "recall.db", rows)))
    assert {one["value"]: one["status"] for one in read_all(ana).values()} == {
        "backend engineer": "active",
        "doctor": "challenged",
    }
    assert ana.json("contests") == []


def test_notes_about_the_user_fill_their_slots(ana: Terminal, tmp_path: Path) -> None:
    texts = ("User is allergic to peanuts.", "User is vegan.", "User is from Porto.")
    rows = [
        {"id": f"n{at}", "type": "fact", "text": text, "created_at": "2026-01-10T00:00:00Z"}
        for at, text in enumerate(texts)
    ]
    ana.run("import", str(write_recall(tmp_path / "recall.db", rows)))
    slots = {text: (one["attribute"], one["value"]) for text, one in read_all(ana).items()}
    assert slots == dict(zip(texts, (("allergy", "peanuts"), ("diet", "vegan"), ("origin", "Porto")), strict=True))


def test_what_the_user_said_here_is_not_replaced(ana: Terminal, tmp_path: Path) -> None:
    ana.remember("I work at Acme.", at="2026-01-01")
    ana.run("import", str(write_recall(tmp_path / "recall.db")))
    assert ana.values("--attribute", "employer") == ["Acme"]
    assert read_all(ana)["User works at Hooli"]["status"] == "superseded"


def test_a_deleted_memory_does_not_come_back(ana: Terminal, tmp_path: Path) -> None:
    path = write_recall(tmp_path / "recall.db")
    ana.run("import", str(path))
    (initech,) = ana.held("--attribute", "employer")
    ana.run("delete", initech["id"], "--yes")
    ana.run("import", str(path))
    assert "User works at Initech" not in read_all(ana)
    other = Terminal(tmp_path / "other")
    (tmp_path / "other").mkdir()
    other.remember("I live in Oslo.")
    other.run("delete", other.an_id("--attribute", "residence"), "--yes")
    assert "deleted" in str(other.json("import", str(path))["problems"])
    assert other.values("--attribute", "residence") == ["Bergen"]


@pytest.mark.parametrize("name", ["recall", "engram"])
def test_a_database_of_another_program_is_refused(ana: Terminal, tmp_path: Path, name: str) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE memories (id TEXT PRIMARY KEY, note TEXT)")
        database.commit()
    assert "cannot detect the format" in ana.error("import", str(path), code=2)
    assert "is not a database of" in ana.error("import", str(path), "--format", name, code=2)
    both = {"recall": write_engram, "engram": write_recall}
    wrong = both[name](tmp_path / "other.db")
    assert "is not a database of" in ana.error("import", str(wrong), "--format", name, code=2)


@pytest.mark.sqlite_file  # the file itself is given
@pytest.mark.parametrize("name", ["recall", "engram"])
def test_a_memory_of_credenda_is_refused(ana: Terminal, tmp_path: Path, name: str) -> None:
    ana.remember("I work at Acme.")
    own = str(tmp_path / "memory.db")
    assert "cannot detect the format" in ana.error("import", own, code=2)
    assert "is not a database of" in ana.error("import", own, "--format", name, code=2)


def test_a_database_that_is_still_open_there_is_read_with_its_log(ana: Terminal, tmp_path: Path) -> None:
    path = write_engram(tmp_path / "mine.db")
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(
            "INSERT INTO memories (id, content, created_at, last_accessed, chunk_hash)"
            " VALUES ('z', 'the log waits', 1, 1, 'z')"
        )
        database.commit()
        report = ana.json("import", str(path))
    assert (report["format"], report["turns"]) == ("engram", 12)


def test_a_malformed_row_is_named_and_the_others_come_over(ana: Terminal, tmp_path: Path) -> None:
    rows = [
        *RECALL_ROWS,
        {"id": "x1", "text": "Likes plums", "type": "fact", "created_at": "some day"},
        {"id": "x2", "text": " ", "type": "fact", "created_at": "2025-07-05T08:00:00Z"},
    ]
    report = ana.json("import", str(write_recall(tmp_path / "recall.db", rows)))
    assert report["turns"] == 6
    assert sorted(report["problems"]) == ["memory x1: its time cannot be read", "memory x2: it has no words"]
