"""Fading, layers and feedback from outside: what moves, what stays, and that nothing is believed otherwise."""

import math
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Conflict, Credenda, Invalid, MemoryUnit, NotFound
from credenda.model.change import SetLayer
from credenda.model.memory import Layer, Memory
from credenda.services import lifecycle
from credenda.testing import ManualClock


def episode(mem: Credenda, text: str, *, importance: float = 0.5, source: str = "human") -> Memory:
    return mem.store(MemoryUnit(text=text, layer="episodic", importance=importance, source=source))


def scores(mem: Credenda) -> dict[str, float | None]:
    return {memory.text: memory.decay_score for memory in mem.list(limit=50).items}


@pytest.mark.requirement("R-096", "R-214", "E-002", "E-055")
def test_episodes_fade_and_what_a_machine_read_fades_faster(mem: Credenda, clock: ManualClock) -> None:
    episode(mem, "Saw an owl.")
    episode(mem, "The log says the build broke.", source="ingest")
    mem.store(MemoryUnit(text="Lives in Linz", entity="user", attribute="residence", value="Linz"))
    clock.advance(timedelta(days=30))
    report = mem.manage.decay()
    assert (report.examined, report.updated, report.ran) == (3, 3, True)
    found = scores(mem)
    assert found["Lives in Linz"] == 1.0
    assert found["Saw an owl."] == pytest.approx(0.525, abs=1e-3)
    assert found["The log says the build broke."] == pytest.approx(0.2587, abs=1e-3)


@pytest.mark.requirement("R-093", "R-100")
def test_profile_recall_fades_every_layer_and_only_what_is_held(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, workers=False, settings={"decay_profile": "recall"}) as mem:
        mem.remember("I live in Linz.")
        mem.settle()
        clock.advance(timedelta(days=1))
        mem.remember("I moved to Graz.")
        mem.settle()
        clock.advance(timedelta(days=60))
        assert mem.manage.decay().examined == 1
        (old,) = mem.list(status="superseded").items
        assert old.decay_score is None
        assert scores(mem)["I moved to Graz."] == pytest.approx(0.301, abs=1e-3)


def _open_with_profile(path: Path, clock: ManualClock, profile: str) -> Credenda:
    return Credenda.open(path, user="ana", clock=clock, workers=False, settings={"decay_profile": profile})


@pytest.mark.requirement("R-088")
@pytest.mark.parametrize("profile", ["recall", "layered"])
def test_a_memory_taken_over_is_as_old_as_it_says(path: Path, clock: ManualClock, profile: str) -> None:
    told = clock.now() - timedelta(days=35)
    with _open_with_profile(path, clock, profile) as mem:
        mem.store(MemoryUnit(text="Saw a heron.", layer="episodic", created_at=told.isoformat()))
        episode(mem, "Saw an owl.")
        mem.manage.decay()
        found = scores(mem)
        assert found["Saw an owl."] == 1.0
        old = found["Saw a heron."]
        assert old is not None
        assert old == pytest.approx(math.exp(-0.02 * 35), abs=1e-6) if profile == "recall" else old < 0.5
        (point,) = [one for one in mem.manage.retention().points if one.age_days]
        assert (point.age_days, point.score) == (35.0, old)


@pytest.mark.requirement("R-088")
def test_what_has_long_held_is_as_old_as_its_message(path: Path, clock: ManualClock) -> None:
    with _open_with_profile(path, clock, "recall") as mem:
        mem.remember("I have worked at Bosch since 2010.")
        mem.remember("I live in Linz.", occurred_at=(clock.now() - timedelta(days=100)).isoformat())
        mem.settle()
        mem.manage.decay()
        assert {one.value: one.decay_score for one in mem.list().items} == {
            "Bosch": 1.0,
            "Linz": pytest.approx(math.exp(-0.02 * 100), abs=1e-6),
        }
        mem.search("Where do I live?")
        mem.settle()
        clock.advance(timedelta(days=1))
        mem.manage.decay()
        (home,) = mem.list(attribute="residence").items
        assert (home.decay_score or 0.0) > 0.9, "from the last access on, it is as young as that"


@pytest.mark.requirement("R-098")
def test_fading_changes_no_belief(mem: Credenda, clock: ManualClock) -> None:
    held = episode(mem, "Saw an owl.")
    clock.advance(timedelta(days=400))
    before = mem.why(held.id).changes
    mem.manage.decay()
    after = mem.get(held.id)
    assert (after.status, after.importance, after.base_importance, after.version) == ("active", 0.5, 0.5, held.version)
    assert mem.why(held.id).changes == before
    assert [hit.quote for hit in mem.search("owl").hits] == ["Saw an owl."]


def test_a_dry_run_names_every_move_and_makes_none(mem: Credenda, clock: ManualClock) -> None:
    held = episode(mem, "Saw an owl.")
    clock.advance(timedelta(days=15))
    (move,) = mem.manage.decay(dry_run=True).moves
    assert (move.memory_id, move.before) == (held.id, None)
    assert mem.get(held.id).decay_score is None
    mem.manage.decay()
    assert mem.get(held.id).decay_score == move.after
    assert mem.manage.decay().updated == 0


@pytest.mark.requirement("C-011", "C-023")
def test_on_the_active_clock_a_sabbatical_costs_nothing(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, workers=False, settings={"decay_clock": "active"}) as mem:
        held = episode(mem, "Saw an owl.")
        mem.manage.decay()
        before = mem.get(held.id).decay_score
        clock.advance(timedelta(days=183))
        assert mem.manage.decay().updated == 0
        assert mem.manage.lifecycle().changes == ()
        mem.remember("I am back.")
        mem.settle()
        mem.manage.decay()
        after = mem.get(held.id).decay_score
        assert before == 1.0
        assert after is not None
        assert 0.95 < after < 1.0


def test_a_run_that_was_broken_off_goes_on_where_it_stopped(
    mem: Credenda, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        episode(mem, f"Saw owl number {number}.")
    clock.advance(timedelta(days=15))
    monkeypatch.setattr(lifecycle, "_BATCH", 2)
    real = lifecycle._write_scores  # noqa: SLF001 - where a kill would strike
    calls: list[object] = []

    def strike(*given: object) -> None:
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(given)
        real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(lifecycle, "_write_scores", strike)
    with pytest.raises(KeyboardInterrupt):
        mem.manage.decay()
    assert sum(score is not None for score in scores(mem).values()) == 4
    monkeypatch.setattr(lifecycle, "_write_scores", real)
    assert mem.manage.decay().examined == 2
    assert all(score is not None for score in scores(mem).values())
    assert mem.manage.decay().examined == 6


@pytest.mark.requirement("E-059", "E-061")
def test_an_episode_that_matters_and_is_asked_for_becomes_lasting(mem: Credenda, clock: ManualClock) -> None:
    held = episode(mem, "Ran the Linz marathon.", importance=0.8)
    for _ in range(5):
        mem.search("marathon")
        clock.advance(timedelta(days=3))
    planned = mem.manage.lifecycle(dry_run=True)
    assert planned.changes == (SetLayer(memory_id=held.id, layer=Layer.SEMANTIC, reason=planned.changes[0].reason),)
    assert mem.get(held.id).layer == "episodic"
    assert mem.manage.lifecycle().promoted == 1
    assert mem.get(held.id).layer == "semantic"
    assert mem.why(held.id).changes[-1].actor == "schedule"
    assert mem.manage.lifecycle().changes == ()


@pytest.mark.requirement("E-063", "E-061")
def test_what_nobody_needs_is_put_away_and_can_be_brought_back(mem: Credenda, clock: ManualClock) -> None:
    held = episode(mem, "Had toast.", importance=0.1, source="ingest")
    clock.advance(timedelta(days=120))
    assert mem.manage.lifecycle().archived == 1
    assert mem.get(held.id).status == "archived"
    assert not [hit for hit in mem.search("toast").hits if hit.id == held.id]
    assert [hit.id for hit in mem.search("toast", include=["archived"]).hits] == [held.id]


@pytest.mark.requirement("E-061")
def test_a_person_may_move_a_memory_along_the_ladder(mem: Credenda) -> None:
    held = episode(mem, "Saw an owl.")
    assert mem.manage.promote(held.id).layer == "semantic"
    with pytest.raises(Conflict, match="cannot be promoted"):
        mem.manage.promote(held.id)
    assert mem.manage.demote(held.id).layer == "episodic"
    assert mem.manage.demote(held.id).layer == "working"
    with pytest.raises(Conflict, match="cannot be demoted"):
        mem.manage.demote(held.id)
    with pytest.raises(NotFound):
        mem.manage.promote("m99-" + held.id.partition("-")[2])


def test_what_happened_once_is_an_episode_and_what_holds_is_not(mem: Credenda) -> None:
    mem.remember("I ran a marathon on March 28. My dog is called Rex. I'm considering a move to Spain.")
    mem.settle()
    layers = {memory.attribute: memory.layer for memory in mem.list().items}
    assert layers["event"] == "episodic"
    assert layers["dog"] == "semantic"
    assert "working" in layers.values()


@pytest.mark.requirement("R-097")
def test_what_was_no_help_ranks_lower_at_once(mem: Credenda) -> None:
    texts = ("The garage code is on the blue note.", "The garage code is on the grey note.")
    one, other = (mem.store(MemoryUnit(text=text)).id for text in texts)
    first, second = [hit.id for hit in mem.search("garage code", record_access=False).hits]
    mem.feedback(first, useful=False)
    assert [hit.id for hit in mem.search("garage code", record_access=False).hits] == [second, first]
    assert {first, second} == {one, other}
    assert mem.get(first).decay_score == pytest.approx(0.85)
    mem.feedback(first, useful=True)
    assert mem.get(first).decay_score == 1.0


def test_curves_are_given_as_numbers_and_as_a_picture(mem: Credenda, clock: ManualClock, tmp_path: Path) -> None:
    held = episode(mem, "A secret owl.")
    clock.advance(timedelta(days=30))
    picture = tmp_path / "curves.svg"
    found = mem.manage.retention(plot=picture)
    assert {curve.name for curve in found.curves} == {"huber", "huber_linear", "l2", "elastic"}
    assert all(len(curve.values) == len(found.days) for curve in found.curves)
    (point,) = found.points
    assert (point.memory_id, point.age_days) == (held.id, 30.0)
    drawn = picture.read_text("utf-8")
    assert held.id in drawn
    assert "secret" not in drawn
    with pytest.raises(Invalid, match="limit"):
        mem.manage.retention(limit=0)


def test_curves_answer_what_other_settings_would_do(mem: Credenda, clock: ManualClock) -> None:
    episode(mem, "A secret owl.")
    clock.advance(timedelta(days=30))
    now, other = mem.manage.retention(), mem.manage.retention(half_life_days=90, retention_mode="l2", trust_kappa=0)
    assert (now.mode, other.mode) == ("huber", "l2")
    assert {curve.half_life_days for curve in other.curves} == {90.0}
    assert other.points[0].score > now.points[0].score
    assert mem.manage.retention() == now
    with pytest.raises(Invalid, match="half_life_days"):
        mem.manage.retention(half_life_days=-1)


@pytest.mark.requirement("R-093", "R-094", "R-095")
def test_recalls_own_variables_are_understood(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setenv("RECALL_DECAY_LAMBDA", "0.5")
    monkeypatch.setenv("RECALL_DECAY_BOOST_CAP", "3")
    monkeypatch.setenv("RECALL_DECAY_JOB_INTERVAL", "60")
    clock = ManualClock("2026-03-01T09:00:00Z")
    with Credenda.open(path, user="ana", clock=clock, workers=False, settings={"decay_profile": "recall"}) as mem:
        held = episode(mem, "Saw an owl.")
        clock.advance(timedelta(days=2))
        mem.manage.decay()
        assert mem.get(held.id).decay_score == pytest.approx(0.3679, abs=1e-4)
        assert {one.name: one.every_seconds for one in mem.manage.schedule().duties}["decay"] == 60
