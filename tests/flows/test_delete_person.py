"""A deleted name of a person or an animal takes along the claims about it, and no other claim of the sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.interfaces.cli.render import describe_shared

JANA = "My wife Jana is a nurse at Charité and our son Ole is 4, I'm allergic to latex"
PETS = "My dog Rex is 3 and my cat Tiger is 9"
KIDS = "I have two kids, Anna (7) and Max (3)"
CASES = [
    (JANA, "Jana", {"Ole", "latex"}, "our son Ole is 4, I'm allergic to latex"),
    (JANA, "Ole", {"Jana", "nurse", "Charité", "latex"}, "My wife Jana is a nurse at Charité, I'm allergic to latex"),
    (
        JANA,
        "Charité",
        {"Jana", "nurse", "Ole", "latex"},
        "My wife Jana is a nurse and our son Ole is 4, I'm allergic to latex",
    ),
    (JANA, "latex", {"Jana", "nurse", "Charité", "Ole"}, "My wife Jana is a nurse at Charité and our son Ole is 4"),
    (PETS, "dog Rex", {"Tiger", "9"}, "my cat Tiger is 9"),
    (PETS, "Tiger", {"dog Rex", "3"}, "My dog Rex is 3"),
    (KIDS, "Anna", {"Max", "3"}, "I have two kids and Max (3)"),
    (KIDS, "Max", {"Anna", "7"}, "I have two kids, Anna (7)"),
    ("My sister Lea is a vet in Basel, and I live in Linz", "Lea", {"Linz"}, "I live in Linz"),
    ("My friend Bo loves sushi and my boss Ann hates rain", "Bo", {"Ann"}, "my boss Ann hates rain"),
    ("I live with Maria in Graz and Maria works at Bosch", "Maria", {"Graz"}, "I live in Graz"),
    ("I work as a nurse at St. Olaf hospital", "nurse", {"St. Olaf hospital"}, "I work at St. Olaf hospital"),
    (
        "My brother Tim lives in Hamburg with his girlfriend Sara",
        "Sara",
        {"Tim", "Hamburg"},
        "My brother Tim lives in Hamburg",
    ),
    ("I'm vegan, my husband Paul is a chef, and our daughter Ida plays the cello", "Paul", {"vegan", "Ida"}, None),
    ("My mom Gerda has diabetes and I take metformin", "Gerda", {"metformin"}, "I take metformin"),
    ("I live in Bern, my cousin Nils works at Novartis and I have asthma", "Nils", {"Bern", "asthma"}, None),
    ("My colleague Mira is from Porto and my neighbour Jo has a boat", "Mira", {"Jo"}, None),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def mem(path: Path) -> Iterator[Credenda]:
    with Credenda.open(path, user="ana", workers=False, settings={"reader": "learned"}) as memory:
        yield memory


def list_held(mem: Credenda) -> dict[str, str]:
    return {one.value: one.id for one in mem.list(limit=50).items if one.value}


@pytest.mark.parametrize("case", CASES)
def test_the_claims_about_others_stay_with_the_words_that_remain(
    mem: Credenda, path: Path, case: tuple[str, str, set[str], str | None]
) -> None:
    text, name, stays, left = case
    mem.remember(text)
    mem.settle()
    before = list_held(mem)
    plan = mem.manage.plan_deletion(before[name])
    receipt = mem.delete(before[name])
    mem.settle()
    held = list_held(mem)
    assert set(held) >= stays
    assert before.keys() - held.keys() == {name, *(value for value in before if before[value] in receipt.taken)}
    assert {one.id for one in plan.taken} == set(receipt.taken)
    for one in mem.list(limit=50).items:
        assert left is None or one.value is None or one.text == left
    quotes = [hit.quote for value in stays for hit in mem.search(value).hits]
    assert not [quote for quote in quotes if name.rpartition(" ")[2] in quote]
    assert not [hit for hit in mem.search(name).hits if name in hit.text]
    assert mem.data.doctor().findings == ()
    assert mem.remember(text).refused
    mem.settle()
    assert name not in list_held(mem)
    mem.data.rebuild()
    assert list_held(mem).keys() >= stays
    mem.data.rebuild(reextract=True)
    assert name not in list_held(mem)
    mem.close()
    assert name.encode() not in b"".join(file.read_bytes() for file in path.parent.iterdir() if file.is_file())


def test_what_goes_too_is_named_with_its_reason(mem: Credenda) -> None:
    mem.remember(JANA)
    mem.settle()
    lines = describe_shared(mem.manage.plan_deletion(list_held(mem)["Jana"]))
    gone = [line for line in lines if "tells of it by name" in line]
    assert [("nurse" in line, "Charité" in line) for line in gone] == [(True, False), (False, True)]
    assert not [line for line in lines if "latex" in line and "keeps" not in line]


def test_a_claim_of_somebody_beside_the_deleted_person_stays(mem: Credenda) -> None:
    mem.remember("My brother Tim lives in Hamburg with his girlfriend Sara, and Sara works at Bosch")
    mem.settle()
    before = list_held(mem)
    mem.delete(before["Tim"])
    assert set(list_held(mem)) == {"Bosch"}
    assert not mem.search("Tim").hits or "Tim" not in mem.search("Tim").hits[0].quote


def test_another_message_of_a_memory_that_goes_too_keeps_its_other_claims(mem: Credenda) -> None:
    mem.remember("My wife Jana is a nurse and I live in Linz.")
    mem.settle()
    mem.remember("Jana is a nurse and I have asthma.")
    mem.settle()
    mem.delete(list_held(mem)["Jana"])
    mem.settle()
    assert set(list_held(mem)) >= {"Linz", "asthma"}
    assert "nurse" not in list_held(mem)
