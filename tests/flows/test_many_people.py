"""Many people in one memory: who a question names is weighed against those they talk with, and nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from credenda import Credenda

CROWD = ("Kim", "Lou", "Max", "Nia", "Oli", "Pia", "Quin", "Rob", "Sue", "Tim", "Uma", "Vic")


def says(name: str, text: str) -> dict[str, str]:
    return {"role": "person", "name": name, "content": text}


def talked(mem: Credenda, one: str, other: str, *, session: str | None) -> None:
    mem.remember([says(one, f"I painted a sunrise over the lake for {other}.")], session=session)
    mem.remember([says(other, "That is kind, the lake is lovely at that hour.")], session=session)
    mem.remember([says(other, "We should have lunch by the water some day.")], session=session)


@pytest.mark.parametrize("session", ["a", None])
def test_what_others_said_elsewhere_speaks_against_no_answer(tmp_path: Path, session: str | None) -> None:
    question = "What sunrise did Ana paint for her exhibition at the lake house?"
    better = "The exhibition at the lake house: what a sunrise, paint everywhere in the exhibition house."
    with Credenda.open(tmp_path / "m.db", user="u", embedder="none", workers=False) as mem:
        talked(mem, "Ana", "Ben", session=session)
        mem.settle()
        alone = answerable(mem, question)
        for place, name in enumerate(CROWD):
            for day in range(8):
                mem.remember([says(name, f"Day {day}. {better}")], session=f"crowd {place}")
        mem.settle()
        crowded = answerable(mem, question)
        assert "I painted a sunrise" in mem.search(question).hits[0].quote
    assert alone > 0.95
    assert crowded > 0.95


def answerable(mem: Credenda, question: str) -> float:
    """Say how likely memory holds an answer, as a search tells it."""
    return float(str(mem.search(question).trace["answerable"]))


def test_what_their_partner_said_still_does(tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "m.db", user="u", embedder="none", workers=False) as mem:
        for day in range(6):
            mem.remember([says("Ana", f"The weather was fine on day {day}, I slept well.")], session="a")
            mem.remember([says("Ben", "I adopted a puppy from the shelter, the puppy is named Toby.")], session="a")
        mem.settle()
        theirs = answerable(mem, "What is the puppy called that Ben adopted from the shelter?")
        wrong = answerable(mem, "What is the puppy called that Ana adopted from the shelter?")
    assert wrong < theirs / 2
