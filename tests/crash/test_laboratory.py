"""Short forms of the attacks of `credenda bench crash`, and proofs that each can fail."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from benchmarks.crash import disk_shim
from benchmarks.crash.deletion import SURFACES, WAYS, run_deletions
from benchmarks.crash.disk_shim import DiskTrace, install_shim, run_bit_flips, run_power_cuts
from benchmarks.crash.faults import Countdown, FailingEmbedder, run_faults
from benchmarks.crash.fuzz import run_fuzz
from benchmarks.crash.processes import run_processes
from credenda import Credenda, Unavailable
from credenda.interfaces.authorization import invoke, use_as_owner
from credenda.operations import OPERATIONS


@pytest.mark.requirement("D-011", "R-052")
def test_no_power_cut_loses_or_halves_an_acknowledged_call() -> None:
    report = run_power_cuts(30, seed=3, note=print)
    assert report.violations == []
    assert report.cases == 30


@pytest.mark.requirement("D-011")
def test_a_disk_that_ignores_flushes_is_caught() -> None:
    report = run_power_cuts(60, seed=3, note=print, honest=False)
    assert any("lost:" in violation for violation in report.violations)


def test_the_shim_sees_every_write_of_the_standard_library(tmp_path: Path) -> None:
    trace = DiskTrace()
    with install_shim(trace):
        connection = sqlite3.connect(tmp_path / "a.db")
        connection.execute("CREATE TABLE one (two)")
        connection.close()
    assert {"create", "write", "sync", "delete"} <= {operation.kind for operation in trace.operations}
    seen = len(trace.operations)
    connection = sqlite3.connect(tmp_path / "b.db")
    connection.execute("CREATE TABLE one (two)")
    connection.close()
    assert len(trace.operations) == seen  # it is taken out again


def test_a_library_that_hides_its_file_layer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_shim, "_SYMBOL", "sqlite3_no_such_function")
    with pytest.raises(Unavailable, match="does not export"):
        disk_shim.find_library()


@pytest.mark.requirement("D-011")
def test_a_failed_operation_gives_a_clear_error_and_loses_nothing() -> None:
    report = run_faults(24, seed=5, note=print, pairs_max=24)
    assert report.violations == []
    assert report.cases == report.counts["struck"]
    assert report.cases >= 12


@pytest.mark.requirement("D-011")
def test_an_embedder_that_fails_leaves_a_search_by_words_and_opens_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    countdown = Countdown(1)
    with Credenda.open(path, user="ana", embedder=FailingEmbedder(countdown), workers=False) as memory:
        memory.remember("I like tea.")
        memory.settle()
        countdown.active = True
        found = memory.search("Which tea do I like?", explain=True)
        assert [hit.quote for hit in found.hits] == ["I like tea."]
        assert (found.trace or {})["engines"] == ("words",)
    with pytest.raises(Unavailable, match="RuntimeError"):
        Credenda.open(path, user="ana", embedder=FailingEmbedder(Countdown(1, active=True)), workers=False)


@pytest.mark.requirement("D-011")
def test_processes_of_several_users_lose_nothing_and_never_meet() -> None:
    report = run_processes(8, seed=1, note=print, processes=4, run_seconds=1.5)
    assert report.violations == []
    assert report.cases >= 8


@pytest.mark.requirement("D-011")
def test_a_flipped_bit_is_reported_or_without_effect() -> None:
    report = run_bit_flips(40, seed=3, note=print)
    assert report.violations == []
    assert report.counts["archive: corrupt error"] == 10


@pytest.mark.requirement("D-011")
@pytest.mark.parametrize("way", ["delete of the event", "erase"])
def test_a_deleted_text_shows_on_no_surface(way: str) -> None:
    def ask_as_a_tool(memory: Credenda, folder: Path) -> object:
        del folder
        with use_as_owner(memory):
            return invoke(memory, OPERATIONS["search"], {"query": "quetzalberries"}, door="mcp").hits

    surfaces = {**SURFACES, "tool of MCP": ask_as_a_tool}
    report = run_deletions(note=print, ways={way: WAYS[way]}, surfaces=surfaces)
    assert report.violations == []
    assert report.cases >= 22


def test_most_surfaces_show_a_text_that_is_not_deleted() -> None:
    report = run_deletions(note=print, ways={"nothing": lambda _: None})
    assert len(report.violations) >= 22


def test_random_arguments_raise_only_our_errors() -> None:
    report = run_fuzz(600, seed=11, note=print)
    assert report.violations == []
    assert report.counts["done"] > 100
    assert report.counts["invalid"] > 50
