"""What a claim of a model does to a known memory that it names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from credenda.model.claim import UpdateKind
from credenda.model.memory import Memory, MemoryType, Stance
from credenda.write.llm.prompt import Refusal
from credenda.write.reconcile.decide import Misfit

from .build import claim, claims_of, outcome, read, turn_of


def _held(value: str, attribute: str = "keeps", stance: Stance = Stance.ASSERTED) -> Memory:
    return Memory(
        id="m1-aaaaaa",
        version=1,
        created_us=0,
        recorded_us=0,
        text=value,
        type=MemoryType.FACT,
        entity="user",
        attribute=attribute,
        value=value,
        stance=stance,
    )


def test_what_is_known_already_goes_into_the_slot_of_the_memory() -> None:
    known = (replace(_held("bees"), scope="at home"),)
    found = claim("As I said, the bees are mine.", known=known, attribute="owns", value="bees", effect="repeats k1")
    assert (found.attribute, found.value, found.scope) == ("keeps", "bees", "at home")


@pytest.mark.parametrize(
    ("memory", "fields"),
    [
        (_held("30 hives"), {}),
        (_held("bees"), {"stance": "negated"}),
        (_held("bees"), {"effect": "repeats k2"}),
    ],
)
def test_what_differs_from_the_memory_is_a_claim_of_its_own(memory: Memory, fields: dict[str, object]) -> None:
    wanted = {"attribute": "owns", "value": "bees", "effect": "repeats k1", **fields}
    assert claim("Well, I own bees, 31 hives.", known=(memory,), **wanted).attribute == "owns"


@pytest.mark.parametrize(
    ("held", "value", "rival", "said"),
    [
        ("bees", "30 hives of bees", "m1-aaaaaa", "30 hives of bees"),
        ("30 hives of calm bees", "bees, 30 hives", None, "30 hives of calm bees"),
        ("20 hives of bees", "30 hives of bees", None, "30 hives of bees"),
    ],
)
def test_the_fuller_wording_of_what_is_known_wins(held: str, value: str, rival: str | None, said: str) -> None:
    text = "As I said, I keep bees, 30 hives of bees."
    found = claim(text, known=(_held(held),), attribute="keeps", value=value, effect="repeats k1")
    assert (found.value, found.rival, found.move) == (said, rival, UpdateKind.STATE)


@pytest.mark.parametrize(
    ("text", "stance", "is_settled"),
    [
        ("I joined the choir in May.", "asserted", True),
        ("In my choir years I sang.", "past", False),
        ("Everything worked out in the end.", "asserted", False),
    ],
)
def test_a_plan_is_settled_only_by_words_that_speak_of_it_as_of_now(
    text: str, stance: str, *, is_settled: bool
) -> None:
    plan = _held("join the choir", "plan", Stance.PLANNED)
    fields = {"attribute": "event", "value": text.rstrip(".").lower(), "stance": stance, "effect": "replaces k1"}
    found = claims_of(turn_of(text), {"quote": text, **fields}, known=(plan,))
    assert [one.rival for one in found if one.rival] == ["m1-aaaaaa"] * is_settled


@pytest.mark.parametrize(
    ("effect", "move"),
    [
        ("replaces k1", UpdateKind.CHANGE),
        ("corrects k1", UpdateKind.CORRECT),
        ("contradicts k1", UpdateKind.CONTRADICT),
    ],
)
def test_an_effect_names_the_memory(effect: str, move: UpdateKind) -> None:
    found = claim("I keep wasps now.", known=(_held("bees"),), attribute="keeps", value="wasps", effect=effect)
    assert (found.move, found.rival, found.value) == (move, "m1-aaaaaa", "wasps")


def test_an_ending_needs_no_value_of_its_own() -> None:
    found = claim(
        "The bees were fun. I gave that up.", known=(_held("bees"),), quote="I gave that up", effect="ends k1"
    )
    assert (found.move, found.rival, found.attribute, found.value) == (UpdateKind.END, "m1-aaaaaa", "keeps", "bees")


def test_an_effect_on_an_unknown_memory_is_left_out_and_counted() -> None:
    found, outcomes = outcome("I keep wasps.", attribute="keeps", value="wasps", effect="replaces k7")
    assert [(one.move, one.rival) for one in found] == [(UpdateKind.STATE, None)]
    assert outcomes == [("changed", Refusal.KNOWN)]


@pytest.mark.parametrize(
    ("memory", "fields", "why"),
    [
        (replace(_held("bees"), speaker="Bob"), {}, Misfit.SPEAKER),
        (replace(_held("bees"), entity="Bob"), {}, Misfit.ENTITY),
        (_held("wasps", "employer"), {}, Misfit.ATTRIBUTE),
        (_held("30"), {}, Misfit.VALUE),
        (_held("bees"), {"stance": "planned"}, Misfit.OPEN),
        (replace(_held("wasps"), attribute=None), {}, Misfit.NO_SLOT),
        (_held("hens", "pet"), {}, Refusal.APART),
        (_held("hens", "plan", Stance.PLANNED), {}, Refusal.APART),
    ],
)
def test_an_effect_that_does_not_fit_is_left_out_and_the_reason_counted(
    memory: Memory, fields: dict[str, object], why: Misfit
) -> None:
    wanted = {"quote": "wasps", "attribute": "keeps", "value": "wasps", "effect": "replaces k1", **fields}
    understood, _ = read(turn_of("I keep wasps now."), [wanted], known=(memory,))
    assert [one.rival for one in understood.claims["e1-aaaaaa"]] == [None]
    assert understood.outcomes == (("changed", why),)
