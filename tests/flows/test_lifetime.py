"""The simulated life, small: it ends as foretold, and it notices when it does not."""

import pytest

from benchmarks import tables
from benchmarks.lifetime import run_lifetime
from credenda.manage.lifecycle import LifecycleRules


def _silent(_: str) -> None: ...


@pytest.mark.requirement("D-009", "D-021", "E-059", "E-063", "C-009", "R-009", "R-059", "R-214")
def test_a_small_life_ends_as_the_formulas_say() -> None:
    document = run_lifetime(600, seed=3, days=120, away=20, note=_silent)
    assert document["immortal"] == []
    assert document["archived_wrongly"]["found"] == []
    assert document["fates"]["differ"] == []
    assert document["sabbatical_moved"] == []
    assert document["decay"]["null"] == 0
    assert document["decay"]["varied"]
    assert document["kept"]
    assert "NO" not in tables.format_lifetime(document)


def test_the_life_notices_when_an_episode_fares_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credenda.services.lifecycle.LifecycleRules", lambda: LifecycleRules(promote_uses=1))
    document = run_lifetime(400, seed=3, days=40, away=1, note=_silent)
    assert document["fates"]["differ"]
    assert not document["kept"]
