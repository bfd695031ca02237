"""Whatever is said, doubted, forgotten and deleted between nights, cards tell only what is held."""

import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from credenda import Credenda, MemoryUnit
from credenda.errors import CredendaError
from credenda.model.memory import Memory, Status, is_dreamed, list_sources
from credenda.testing import ManualClock

NAMES = ("Eva", "Karl")
PICKS = st.integers(0, 40)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), PICKS),
        st.tuples(st.sampled_from(["forget", "restore", "delete", "undo", "doubt", "hold", "night", "wait"]), PICKS),
    ),
    min_size=5,
    max_size=25,
)


def everything(mem: Credenda) -> list[Memory]:
    return list(mem.list(status=None, limit=50).items)


def act(mem: Credenda, clock: ManualClock, what: str, pick: int) -> str | None:
    """Do one thing; returns the text of what was deleted for good."""
    name = NAMES[pick % 2]
    if what == "say":
        mem.store(MemoryUnit(text=f"{name} keeps Zq{pick:02}x in the hall.", entity=name, importance=pick / 40))
        return None
    if what == "night":
        mem.manage.dream()
        return None
    if what == "wait":
        clock.advance(timedelta(days=pick * 10))
        return None
    found = [one for one in everything(mem) if one.status is not Status.DELETED]
    if not found:
        return None
    one = found[pick % len(found)]
    match what:
        case "forget":
            mem.forget(one.id)
        case "restore":
            mem.restore(one.id)
        case "delete":
            mem.delete(one.id)
            return None if is_dreamed(one) else one.text
        case "undo":
            log = mem.why(one.id).changes
            mem.manage.undo(log[pick % len(log)].id)
        case _:
            mem.manage.set_status(one.id, "challenged" if what == "doubt" else "active", "because")
    return None


@pytest.mark.requirement("D-033", "E-068")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_cards_tell_only_what_is_held_and_a_second_night_changes_nothing(steps: list[tuple[str, int]]) -> None:
    clock = ManualClock("2026-03-01T09:00:00Z")
    deleted: set[str] = set()
    with (
        tempfile.TemporaryDirectory() as folder,
        Credenda.open(Path(folder) / "m.db", user="ana", clock=clock, workers=False, embedder="none") as mem,
    ):
        for at in range(5):
            act(mem, clock, "say", at * 2)
        for what, pick in [*steps, ("night", 0)]:
            try:
                gone = act(mem, clock, what, pick)
            except CredendaError:
                continue
            if gone is not None:
                deleted.add(gone)
            check(mem, deleted)
        assert mem.manage.dream().changed == 0
        check_cards(mem)
        assert mem.data.doctor().ok
        assert mem.data.rebuild().differences == ()


def check(mem: Credenda, deleted: set[str]) -> None:
    """Nothing tells what was deleted."""
    told = "\n".join(one.text for one in everything(mem))
    assert not [text for text in deleted if text in told]


def check_cards(mem: Credenda) -> None:
    """After a night each card stands for what is held of its entity now."""
    memories = everything(mem)
    held = {one.id: one for one in memories if one.status is Status.ACTIVE and not is_dreamed(one)}
    cards = [one for one in memories if is_dreamed(one) and one.status is Status.ACTIVE]
    assert len({one.entity for one in cards}) == len(cards)
    for card in cards:
        assert list_sources(card) <= held.keys()
        assert len(card.text.splitlines()) <= 12
        for line in card.text.splitlines()[1:]:
            shown, _, names = line.removesuffix("]").rpartition(" [")
            values = [held[name].value or held[name].text for name in names.split(", ")]
            assert any(value in shown for value in values)
