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

Line = dict[str, Any]
Held = dict[str, list[Memory]]

SENTENCES: list[Line] = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/reading/sentences.jsonl").read_text("utf-8").splitlines()
]
"""A line a slot that a sentence fills; `before` was said first, and `former` is what it no longer is."""


@pytest.fixture(scope="module")
def lost() -> list[str]:
    """The sentences that a search for their words does not find."""
    return []


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory, lost: list[str]) -> Held:
    """What is believed after each sentence, told by somebody else each; and before it, under the first sentence."""
    path, found = tmp_path_factory.mktemp("read") / "m.db", Held()
    for at, line in enumerate(SENTENCES):
        if key(line) in found:
            continue
        with Credenda.open(path, user=f"person {at}", workers=False) as memory:
            for text in filter(None, (line.get("before"), line["text"])):
                memory.remember(text)
                memory.settle()
                found[text if text != line["text"] else key(line)] = list(memory.list(limit=50).items)
            hits = memory.search(line["text"]).hits
            if not any(hit.quote in line["text"] or line["text"] in hit.quote for hit in hits):
                lost.append(line["text"])
    return found


def key(line: Line) -> str:
    return "\n".join(filter(None, (line.get("before"), line["text"])))


def list_kind(kind: str) -> list[Line]:
    return [line for line in SENTENCES if line["kind"] == kind]


def has_value(one: Memory, values: list[str]) -> bool:
    return any(value.casefold() in (one.value or "").casefold() for value in values)


def is_right(line: Line, held: list[Memory]) -> bool:
    return any(one.attribute in line["attributes"] and has_value(one, line["values"]) for one in held)


def is_asserted(one: Memory) -> bool:
    return one.attribute is not None and one.stance in {Stance.ASSERTED, Stance.PLANNED}


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(("kind", "least"), [("plain", 23), ("careless", 12), ("introduction", 16), ("list", 13)])
def test_most_sentences_fill_the_right_slot(held: Held, kind: str, least: int) -> None:
    missed = [line["text"] for line in list_kind(kind) if not is_right(line, held[key(line)])]
    assert len(list_kind(kind)) - len(missed) >= least, missed


@pytest.mark.requirement("R-035")
def test_most_values_are_whole_and_nothing_more(held: Held) -> None:
    lines = list_kind("whole")
    missed = [
        line["text"]
        for line in lines
        if [one.value for one in held[key(line)] if one.attribute in line["attributes"]] != line["values"]
    ]
    assert len(lines) - len(missed) >= 10, missed


@pytest.mark.requirement("R-077", "R-082")
def test_many_changes_are_understood(held: Held) -> None:
    missed = [line["text"] for line in list_kind("change") if not is_changed(line, held[key(line)])]
    assert len(list_kind("change")) - len(missed) >= 9, missed


def is_changed(line: Line, held: list[Memory]) -> bool:
    told = [one for one in held if is_asserted(one)]
    return any(has_value(one, line["values"]) for one in told) and not any(
        has_value(one, line["former"]) for one in told
    )


@pytest.mark.requirement("R-074", "R-082")
def test_what_stands_beside_stays(held: Held) -> None:
    wrong = [line["text"] for line in list_kind("beside") if not slots(held[line["before"]]) <= slots(held[key(line)])]
    assert len(wrong) <= len(list_kind("beside")) // 8, wrong


def slots(held: list[Memory]) -> set[tuple[str | None, ...]]:
    return {(one.entity, one.attribute, one.value, one.stance) for one in held}


@pytest.mark.requirement("R-035", "R-040")
def test_little_is_believed_of_what_tells_nothing(held: Held) -> None:
    lines = list_kind("nothing")
    wrong = [
        (line["text"], one.attribute, one.value)
        for line in lines
        for one in held[key(line)]
        if is_asserted(one) and ("not_attributes" not in line or one.attribute in line["not_attributes"])
    ]
    assert len({text for text, *_ in wrong}) <= len(lines) // 8, wrong


def test_what_others_say_pretend_or_suppose_is_no_fact_of_the_user(held: Held) -> None:
    wrong = {
        line["text"]: [
            (one.attribute, one.value) for one in held[key(line)] if one.entity == "user" and is_asserted(one)
        ]
        for line in list_kind("others")
    }
    assert {text: slots for text, slots in wrong.items() if slots} == {}


def test_no_denial_is_turned_round(held: Held) -> None:
    wrong = {
        line["text"]: (one.attribute, one.value)
        for line in list_kind("denied")
        for one in held[key(line)]
        if one.stance is Stance.ASSERTED and line["values"][0].casefold() in f"{one.attribute} {one.value}".casefold()
    }
    assert wrong == {}


@pytest.mark.usefixtures("held")
def test_every_sentence_is_found(lost: list[str]) -> None:
    assert lost == []
