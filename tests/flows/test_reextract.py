"""Beliefs derived afresh from what was said: by other rules, and with what persons decided."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.model.claim import Claim, Turn
from credenda.providers.tagger import TaggingReader
from credenda.services.remember import keep
from credenda.testing import ManualClock
from credenda.write.facts.extractor import ReadingExtractor
from credenda.write.intake.validate import Submission

Say = Callable[..., None]


class Better:
    """A reader that keeps no allergy, and spells Linz out."""

    def extract(self, turn: Turn) -> list[Claim]:
        claims: list[Claim] = []
        for claim in ReadingExtractor(TaggingReader()).extract(turn):
            if claim.attribute == "allergy":
                continue
            claims.append(replace(claim, value="Linz on the Danube") if claim.value == "Linz" else claim)
        return claims


def better(path: Path, clock: ManualClock) -> Credenda:
    return Credenda.open(path, user="ana", clock=clock, workers=False, extractor=Better())


def values(mem: Credenda) -> dict[str | None, str]:
    return {memory.value: memory.id for memory in mem.list(limit=50).items}


@pytest.fixture
def told(mem: Credenda, say: Say) -> Credenda:
    say("I live in Linz.", "I'm allergic to peanuts.", "My favourite colour is green.", session="s")
    return mem


@pytest.mark.requirement("C-003", "S-054")
def test_other_rules_change_what_is_held_and_say_so_first(told: Credenda, path: Path, clock: ManualClock) -> None:
    before = values(told)
    with better(path, clock) as mem:
        shown = mem.data.rebuild(reextract=True, dry_run=True)
        assert not shown.applied
        assert values(mem) == before
        assert {(one.what, one.before or one.after) for one in shown.differences} >= {
            ("withdraw", "I'm allergic to peanuts."),
            ("withdraw", "I live in Linz."),
            ("add", "I live in Linz."),
        }
        report = mem.data.rebuild(reextract=True)
        assert report.applied
        assert [one.what for one in report.differences] == [one.what for one in shown.differences]
        assert set(values(mem)) == {"Linz on the Danube", "green"}
        old = mem.get(before["Linz"])
        assert (old.status, old.relation) == ("superseded", "corrected")
        assert old.superseded_by == values(mem)["Linz on the Danube"]
        assert mem.data.rebuild(reextract=True).differences == ()
        assert mem.data.doctor().ok
        assert mem.search("Where do I live?", as_of="2026-03-02").hits[0].quote.endswith("Linz.")


@pytest.mark.requirement("C-003", "S-054")
def test_what_a_person_decided_holds_under_other_rules(told: Credenda, path: Path, clock: ManualClock) -> None:
    before = values(told)
    told.manage.pin(before["peanuts"])
    told.forget(before["Linz"])
    told.correct(before["green"], value="teal")
    with better(path, clock) as mem:
        report = mem.data.rebuild(reextract=True)
        assert report.kept
        assert set(values(mem)) == {"peanuts", "teal"}
        assert mem.get(before["peanuts"]).pinned
        assert not [hit for hit in mem.search("Where do I live?").hits if hit.kind == "memory" and "Linz" in hit.quote]
        assert mem.data.rebuild(reextract=True).differences == ()
        assert mem.data.doctor().ok


@pytest.mark.requirement("C-007", "S-062", "S-099")
def test_what_was_deleted_is_not_derived_again(told: Credenda, path: Path, clock: ManualClock) -> None:
    before = values(told)
    told.delete(before["green"])
    with better(path, clock) as mem:
        assert mem.data.rebuild(reextract=True).applied
        assert set(values(mem)) == {"Linz on the Danube"}
    with Credenda.open(path, user="ana", clock=clock, workers=False) as mem:
        mem.data.rebuild(reextract=True)
        assert "green" not in values(mem)
        assert mem.data.doctor().ok


def test_what_was_kept_word_for_word_is_not_read(mem: Credenda) -> None:
    keep(mem._parts, Submission(content="I live in Graz.", user_id="ana"))  # noqa: SLF001 - only mem0's shape has it
    assert mem.data.rebuild(reextract=True, dry_run=True).differences == ()


@pytest.mark.requirement("R-139")
def test_another_tenant_is_left_alone(told: Credenda, path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ben", clock=clock, workers=False) as ben:
        ben.remember("I live in Linz.")
        ben.settle()
        with better(path, clock) as mem:
            mem.data.rebuild(reextract=True)
        assert list(values(ben)) == ["Linz"]
        assert ben.data.rebuild(dry_run=True).differences == ()
    assert told.data.doctor().ok


DIE = """
import os, signal, sys
import credenda.services.{module} as module
from credenda import Credenda
whole = module.{name}
def half(*given, **named):
    whole(*given, **named)
    print("written", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
module.{name} = half
from tests_better import Better
with Credenda.open(sys.argv[1], user="ana", workers=False, extractor=Better()) as memory:
    memory.data.rebuild(reextract={reextract})
"""


@pytest.mark.requirement("C-003")
@pytest.mark.parametrize(
    ("module", "name", "reextract"), [("rebuild", "repair_rows", False), ("restore_from_files", "apply", True)]
)
def test_killed_before_it_is_whole_it_leaves_what_was(
    told: Credenda, path: Path, tmp_path: Path, *, module: str, name: str, reextract: bool
) -> None:
    """The process dies inside the transaction that puts everything in place, after the last row was written."""
    told.close()
    if not reextract:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE memories SET value = 'Rome' WHERE id = 1")
        connection.close()
    (tmp_path / "tests_better.py").write_text(Path(__file__).read_text("utf-8").partition("def better")[0], "utf-8")
    before = _state(path)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})" + DIE.format(
        module=module, name=name, reextract=reextract
    )
    ended = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.returncode) == ("written\n", -9), ended.stderr
    assert _state(path) == before
    with Credenda.open(path, user="ana", workers=False, extractor=Better()) as mem:
        assert mem.data.rebuild(reextract=reextract).applied
        assert mem.data.rebuild(reextract=reextract).differences == ()
        assert mem.data.doctor().ok


def _state(path: Path) -> list[object]:
    with closing(sqlite3.connect(path)) as connection:
        return [
            connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - our own
            for table in ("memories", "evidence", "changes", "contests")
        ]
