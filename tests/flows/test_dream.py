"""The dream from outside: what each step does, that a second night finds nothing, and that a dry run is exact."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda, Invalid, MemoryUnit, Unavailable
from credenda.model.change import Actor, Add, Supersede
from credenda.model.memory import Draft, MemoryType
from credenda.model.report import DreamReport, DreamStep
from credenda.services import scheduled_tasks as run
from credenda.services.dream_steps import Night
from credenda.storage.store import SchedulerLease
from credenda.testing import ManualClock
from credenda.write.apply import Application, apply

FACTS = (
    "I live in Linz.",
    "I work at Bosch.",
    "My dog is called Rex.",
    "I drive a Skoda.",
    "My favourite colour is green.",
    "I prefer tea over coffee.",
)
Tell = Callable[[], None]


@pytest.fixture
def tell(mem: Credenda) -> Tell:
    def say() -> None:
        for fact in FACTS:
            mem.remember(fact)
        mem.settle()

    return say


def step(report: DreamReport, name: str) -> DreamStep:
    (found,) = [one for one in report.steps if one.name == name]
    return found


@pytest.mark.requirement("E-066", "D-033")
def test_a_second_night_finds_nothing_to_do(mem: Credenda, tell: Tell) -> None:
    tell()
    first = mem.manage.dream()
    assert first.changed > 0
    head = len(mem.list().items), mem.stats().changes
    second = mem.manage.dream()
    assert (second.changed, [one.changes for one in second.steps if one.changes]) == (0, [])
    assert (len(mem.list().items), mem.stats().changes) == head
    assert "Nothing changed." in second.brief


@pytest.mark.requirement("E-066")
def test_a_dry_run_shows_exactly_what_a_run_does_and_changes_nothing(mem: Credenda, tell: Tell) -> None:
    tell()
    before = mem.stats().changes, mem.list().items
    planned = mem.manage.dream(dry_run=True)
    assert (mem.stats().changes, mem.list().items) == before
    done = mem.manage.dream()
    assert planned.changed == done.changed
    assert [one.changes for one in planned.steps] == [one.changes for one in done.steps]
    assert {move.memory_id for move in step(planned, "forgetting").moves} == {one.id for one in before[1]}


@pytest.mark.parametrize("name", list(run.STEPS))
def test_each_step_runs_alone(mem: Credenda, tell: Tell, name: str) -> None:
    tell()
    report = mem.manage.dream([name])
    assert [one.name for one in report.steps] == [name]
    assert mem.manage.dream([name]).changed == 0


def test_steps_keep_their_order_and_may_stand_in_one_text(mem: Credenda) -> None:
    assert [one.name for one in mem.manage.dream(["prune, cards", "forgetting"]).steps] == [
        "forgetting",
        "cards",
        "prune",
    ]
    with pytest.raises(Invalid, match="no step 'deep sleep'"):
        mem.manage.dream(["cards", "deep sleep"])
    with pytest.raises(Invalid, match="steps must hold words"):
        mem.manage.dream([7])  # type: ignore[list-item]


def test_a_step_that_fails_is_reported_and_passed_over(
    mem: Credenda, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> DreamStep:
        raise Unavailable("the disk is full")

    def worse(_: object) -> DreamStep:
        raise ZeroDivisionError

    tell()
    monkeypatch.setattr(run, "STEPS", {**run.STEPS, "forgetting": broken, "probe": worse})
    report = mem.manage.dream()
    assert report.ran
    assert {one.name: one.reason for one in report.steps if one.failed} == {
        "forgetting": "unavailable",
        "probe": "ZeroDivisionError",
    }
    assert step(report, "cards").counts["written"] == 1
    assert "Failed and skipped: forgetting (unavailable)." in report.brief


@pytest.mark.requirement("E-068")
def test_one_process_dreams_at_a_time(mem: Credenda, tell: Tell, clock: ManualClock) -> None:
    tell()
    now_us = clock.now_us()
    lease = SchedulerLease(owner="elsewhere:1:abcde1", now_us=now_us, until_us=now_us + 600_000_000, name="dream")
    mem._parts.store.commit("ana", lambda writer: writer.put(lease))  # noqa: SLF001 - what another process would file
    refused = mem.manage.dream()
    assert (refused.ran, refused.steps) == (False, ())
    assert "dream is being run already" in refused.reason
    assert mem.manage.dream(dry_run=True).ran
    clock.advance(timedelta(minutes=10))
    assert mem.manage.dream().ran


def test_the_lease_is_given_back(mem: Credenda, path: Path, clock: ManualClock, tell: Tell) -> None:
    tell()
    assert mem.manage.dream().ran
    with Credenda.open(path, user="ana", clock=clock, workers=False) as other:
        assert other.manage.dream().ran


def test_a_night_that_was_broken_off_is_taken_up_by_the_next(mem: Credenda, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Eva", "Karl", "Tom", "Ida"):
        for at in range(5):
            mem.store(MemoryUnit(text=f"{name} likes tune {at}.", entity=name))
    real = Night.commit
    done: list[object] = []

    def strike(night: Night, *given: Any, **named: Any) -> bool:  # noqa: ANN401 - whatever it is called with
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(given)
        return real(night, *given, **named)

    monkeypatch.setattr(Night, "commit", strike)
    with pytest.raises(KeyboardInterrupt):
        mem.manage.dream(["cards"])
    assert len(mem.list(attribute="peer card").items) == 2
    monkeypatch.setattr(Night, "commit", real)
    assert step(mem.manage.dream(["cards"]), "cards").counts == {"unchanged": 2, "written": 2}
    assert mem.manage.dream(["cards"]).changed == 0


@pytest.mark.requirement("E-068", "D-029", "E-039")
def test_a_card_is_written_once_for_an_entity_and_replaced_when_its_facts_move(
    mem: Credenda, tell: Tell, clock: ManualClock
) -> None:
    tell()
    (change,) = step(mem.manage.dream(["cards"]), "cards").changes
    assert isinstance(change, Add)
    (card,) = mem.list(attribute="peer card").items
    held = {one.text: one.id for one in mem.list().items if one.id != card.id}
    assert card.text.splitlines()[0] == "About the user:"
    assert [line.split(" [")[0] for line in card.text.splitlines()[1:]] == [
        "- Residence: Linz",
        "- Employer: Bosch",
        "- Dog: Rex",
        "- Favourite colour: green",
        "- Favourite drink: tea",
        "- Drives: Skoda",
    ]
    assert all(f"[{held[text]}]" in card.text for text in FACTS)
    assert set(card.metadata["cites"]) == set(held.values())  # type: ignore[call-overload]
    assert (card.importance, card.trust, card.layer, card.entity) == (0.8, 0.4, "semantic", "user")
    assert [one.actor for one in mem.why(card.id).changes] == ["dream"]
    clock.advance(timedelta(days=1))
    mem.remember("My cat is called Tom.")
    mem.settle()
    added, replaced = step(mem.manage.dream(["cards"]), "cards").changes
    assert isinstance(added, Add)
    assert isinstance(replaced, Supersede)
    (fresh,) = mem.list(attribute="peer card").items
    assert "Tom" in fresh.text
    assert mem.get(card.id).superseded_by == fresh.id


@pytest.mark.requirement("E-068")
def test_a_card_needs_five_facts_and_holds_no_more_than_fits(mem: Credenda) -> None:
    for at in range(4):
        mem.store(MemoryUnit(text=f"Eva likes tune {at}.", entity="Eva"))
    assert mem.manage.dream(["cards"]).changed == 0
    for at in range(4, 90):
        mem.store(MemoryUnit(text=f"Eva likes the old tune number {at} a lot.", entity="Eva", importance=0.9))
    mem.manage.dream(["cards"])
    (card,) = mem.list(attribute="peer card").items
    assert 5 <= len(card.metadata["cites"]) <= 11  # type: ignore[arg-type]
    assert len(card.text.splitlines()) == 12
    assert len(card.text) <= 2_000


def test_a_card_is_found_and_is_not_taken_for_something_that_was_said(mem: Credenda, tell: Tell) -> None:
    tell()
    mem.manage.dream()
    (card,) = mem.list(attribute="peer card").items
    assert card.id in {hit.id for hit in mem.search("Linz Bosch Rex Skoda", limit=50).hits}
    assert mem.stats().pending_extractions == 0
    assert mem.why(card.id).evidence == ()
    mem.remember(card.text.splitlines()[1].removeprefix("- "))
    mem.remember(card.text)
    mem.settle()
    assert mem.get(card.id).confirmations == 0
    mem.manage.dream()
    (again,) = mem.list(attribute="peer card").items
    assert again.id == card.id
    assert {one.text for one in mem.list().items} == {*FACTS, card.text}


@pytest.mark.parametrize("way", ["forget", "supersede", "invalidate"])
def test_a_card_ends_with_what_it_cites_and_is_written_again_without_it(
    mem: Credenda, tell: Tell, clock: ManualClock, way: str
) -> None:
    tell()
    mem.manage.dream()
    (card,) = mem.list(attribute="peer card").items
    (home,) = mem.list(attribute="residence").items
    clock.advance(timedelta(days=1))
    match way:
        case "forget":
            mem.forget(home.id)
        case "supersede":
            mem.remember("I moved to Graz.")
            mem.settle()
        case _:
            mem.manage.set_status(home.id, "invalidated", "wrong")
    assert mem.list(attribute="peer card").items == ()
    assert not [hit for hit in mem.search("Linz", limit=50).hits if hit.id == card.id]
    mem.manage.dream()
    (fresh,) = mem.list(attribute="peer card").items
    assert "Linz" not in fresh.text
    assert ("Graz" in fresh.text) is (way == "supersede")


def bytes_of(path: Path) -> bytes:
    return b"".join(one.read_bytes() for one in path.parent.iterdir() if one.name.startswith(path.name))


@pytest.mark.requirement("E-068")
def test_the_words_of_a_deleted_memory_are_gone_from_every_card_and_from_the_bytes(
    mem: Credenda, tell: Tell, clock: ManualClock, path: Path
) -> None:
    tell()
    mem.manage.dream()
    clock.advance(timedelta(days=1))
    mem.remember("My cat is called Tom.")
    mem.settle()
    mem.manage.dream()
    cards = [one.id for one in mem.list(attribute="peer card", status=None).items]
    assert len(cards) == 2
    (employer,) = mem.list(attribute="employer").items
    mem.delete(employer.id)
    for card in cards:
        assert not [one for one in mem.list(status=None, limit=50).items if one.id == card]
    mem.settle()
    mem.manage.dream()
    (fresh,) = mem.list(attribute="peer card").items
    assert "Bosch" not in fresh.text
    assert "Tom" in fresh.text
    assert mem.data.doctor().ok
    mem.close()
    assert b"Bosch" not in bytes_of(path)
    assert b"bosch" not in bytes_of(path)


def test_a_card_that_a_person_put_away_is_not_written_again(mem: Credenda, tell: Tell) -> None:
    tell()
    mem.manage.dream()
    (card,) = mem.list(attribute="peer card").items
    mem.forget(card.id)
    mem.remember("My cat is called Tom.")
    mem.settle()
    report = mem.manage.dream(["cards"])
    assert (report.changed, step(report, "cards").counts) == (0, {"refused": 1})
    mem.restore(card.id)
    assert mem.manage.dream(["cards"]).changed == 2


def test_a_card_that_a_person_deleted_does_not_come_back_word_for_word(mem: Credenda, tell: Tell) -> None:
    tell()
    mem.manage.dream()
    (card,) = mem.list(attribute="peer card").items
    mem.delete(card.id)
    assert {one.text for one in mem.list().items} == set(FACTS)
    for dry_run in (True, False):
        assert mem.manage.dream(["cards"], dry_run=dry_run).changed == 0


def test_what_is_dreamed_outlives_a_rebuild_and_takes_no_part_in_a_fresh_reading(mem: Credenda, tell: Tell) -> None:
    tell()
    mem.manage.dream()
    (card,) = mem.list(attribute="peer card").items
    assert mem.data.rebuild().differences == ()
    assert mem.data.rebuild(reextract=True).differences == ()
    assert mem.get(card.id).text == card.text


def test_what_is_dreamed_is_evidence_for_nobody_else(mem: Credenda, tmp_path: Path) -> None:
    for at in range(5):
        mem.store(MemoryUnit(text=f"Shop {at} reads {tmp_path}/gone/{at}.py.", entity="shop"))
    mem.manage.dream(["cards"])
    (card,) = mem.list(attribute="peer card").items
    found = mem.manage.drift([tmp_path], fix=True)
    assert card.id not in {finding.memory_id for finding in found.findings}
    assert card.id not in found.invalidated
    assert len(found.invalidated) == 5
    for at in range(5):
        mem.store(MemoryUnit(text=f"Eva likes tune {at}.", entity="Eva"))
    mem.manage.dream(["cards"])
    mem.data.export(tmp_path / "graph.jsonl", format="mcp-memory")
    written = (tmp_path / "graph.jsonl").read_text("utf-8")
    assert "Eva likes tune 3." in written
    assert "About Eva" not in written


@pytest.mark.requirement("E-072")
def test_pruning_touches_operational_logs_alone(mem: Credenda, tell: Tell, clock: ManualClock) -> None:
    tell()
    mem.search("Linz")
    judged, *_ = mem.search("Skoda").hits
    mem.feedback(judged.id, useful=True)
    mem.settle()
    clock.advance(timedelta(days=366))
    mem.search("Bosch")
    mem.settle()
    events, changes = mem.stats().events, mem.stats().changes
    planned = step(mem.manage.dream(["prune"], dry_run=True), "prune")
    assert planned.counts["showings"] >= 1
    done = step(mem.manage.dream(["prune"]), "prune")
    assert done.counts == planned.counts
    assert mem.manage.dream(["prune"]).changed == 0
    assert (mem.stats().events, mem.stats().changes) == (events, changes)
    with mem._parts.store.reader("ana") as reader:  # noqa: SLF001 - the log has no verb of its own
        left = reader.usage.accesses([one.id for one in mem.list().items])
    assert {access.useful for access in left} >= {1}
    assert min(access.day for access in left if not access.useful) > clock.now_us() // 86_400_000_000 - 365
    assert mem.data.rebuild(reextract=True).differences == ()
    assert mem.data.doctor().ok


def test_a_memory_that_never_heard_anything_dreams_of_nothing(mem: Credenda) -> None:
    assert mem.manage.dream().changed == 0
    assert mem.stats().events == 0


def repeat(mem: Credenda, text: str, times: int) -> None:
    """Hold a saying several times, as a way in that reconciles nothing would leave it."""
    draft = Draft(text=text, type=MemoryType.FACT, entity="mill")
    changes = [Add(key=f"new:{at}", draft=draft, support=(), reason="imported") for at in range(times)]
    done = Application(actor=Actor.RULE, now_us=mem._parts.clock.now_us())  # noqa: SLF001 - no public way repeats itself
    mem._parts.store.commit("ana", lambda writer: apply(writer, changes, done))  # noqa: SLF001 - as above


def texts(mem: Credenda) -> list[str]:
    return [one.text for one in mem.list(limit=50).items]


@pytest.mark.requirement("E-067", "D-031")
def test_clusters_of_five_go_to_the_judge_and_smaller_ones_wait_for_consolidation(mem: Credenda) -> None:
    mem.remember("Hello there.")
    repeat(mem, "The mill lends its hall.", 5)
    repeat(mem, "The wheel of it is broken.", 4)
    for at in range(6):
        mem.store(MemoryUnit(text=f"Eva owns cello number {at}", entity="Eva"))
    planned = step(mem.manage.dream(["merge"], dry_run=True), "merge")
    assert texts(mem).count("The mill lends its hall.") == 5
    done = step(mem.manage.dream(["merge"]), "merge")
    assert planned.counts == done.counts
    assert done.counts["merged"] == 4
    assert texts(mem).count("The mill lends its hall.") == 1
    assert texts(mem).count("The wheel of it is broken.") == 4
    assert sum("cello" in text for text in texts(mem)) == 6, "what differs in a number is never merged"
    merged = mem.list(status="merged", limit=50).items
    assert {one.superseded_by for one in merged} == {mem.list(entity="mill", limit=50).items[-1].id}
    assert mem.manage.dream(["merge"]).changed == 0


def test_the_merge_of_the_night_leaves_the_marks_of_consolidation_where_they_are(mem: Credenda) -> None:
    mem.remember("Hello there.")
    repeat(mem, "The wheel of it is broken.", 4)
    mem.manage.dream(["merge"])
    assert mem.manage.consolidate(force=True).memories_consolidated == 3
