"""How much of what is said is held, and what is never held, by the reader that ships: shares of sentences of a kind.

A reader that is trained again reads one sentence better and another one worse, so that no single sentence is promised.
What it must never do is: hold for the user what others say, pretend or deny.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda
from credenda.model.memory import Memory, Stance

SENTENCES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/reading/sentences.jsonl").read_text("utf-8").splitlines()
]


@pytest.fixture(scope="module")
def lost() -> list[str]:
    """The sentences that a search for their words does not find."""
    return []


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory, lost: list[str]) -> dict[str, list[Memory]]:
    """What is believed of each sentence, told by somebody else each."""
    path, found = tmp_path_factory.mktemp("read") / "m.db", dict[str, list[Memory]]()
    for at, line in enumerate(SENTENCES):
        with Credenda.open(path, user=f"person {at}", workers=False) as memory:
            memory.remember(line["text"])
            memory.settle()
            found[line["text"]] = list(memory.list(limit=50).items)
            hits = memory.search(line["text"]).hits
            if not any(hit.text in line["text"] or line["text"] in hit.text for hit in hits):
                lost.append(line["text"])
    return found


def list_kind(kind: str) -> list[dict[str, Any]]:
    return [line for line in SENTENCES if line["kind"] == kind]


def is_right(line: dict[str, Any], held: list[Memory]) -> bool:
    values = [value.casefold() for value in line["values"]]
    return any(
        one.attribute in line["attributes"] and any(value in (one.value or "").casefold() for value in values)
        for one in held
    )


@pytest.mark.parametrize(("kind", "least"), [("plain", 23), ("careless", 12)])
def test_most_sentences_fill_the_right_slot(held: dict[str, list[Memory]], kind: str, least: int) -> None:
    missed = [line["text"] for line in list_kind(kind) if not is_right(line, held[line["text"]])]
    assert len(list_kind(kind)) - len(missed) >= least, missed


def test_what_others_say_pretend_or_suppose_is_no_fact_of_the_user(held: dict[str, list[Memory]]) -> None:
    wrong = {
        line["text"]: [(one.attribute, one.value) for one in held[line["text"]] if is_own(one)]
        for line in list_kind("others")
    }
    assert {text: slots for text, slots in wrong.items() if slots} == {}


def is_own(one: Memory) -> bool:
    return one.entity == "user" and one.attribute is not None and one.stance in {Stance.ASSERTED, Stance.PLANNED}


def test_no_denial_is_turned_round(held: dict[str, list[Memory]]) -> None:
    wrong = {
        line["text"]: (one.attribute, one.value)
        for line in list_kind("denied")
        for one in held[line["text"]]
        if one.stance is Stance.ASSERTED and line["values"][0].casefold() in f"{one.attribute} {one.value}".casefold()
    }
    assert wrong == {}


@pytest.mark.usefixtures("held")
def test_every_sentence_is_found(lost: list[str]) -> None:
    assert lost == []
