"""Consolidation at the terminal: what it shows before and after, and what it says when it does not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from .terminal import Terminal


@pytest.fixture
def moved(tmp_path: Path) -> Terminal:
    ana = Terminal(tmp_path)
    ana.remember("I work at Google.", at="2024-01-10")
    ana.remember("I work at Microsoft now.", at="2025-03-03T09:00:00Z")
    return ana


@pytest.mark.requirement("S-093", "S-097", "R-105")
def test_a_dry_run_shows_what_a_run_does(moved: Terminal) -> None:
    refused = moved.text("consolidate")
    assert refused.startswith("Did not run: not due: 1 new memory, and a run needs 20.")
    assert "--force" in refused
    entry = "I work at Microsoft now (currently Microsoft; previously Google)."
    preview = moved.text("consolidate", "--dry-run")
    assert "1 would be consolidated" in preview
    assert f"+ (new)  {entry}" in preview
    assert moved.held()[0]["text"] == "I work at Microsoft now."
    assert "1 were consolidated" in moved.text("consolidate", "--force")
    assert [item["text"] for item in moved.held()] == [entry]
    assert moved.text("consolidate", "--force").startswith("Did not run: nothing to do.")


@pytest.mark.requirement("R-110", "S-054")
def test_its_report_leads_back(moved: Terminal) -> None:
    report = moved.json("consolidate", "--force")
    assert (report["groups_found"], report["memories_consolidated"], report["memories_created"]) == (1, 1, 1)
    assert len(report["created"]) == len(report["deleted_ids"]) == 1
    moved.run("undo", report["changes"][0]["id"])
    assert [item["text"] for item in moved.held()] == ["I work at Microsoft now."]


def test_what_cannot_be_a_threshold_is_refused(moved: Terminal) -> None:
    assert "it must lie between 0 and 1" in moved.error("consolidate", "--similarity-threshold", "7", code=2)
    assert "not a valid float" in moved.error("consolidate", "--similarity-threshold", "near", code=2)
    assert "read only" in moved.error("--read-only", "consolidate", "--force", code=2)
    assert "consolidated" in moved.text("--read-only", "consolidate", "--dry-run")
