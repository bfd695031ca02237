"""Scanning and drift at the terminal."""

from pathlib import Path

import pytest

from credenda import Credenda, MemoryUnit

from .terminal import Terminal


@pytest.fixture
def code(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "till.py").write_text("def ring_up(amount: int) -> bool: ...\n", "utf-8")
    return tmp_path / "shop"


@pytest.mark.requirement("E-005")
def test_a_scan_is_told_and_found_by_its_mode(ana: Terminal, code: Path) -> None:
    assert "new memories  2" in ana.text("scan", str(code))
    assert "unchanged     2" in ana.text("scan", str(code))
    assert "ring_up" in ana.text("search", "ring_up", "--mode", "codebase")
    assert ana.json("list")["items"] == []


@pytest.mark.requirement("E-081", "D-030")
def test_drift_fails_while_an_error_stands(ana: Terminal, code: Path) -> None:
    with Credenda.open(ana.db, user=ana.user, embedder="none", workers=False) as mem:
        mem.store(MemoryUnit(text=f"The till is in {code}/gone.py."))
    shown = ana.text("drift", str(code), code=7)
    assert "Score 90 of 100" in shown
    assert "path-dead" in shown
    assert "would invalidate 1" in shown
    assert "was invalidated" in ana.text("drift", str(code), "--fix")
    assert ana.json("drift", str(code), str(code))["score"] == 100


@pytest.mark.parametrize("command", ["scan", "drift"])
def test_what_is_no_folder_is_refused_in_a_line(ana: Terminal, command: str) -> None:
    for path, code in (("/", 2), ("", 2), ("/nowhere/at/all", 3)):
        assert "folder" in ana.error(command, path, code=code)


@pytest.mark.requirement("E-081")
def test_drift_without_a_folder_looks_where_the_settings_say(
    ana: Terminal, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "drift_roots" in ana.error("drift", code=2)
    monkeypatch.setenv("CREDENDA_DRIFT_ROOTS", str(code))
    assert ana.json("drift")["roots"] == [str(code)]
