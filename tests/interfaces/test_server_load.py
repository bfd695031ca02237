"""The benchmark of a server under load, in short: no error beyond declared limits, and a kill loses nothing."""

from __future__ import annotations

from benchmarks.serve import run_serve


def test_a_loaded_server_meets_its_limits_alone_and_a_kill_loses_nothing() -> None:
    notes: list[str] = []
    document = run_serve(4, 1.5, users=2, pace=3.0, embedder="none", note=notes.append, kill_seconds=2.0)
    assert document["errors"] == {}
    assert set(document["http"]) == {"search (REST)", "store (MCP)", "store (REST)"}
    assert set(document["ratios"]) == {"store (MCP)", "store (REST)"}
    assert document["kill"]["acknowledged"] > 0
    assert (document["kill"]["lost"], document["kill"]["doctor_ok"]) == (0, True)
    assert document["kept"]
    assert document["rss_mb"]["round 3"] < document["rss_mb"]["start"] + 100
