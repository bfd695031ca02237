"""Every decision becomes rows, and a line in the log that is enough to tell the same story again."""

from collections.abc import Callable
from dataclasses import fields

import pytest

from credenda.errors import Conflict, CredendaError, NotFound
from credenda.model.change import (
    Actor,
    Change,
    Confirm,
    Contest,
    ContestState,
    Delete,
    Forget,
    Pin,
    Resolve,
    Restore,
    SetLayer,
    SetStatus,
    Supersede,
)
from credenda.model.memory import TRANSITIONS, UNTRUE, Cardinality, Draft, Layer, MemoryType, Relation, Stance, Status

from .build import MEETINGS, START, House, add, draft, support

DRAFT_FIELDS = [field.name for field in fields(Draft)]
FULL = draft(
    "I prefer tea in the morning",
    type=MemoryType.PREFERENCE,
    topic="kitchen",
    entity="user",
    attribute="drink",
    value="tea",
    scope="in the morning",
    cardinality=Cardinality.SET,
    stance=Stance.REPORTED,
    speaker="Bob",
    confidence=0.7,
    importance=0.6,
    layer=Layer.EPISODIC,
    status=Status.CHALLENGED,
    valid_from_us=START - 5,
    valid_until_us=START + 5,
    trust=0.4,
    pinned=True,
    provisional=True,
    source_session="s1",
    tags=("a", "b"),
    metadata={"n": [1, {"x": None}]},
    expires_us=START + 9,
)
MORNING = draft("I prefer mornings", entity="user", attribute="meeting_time", value="morning")
AFTERNOON = draft("I prefer afternoons", entity="user", attribute="meeting_time", value="afternoon")


def replaced(memory_id: str, successor: str | None = None, relation: Relation = Relation.CHANGED) -> Supersede:
    return Supersede(
        memory_id=memory_id, successor=successor, relation=relation, valid_until_us=START, reason="said otherwise"
    )


def moved_to(memory_id: str, status: Status) -> SetStatus:
    return SetStatus(memory_id=memory_id, status=status, reason="by hand")


def contest(*ids: str, values: tuple[str, ...] = ("morning", "afternoon")) -> Contest:
    return Contest(slot=MEETINGS, memory_ids=ids, values=values, question="Which?", reason="it alternates")


def test_an_added_memory_has_all_that_its_draft_says(house: House) -> None:
    event = house.say("I prefer tea in the morning, says Bob.")
    applied = house.apply(add("one", FULL, support(event, 0, 26)), cause=event)
    held = house.memory(applied.ids["new:one"])
    assert {name: getattr(held, name) for name in DRAFT_FIELDS} == {name: getattr(FULL, name) for name in DRAFT_FIELDS}
    assert (held.version, held.base_importance, held.confirmations, held.contested) == (1, 0.6, 0, False)
    assert held.created_us == held.recorded_us == START
    (evidence,) = house.see(lambda reader: reader.evidence(memory_ids=[held.id]))
    assert (evidence.span.event_id, evidence.span.start, evidence.span.stop) == (event, 0, 26)
    (record,) = applied.records
    assert (record.kind, record.actor, record.cause, record.memory_id) == ("add", Actor.RULE, event, held.id)
    assert [one.id for one in house.log()] == [record.id]


def test_the_log_of_an_addition_holds_only_what_is_not_usual(house: House) -> None:
    (change,) = house.log(house.add(draft("Lives in Graz")))
    assert change.after == {"type": "fact", "text": "Lives in Graz"}
    (full,) = house.log(house.add(FULL))
    assert set(full.after) == set(DRAFT_FIELDS)
    assert full.before == {}


def test_said_again_is_counted_and_not_copied(house: House) -> None:
    memory_id = house.add()
    event = house.say("I live in Graz.")
    house.apply(Confirm(memory_id=memory_id, support=(support(event, 0, 15),), reason="said again"))
    (held,) = house.versions(memory_id)
    assert held.confirmations == 1
    assert [one.span.event_id for one in house.see(lambda reader: reader.evidence(memory_ids=[memory_id]))] == [event]
    assert [(change.kind, change.before, change.after) for change in house.log(memory_id)][1:] == [("confirm", {}, {})]


def test_a_memory_added_in_the_same_batch_is_named_by_its_key(house: House) -> None:
    event = house.say("Graz, no, Linz. And Wien.")
    old = house.add()
    applied = house.apply(
        add("linz", draft("Lives in Linz")),
        replaced(old, "new:linz"),
        Confirm(memory_id="new:linz", support=(support(event, 0, 4),), reason="said again"),
        add("wien", draft("Lives in Wien")),
        replaced("new:linz", "new:wien"),
        Pin(memory_id="new:wien", pinned=True, reason="important"),
    )
    linz, wien = applied.ids["new:linz"], applied.ids["new:wien"]
    assert house.memory(old).superseded_by == linz
    assert (house.memory(linz).superseded_by, house.memory(linz).confirmations) == (wien, 1)
    assert house.memory(wien).pinned
    assert [change.memory_id for change in applied.records] == [linz, old, linz, wien, linz, wien]


@pytest.mark.parametrize(
    ("relation", "status"),
    [
        (Relation.CHANGED, Status.SUPERSEDED),
        (Relation.CORRECTED, Status.SUPERSEDED),
        (Relation.REFINED, Status.SUPERSEDED),
        (Relation.MERGED, Status.MERGED),
        (Relation.DUPLICATE, Status.MERGED),
    ],
)
@pytest.mark.requirement("R-077")
def test_what_is_replaced_stays_as_an_earlier_version(house: House, relation: Relation, status: Status) -> None:
    old, new = house.add(), house.add(draft("Lives in Linz"))
    house.apply(replaced(old, new, relation))
    first, second = house.versions(old)
    assert (first.version, first.status, first.expired_us) == (1, Status.ACTIVE, second.recorded_us)
    assert (second.version, second.status, second.relation) == (2, status, relation)
    assert (second.superseded_by, second.valid_until_us, second.expired_us) == (new, START, None)
    change = house.log(old)[-1]
    assert change.before == {"status": "active", "relation": None, "superseded_by": None, "valid_until_us": None}
    assert change.after == {
        "status": status,
        "relation": relation,
        "superseded_by": new,
        "valid_until_us": START,
    }


def test_a_value_may_end_without_a_successor(house: House) -> None:
    memory_id = house.add()
    house.apply(replaced(memory_id))
    assert house.memory(memory_id).superseded_by is None
    assert "superseded_by" not in house.log(memory_id)[-1].after


MADE: list[tuple[Callable[[str], Change], str, object, object]] = [
    (lambda name: SetLayer(memory_id=name, layer=Layer.EPISODIC, reason="r"), "layer", "semantic", "episodic"),
    (lambda name: Pin(memory_id=name, pinned=True, reason="r"), "pinned", False, True),
    (lambda name: Forget(memory_id=name, reason="r"), "status", "active", "forgotten"),
    (lambda name: moved_to(name, Status.CHALLENGED), "status", "active", "challenged"),
]


@pytest.mark.parametrize(("made", "field", "before", "after"), MADE)
def test_one_field_moves_and_only_it_is_logged(
    house: House, *, made: Callable[[str], Change], field: str, before: object, after: object
) -> None:
    memory_id = house.add()
    (record,) = house.apply(made(memory_id), actor=Actor.USER).records
    assert getattr(house.memory(memory_id), field) == after
    assert (record.before, record.after, record.actor) == ({field: before}, {field: after}, "user")
    assert house.memory(memory_id).version == 2


def test_restoring_gives_back_the_status_that_was(house: House) -> None:
    memory_id = house.add(draft(status=Status.CHALLENGED))
    house.apply(Forget(memory_id=memory_id, reason="r"))
    house.apply(Restore(memory_id=memory_id, status=Status.CHALLENGED, reason="r"))
    assert [one.status for one in house.versions(memory_id)] == ["challenged", "forgotten", "challenged"]


def test_what_ends_gets_an_end_and_what_is_held_again_loses_it(house: House) -> None:
    old, new = house.add(), house.add(draft("Lives in Linz"))
    house.apply(moved_to(new, Status.INVALIDATED), replaced(old, new))
    assert house.memory(new).valid_until_us == START
    house.apply(moved_to(old, Status.ACTIVE), moved_to(new, Status.CHALLENGED))
    for held in (house.memory(old), house.memory(new)):
        assert (held.valid_until_us, held.superseded_by, held.relation) == (None, None, None)


def test_an_end_that_was_known_is_kept(house: House) -> None:
    memory_id = house.add(draft(valid_until_us=START - 7))
    house.apply(moved_to(memory_id, Status.INVALIDATED))
    assert house.memory(memory_id).valid_until_us == START - 7


_ILLEGAL = [(old, new) for old in Status for new in Status if new not in TRANSITIONS[old]]


@pytest.mark.parametrize(("old", "new"), _ILLEGAL)
def test_an_illegal_move_is_refused_and_the_whole_batch_undone(house: House, old: Status, new: Status) -> None:
    memory_id = house.add(draft(status=old, valid_until_us=START if old in UNTRUE else None))
    before = (house.all(), house.log(), house.counts())
    with pytest.raises(Conflict, match=old):
        house.apply(add("other"), moved_to(memory_id, new))
    assert (house.all(), house.log(), house.counts()) == before


@pytest.mark.parametrize(("old", "new"), [(old, new) for old in Status for new in sorted(TRANSITIONS[old])])
def test_every_legal_move_can_be_made(house: House, old: Status, new: Status) -> None:
    memory_id = house.add(draft(status=old, valid_until_us=START if old in UNTRUE else None))
    house.apply(moved_to(memory_id, new))
    assert house.memory(memory_id).status is new
    assert new not in UNTRUE or house.memory(memory_id).valid_until_us is not None


@pytest.mark.parametrize("unknown", ["m999-{tag}", "m1-000000", "e1-{tag}", "new:nobody"])
def test_a_memory_that_is_not_there_stops_the_batch(house: House, unknown: str) -> None:
    house.add()
    tag = house.see(lambda reader: reader.tenant.tag)
    name = unknown.replace("{tag}", tag)
    before = (house.all(), house.log())
    changes: list[Change] = [replaced(name), Pin(memory_id=name, pinned=True, reason="r")]
    changes.append(Confirm(memory_id=name, support=(), reason="r"))
    for change in changes[: 2 if unknown == "m999-{tag}" else 3]:
        with pytest.raises(NotFound):
            house.apply(add("other"), change)
    assert (house.all(), house.log()) == before


@pytest.mark.requirement("R-083")
def test_a_contest_flags_its_memories_and_brings_the_replaced_back(house: House) -> None:
    old, new = house.add(MORNING), house.add(AFTERNOON)
    house.apply(replaced(old, new))
    house.apply(contest(old, new))
    (case,) = house.see(lambda reader: reader.contests())
    assert (case.state, case.memory_ids, case.values) == (ContestState.OPEN, (old, new), ("morning", "afternoon"))
    assert (case.opened_us, case.question) == (START, "Which?")
    for held in (house.memory(old), house.memory(new)):
        assert (held.status, held.contested, held.superseded_by, held.valid_until_us) == ("active", True, None, None)
    assert house.log(new)[-1].after == {"contested": True}
    assert case.id in house.log(new)[-1].reason


def test_a_third_value_joins_the_same_contest(house: House) -> None:
    old, new = house.add(MORNING), house.add(AFTERNOON)
    house.apply(contest(old, new))
    applied = house.apply(
        add("noon", draft("At noon", entity="User", attribute="Meeting Time", value="noon")),
        contest(old, new, "new:noon", values=("morning", "afternoon", "noon")),
    )
    (case,) = house.see(lambda reader: reader.contests())
    assert case.values == ("morning", "afternoon", "noon")
    assert case.memory_ids == (old, new, applied.ids["new:noon"])
    assert [len(house.log(one)) for one in case.memory_ids] == [2, 2, 2]


def test_an_answer_closes_the_contest_and_clears_its_flags(house: House) -> None:
    old, new = house.add(MORNING), house.add(AFTERNOON)
    house.apply(contest(old, new))
    (case,) = house.see(lambda reader: reader.contests())
    resolve = Resolve(
        contest_id=case.id, resolution="afternoon", scopes={"afternoon": "default"}, keep=(new,), reason="answered"
    )
    house.apply(resolve, replaced(old, new), actor=Actor.USER)
    (closed,) = house.see(lambda reader: reader.contests())
    assert (closed.state, closed.resolution, closed.resolved_us) == (ContestState.RESOLVED, "afternoon", START)
    assert closed.scopes == {"afternoon": "default"}
    assert [house.memory(one).contested for one in (old, new)] == [False, False]
    house.apply(contest(old, new))
    (reopened,) = house.see(lambda reader: reader.contests())
    assert (reopened.id, reopened.state, reopened.opened_us) == (case.id, ContestState.OPEN, START)


@pytest.mark.requirement("R-171")
def test_deleting_takes_the_words_out_of_every_version_and_of_the_log(house: House) -> None:
    memory_id = house.add(FULL)
    house.apply(Pin(memory_id=memory_id, pinned=False, reason="no more tea"))
    house.apply(Delete(memory_id=memory_id, reason="deleted by the user"), actor=Actor.USER)
    versions = house.versions(memory_id)
    assert [one.status for one in versions] == ["challenged", "challenged", "deleted"]
    for one in versions:
        assert (one.text, one.value, one.attribute, one.entity, one.scope, one.topic) == ("", *[None] * 5)
        assert (one.tags, one.metadata) == ((), {})
    log = house.log(memory_id)
    assert [(change.kind, change.reason) for change in log] == [(kind, "redacted") for kind in ("add", "pin", "delete")]
    assert [dict(change.after) for change in log[1:]] == [{"pinned": False}, {"status": "deleted"}]
    assert not {"text", "value", "attribute", "entity", "scope", "topic", "tags", "metadata"} & set(log[0].after)
    assert log[0].after["status"] == "challenged"
    assert house.see(lambda reader: reader.nominate(["tea"], 10)) == []
    house.apply(Delete(memory_id=memory_id, reason="again"))
    assert len(house.versions(memory_id)) == 3
    with pytest.raises(CredendaError):
        house.apply(moved_to(memory_id, Status.ACTIVE))
