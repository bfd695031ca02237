"""Names of entities: whole, as a statement shows them, or bare, they lead to the same memories."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda, Invalid

Say = Callable[..., None]


def tell(mem: Credenda, text: str, *slot: str) -> str:
    told: dict[str, object] = dict(zip(("quote", "entity", "attribute", "value"), (text, *slot), strict=True))
    (receipt,) = mem.remember(text, claims=[told]).claims
    return receipt.understood


@pytest.mark.parametrize("name", ["Sam", "brother Sam", "my brother Sam", "user's brother Sam"])
def test_a_shown_or_bare_name_leads_to_the_entity(mem: Credenda, say: Say, name: str) -> None:
    say("My brother Sam lives in Leeds.")
    assert mem.list(attribute="residence").items[0].statement.startswith("user: brother Sam's residence: Leeds")
    assert [one.value for one in mem.history(entity=name, attribute="residence")] == ["Leeds"]
    assert [one.value for one in mem.list(entity=name).items] == ["Leeds"]
    assert [one.value for one in mem.inspect.browse(entity=name).items] == ["Leeds"]
    assert {one.memory.value for one in mem.diff("2026-02-01", entity=name).differences} == {"Leeds"}


def test_a_name_that_fits_several_entities_is_an_error_that_lists_them(mem: Credenda) -> None:
    tell(mem, "Ben's son Sam lives in Wels", "Ben's son Sam", "residence", "Wels")
    tell(mem, "my brother Sam lives in Leeds", "my brother Sam", "residence", "Leeds")
    with pytest.raises(Invalid, match="Ben's son Sam, user's brother Sam"):
        mem.list(entity="Sam")
    tell(mem, "my brother Sam plays chess", "my brother Sam", "hobby", "chess")
    assert [one.value for one in mem.history(entity="Sam", attribute="hobby")] == ["chess"]
    assert mem.list(entity="Samantha").items == ()


@pytest.mark.parametrize("name", ["Sam", "brother Sam", "my brother Sam"])
def test_a_claim_by_hand_lands_in_the_entity_that_its_name_fits(mem: Credenda, say: Say, name: str) -> None:
    say("My brother Sam lives in Leeds.")
    assert tell(mem, "Sam moved to York", name, "residence", "York") == "user's brother Sam residence: York"
    assert tell(mem, "Sam plays chess", name, "hobby", "chess") == "user's brother Sam hobby: chess"
