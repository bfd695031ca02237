"""The benchmark of decay, small, and the formulas that the simulated life is held against."""

import pytest

from benchmarks import tables
from benchmarks.decay_cost import run_decay
from benchmarks.lifetime_oracle import Episode, fate_on, retention


def _silent(_: str) -> None: ...


@pytest.mark.requirement("R-100")
def test_decay_costs_little_and_moves_no_belief() -> None:
    document = run_decay(300, seed=1, note=_silent)
    first, later, again, _ = (run["moved"] for run in document["runs"])
    assert first == 300
    assert 0 < later < 300
    assert again == 0
    assert document["beliefs_unmoved"]
    assert "unchanged" in tables.format_decay(document)


def test_the_oracle_knows_the_published_values() -> None:
    one = Episode(text="", held=0.0, importance=0.1, trust=1.0)
    assert [round(retention(one, day), 3) for day in (30, 45, 60, 90)] == [0.525, 0.418, 0.347, 0.259]
    machine = Episode(text="", held=0.0, importance=0.1, trust=0.5)
    assert [fate_on(machine, day) for day in (89, 91)] == ["stays", "archived"]
