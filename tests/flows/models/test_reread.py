"""Beliefs derived afresh by a model: what it says is kept until all is read, and put in place at once."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, Invalid
from credenda.testing import ManualClock, Question, ScriptedModel

from .build import AWAY, BEES, CLAIM, CUT, Reopen, held, say

HONEY = "She has them full, I saw thirty jars of the honey behind our shed."
JARS: dict[str, object] = {"quote": "thirty jars", "attribute": "jars", "value": "thirty"}


def by_words(question: Question) -> list[dict[str, object]]:
    """Answer as a model that reads all sentences would."""
    words = words_of(question)
    if "Graz" in words:
        return [{"quote": "I live in Graz", "attribute": "residence", "value": "Graz"}]
    return [JARS] if "thirty jars" in words else [CLAIM] if "I counted forty" in words else []


def words_of(question: Question) -> str:
    return str([one["text"] for one in json.loads(question.prompt)["messages"] if "turn" in one])


@pytest.fixture
def told(reopen: Reopen) -> None:
    """Sentences of which the rules alone read one."""
    mem = reopen(llm=None)
    say(mem, "I live in Graz.", BEES, HONEY)
    assert held(mem) == [("residence", "Graz")]
    mem.close()


@pytest.mark.requirement("C-003", "S-054")
@pytest.mark.usefixtures("told")
def test_a_model_reads_everything_anew_and_says_what_differs_first(reopen: Reopen) -> None:
    model = ScriptedModel(by_words)
    mem = reopen(llm=model)
    shown = mem.data.rebuild(reextract=True, model=True, dry_run=True)
    assert {one.after for one in shown.differences if one.what == "add"} >= {BEES, HONEY}
    assert not shown.applied
    assert held(mem) == [("residence", "Graz")]
    asked = len(model.asked)
    report = mem.data.rebuild(reextract=True, model=True)
    assert report.applied
    assert len(model.asked) == asked, "what it said is not asked for twice"
    assert {("hives", "forty"), ("jars", "thirty")} < set(held(mem))
    assert mem.data.doctor().ok
    anew = mem.data.rebuild(reextract=True).differences
    assert {one.what for one in anew} <= {"revise"}, "what the model read stays under the rules"


@pytest.mark.usefixtures("told")
def test_over_the_budget_it_stops_and_goes_on_where_it_stopped(reopen: Reopen, clock: ManualClock) -> None:
    model = ScriptedModel(by_words, tokens=(9_000, 500))
    mem = reopen(llm=model, llm_daily_tokens=10_000)
    first = mem.data.rebuild(reextract=True, model=True)
    assert (first.asked, first.applied) == (1, False)
    assert first.waiting
    assert "budget" in first.why
    assert held(mem) == [("residence", "Graz")]
    runs = 1
    while mem.data.rebuild(reextract=True, model=True).waiting:
        clock.advance(timedelta(days=1))
        runs += 1
        assert runs < 6
    assert {("hives", "forty"), ("jars", "thirty")} < set(held(mem))
    assert len(model.asked) == 3, "each message was asked about once"


@pytest.mark.usefixtures("told")
def test_a_model_that_is_away_leaves_everything_as_it_is(reopen: Reopen) -> None:
    mem = reopen(llm=ScriptedModel([[], AWAY, AWAY, AWAY, AWAY]))
    report = mem.data.rebuild(reextract=True, model=True)
    assert (report.asked, report.waiting, report.applied) == (1, 2, False)
    assert held(mem) == [("residence", "Graz")]


@pytest.mark.usefixtures("told")
def test_a_message_that_it_cannot_read_keeps_what_was_believed_of_it(reopen: Reopen) -> None:
    def answer(question: Question) -> list[dict[str, object]] | Exception:
        return CUT if "Graz" in words_of(question) else by_words(question)

    mem = reopen(llm=ScriptedModel(answer))
    report = mem.data.rebuild(reextract=True, model=True)
    assert (report.unread, report.waiting) == (1, 0)
    assert {("residence", "Graz"), ("hives", "forty"), ("jars", "thirty")} == set(held(mem))


@pytest.mark.requirement("S-062", "S-099")
@pytest.mark.usefixtures("told")
def test_what_was_deleted_leaves_the_answers_too(reopen: Reopen, path: Path) -> None:
    model = ScriptedModel(by_words)
    mem = reopen(llm=model)
    mem.data.rebuild(reextract=True, model=True, dry_run=True)
    assert _kept(path) == 3
    (event,) = [one for one in mem.search("hives honey", kinds=("event",)).hits if one.text == BEES]
    mem.delete(event.id)
    assert _kept(path) == 0
    assert "hives" not in str(mem.data.rebuild(reextract=True, model=True).differences)
    assert held(mem) == [("jars", "thirty"), ("residence", "Graz")]
    mem.close()
    assert b"forty" not in b"".join(one.read_bytes() for one in path.parent.glob(f"{path.name}*"))


@pytest.mark.usefixtures("told")
def test_killed_while_it_asks_it_goes_on_from_there(reopen: Reopen, path: Path) -> None:
    code = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from credenda import Credenda
from credenda.services import llm_extraction as llm_reextract
from credenda.testing import ScriptedModel
llm_reextract._TOGETHER = 1
def answer(question):
    if "forty" in question.prompt.partition('"before"')[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return []
with Credenda.open(sys.argv[1], user="ana", workers=False, llm=ScriptedModel(answer)) as mem:
    mem.data.rebuild(reextract=True, model=True)
"""
    ended = subprocess.run([sys.executable, "-c", code, str(path)], check=False, env=dict(os.environ))
    assert ended.returncode == -9
    assert _kept(path) == 1
    model = ScriptedModel(by_words)
    mem = reopen(llm=model)
    assert held(mem) == [("residence", "Graz")]
    assert mem.data.rebuild(reextract=True, model=True).applied
    assert len(model.asked) == 2


def test_without_a_model_or_without_reading_anew_it_says_so(mem: Credenda, reopen: Reopen) -> None:
    with pytest.raises(Invalid, match="with reextract"):
        mem.data.rebuild(model=True)
    mem.close()
    with pytest.raises(Invalid, match="no LLM"):
        reopen(llm=None).data.rebuild(reextract=True, model=True)


def _kept(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM index_blobs WHERE name LIKE 'reading %'").fetchone()[0])
