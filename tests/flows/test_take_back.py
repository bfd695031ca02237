"""Words that take back, decline or forget, read with the model that ships."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda import Credenda


@pytest.fixture
def mem(tmp_path: Path) -> Iterator[Credenda]:
    path = tmp_path / "memory.db"
    with Credenda.open(path, user="ana", workers=False, settings={"reader": "learned"}) as memory:
        yield memory


def list_held(mem: Credenda) -> set[str | None]:
    return {one.value for one in mem.list().items if one.value}


def tell(mem: Credenda, *texts: str) -> None:
    for text in texts:
        mem.remember(text, session="s")
        mem.settle()


@pytest.mark.parametrize(
    ("heard", "left"), [("Nice! Want me to draft your CV?", {"TU Berlin", "physics"}), ("Noted.", set[str]())]
)
def test_never_mind_declines_an_offer_and_takes_back_the_last_message_otherwise(
    mem: Credenda, heard: str, left: set[str]
) -> None:
    said = [("user", "I graduated from TU Berlin in physics"), ("assistant", heard), ("user", "never mind")]
    mem.remember([{"role": role, "content": text} for role, text in said])
    mem.settle()
    assert list_held(mem) == left


@pytest.mark.parametrize(
    ("told", "asked", "left"),
    [
        (
            ("my email is leo.k@example.com", "Not leo.k, it's leo.kern@example.com"),
            "Delete my email address",
            set[str](),
        ),
        (("my phone number is +43 660 1234567", "my contact is leo@x.com"), "Delete my phone number", {"leo@x.com"}),
        (("my contact is leo@x.com",), "Forget my email", set[str]()),
    ],
)
def test_an_address_goes_from_every_slot_in_which_it_stands(
    mem: Credenda, told: tuple[str, ...], asked: str, left: set[str]
) -> None:
    tell(mem, *told)
    assert list_held(mem) > left
    tell(mem, asked)
    assert list_held(mem) == left
