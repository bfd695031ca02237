"""A deleted number of a phone or an account stays deleted, however it is spaced and in whatever slot of its owner."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda

Say = Callable[..., None]


@pytest.mark.parametrize(
    "told",
    [
        "my number's 07700900123",
        "my phone number is 07700-900-123",
        "call me on 07700 900123 ok?",
        "My mobile is 07700 900123",
    ],
)
def test_a_deleted_number_does_not_come_back_in_other_words(mem: Credenda, say: Say, told: str) -> None:
    say("my phone number is 07700 900123")
    mem.delete(mem.list().items[0].id)
    say(told)
    assert mem.list().items == ()


@pytest.mark.parametrize("told", ["My dad's number is 07700 900123", "my phone number is 07700 900124"])
def test_the_number_of_another_and_another_number_may_be_told(mem: Credenda, say: Say, told: str) -> None:
    say("my phone number is 07700 900123")
    mem.delete(mem.list().items[0].id)
    say(told)
    assert [one.attribute for one in mem.list().items] == ["phone_number"]


def test_a_number_that_another_slot_holds_may_be_told_there(mem: Credenda) -> None:
    def tell(text: str, attribute: str) -> None:
        mem.remember(text, claims=[{"quote": text, "attribute": attribute, "value": "07700 900123"}])

    tell("my phone number is 07700 900123", "phone_number")
    tell("text me on 07700 900123", "contact")
    mem.delete(next(one.id for one in mem.list().items if one.attribute == "phone_number"))
    tell("my contact is still 07700 900123", "contact")
    (held,) = mem.list().items
    assert (held.attribute, held.confirmations) == ("contact", 1)


def test_a_number_in_another_spelling_confirms(mem: Credenda, say: Say) -> None:
    say("my phone number is 07700 900123", "my number's 07700900123")
    assert [one.confirmations for one in mem.list().items] == [1]
