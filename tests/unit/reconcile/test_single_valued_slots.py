"""Slots that hold one value at a time: said again, replaced, corrected, refined."""

from dataclasses import replace
from typing import Any

import pytest

from credenda.model.change import Add, Confirm, Supersede
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Cardinality, Layer, MemoryType, Relation, Stance, Status
from credenda.write.reconcile.decide import claim_hash, decide
from credenda.write.reconcile.slots import SlotRows

from .build import World, claim, day, kinds, memory, occasion, only, prefers


@pytest.mark.requirement("R-075")
def test_a_first_saying_is_added_with_all_it_carries() -> None:
    said = claim("Linz", topic=None, tags=("home",), importance=0.7)
    when = occasion(3, trust=0.7, session="s9", topic="life", tags=("x", "home"), expires_us=day(99), metadata={"k": 1})
    add = only(Add, decide(said, SlotRows(), when))
    draft = add.draft
    assert (draft.text, draft.value, draft.topic, draft.tags) == (said.text, "Linz", "life", ("x", "home"))
    assert (draft.confidence, draft.importance, draft.trust) == (0.9, 0.7, 0.7)
    assert (draft.valid_from_us, draft.expires_us, draft.source_session) == (day(3), day(99), "s9")
    assert (draft.layer, draft.status, draft.metadata) == (Layer.SEMANTIC, Status.ACTIVE, {"k": 1})
    assert [one.claim_hash for one in add.support] == [claim_hash(said)]
    assert add.key.startswith("new:")


@pytest.mark.requirement("D-008", "S-094")
@pytest.mark.parametrize("again", ["Linz", "linz", " LINZ. ", "the Linz"])
def test_the_same_value_is_counted_not_copied(again: str) -> None:
    world = World()
    world.tell(claim("Linz"))
    changes = world.tell(claim(again, text="Linz is where I live"), at=2)
    assert kinds(changes) == ["Confirm"]
    assert world.of("Linz").confirmations == 1
    assert len(world.evidence) == 2


@pytest.mark.requirement("R-081", "C-004")
@pytest.mark.parametrize("move", [UpdateKind.STATE, UpdateKind.CHANGE])
def test_another_value_supersedes_and_keeps_the_old_with_its_interval(move: UpdateKind) -> None:
    world = World()
    world.tell(claim("Graz"))
    changes = world.tell(claim("Linz", move=move), at=10)
    assert kinds(changes) == ["Add", "Supersede"]
    old = world.of("Graz")
    assert (old.status, old.relation, old.superseded_by) == (Status.SUPERSEDED, Relation.CHANGED, world.of("Linz").id)
    assert old.valid_until_us == day(10) == world.of("Linz").valid_from_us
    assert (world.true_at(5), world.true_at(10)) == (["Graz"], ["Linz"])


@pytest.mark.requirement("R-077", "R-078")
def test_nothing_is_deleted_and_the_chain_of_beliefs_can_be_walked_back() -> None:
    world = World()
    for number, city in enumerate(["Graz", "Linz", "Wels"]):
        world.tell(claim(city, move=UpdateKind.CHANGE), at=number * 100)
    chain = [world.of("Graz")]
    while (successor := chain[-1].superseded_by) is not None:
        chain.append(world.memories[successor])
    assert [one.value for one in chain] == ["Graz", "Linz", "Wels"]
    assert [one.status for one in chain] == [Status.SUPERSEDED, Status.SUPERSEDED, Status.ACTIVE]


@pytest.mark.requirement("R-080")
def test_what_was_believed_on_any_day_can_be_told() -> None:
    world = World()
    for number, city in enumerate(["Graz", "Linz", "Wels"]):
        world.tell(claim(city, move=UpdateKind.CHANGE), at=number * 100)
    assert [world.true_at(at) for at in (0, 99, 100, 250)] == [["Graz"], ["Graz"], ["Linz"], ["Wels"]]


@pytest.mark.requirement("R-082", "C-005", "S-041")
def test_a_correction_leaves_no_trace_in_what_was_true() -> None:
    world = World()
    world.tell(claim("EST", "timezone"))
    world.tell(claim("PST", "timezone", move=UpdateKind.CORRECT, prior="EST"), at=10)
    assert world.of("EST").relation is Relation.CORRECTED
    assert world.true_at(5) == ["PST"], "the truth holds since the error was held"
    assert world.values() == ["PST"]


@pytest.mark.requirement("R-082")
def test_a_correction_that_names_its_own_time_keeps_it() -> None:
    world = World()
    world.tell(claim("Graz"))
    world.tell(claim("Linz", move=UpdateKind.CORRECT, valid_from_us=day(4)), at=10)
    assert world.of("Linz").valid_from_us == day(4)


@pytest.mark.requirement("S-041")
def test_a_correction_replaces_the_current_value_though_it_names_a_third() -> None:
    world = World()
    world.tell(claim("Rome"))
    world.tell(claim("Split", move=UpdateKind.CORRECT, prior="Zagreb"), at=1)
    assert world.values() == ["Split"]
    assert world.of("Rome").relation is Relation.CORRECTED


@pytest.mark.requirement("D-008")
@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ("school in Kiel", "the Waldorf school in Kiel", Relation.REFINED),
        ("Tuesday", "Tuesday 3 pm", Relation.REFINED),
        ("JavaScript", "TypeScript over JavaScript", Relation.CHANGED),
        ("Paris", "Paris or London", Relation.CHANGED),
        ("10 km", "10 000 km", Relation.CHANGED),
        ("engineer", "former engineer", Relation.CHANGED),
        ("Graz", "Linz", Relation.CHANGED),
    ],
)
def test_telling_more_about_the_same_value_refines_it(old: str, new: str, relation: Relation) -> None:
    world = World()
    world.tell(claim(old))
    world.tell(claim(new), at=1)
    assert world.of(old).relation is relation
    assert world.values() == [new]


@pytest.mark.requirement("S-094")
def test_the_vaguer_value_said_again_confirms_the_more_exact_one() -> None:
    world = World()
    for number, school in enumerate(["school", "school in Kiel", "the Waldorf school in Kiel"]):
        world.tell(prefers(school, "son_school"), at=number)
    assert kinds(world.tell(prefers("school", "son_school"), at=4)) == ["Confirm"]
    assert world.values() == ["the Waldorf school in Kiel"]


@pytest.mark.requirement("R-076")
def test_slots_are_compared_in_normal_form() -> None:
    world = World()
    world.tell(claim("green", "Favourite colour", entity="User"))
    world.tell(claim("blue", "favourite_colour", entity="the user"), at=1)
    assert world.values() == ["blue"]


@pytest.mark.requirement("R-075")
@pytest.mark.parametrize(
    "lacking",
    [{"entity": None}, {"attribute": None}, {"value": None}, {"type": MemoryType.NARRATIVE}],
)
def test_without_a_whole_slot_only_equal_words_are_the_same(lacking: dict[str, Any]) -> None:
    world = World()
    parts: dict[str, Any] = {"value": "x", "attribute": "plan", "text": "We meet at ten", **lacking}
    first = claim(**parts)
    world.tell(first)
    again = world.tell(replace(first, text="we meet at TEN."), at=1)
    other = world.tell(replace(first, text="We meet at nine"), at=2)
    assert (kinds(again), kinds(other)) == (["Confirm"], ["Add"])


def test_equal_words_with_another_value_are_not_the_same() -> None:
    world = World()
    world.tell(claim("2026-02-01", "demo", text="The demo is tomorrow"))
    world.tell(claim("2026-03-01", "demo", text="The demo is tomorrow"), at=20)
    assert world.values() == ["2026-03-01"]


def test_a_sentence_kept_verbatim_gives_way_when_it_is_understood() -> None:
    world = World()
    world.tell(claim(None, None, text="I live in Linz", provisional=True, confidence=0.3))
    assert world.memories["m1-abc123"].provisional
    changes = world.tell(claim("Linz", text="I live in Linz"), at=1)
    assert kinds(changes) == ["Add", "Supersede"]
    assert world.values() == ["Linz"]


@pytest.mark.requirement("R-018")
def test_a_later_decision_supersedes_the_earlier_one() -> None:
    world = World()
    world.tell(claim("MySQL", "database", type=MemoryType.DECISION))
    world.tell(claim("DuckDB", "database", type=MemoryType.DECISION, move=UpdateKind.CHANGE, prior="MySQL"), at=1)
    assert world.values() == ["DuckDB"]
    assert world.of("DuckDB").layer is Layer.PROCEDURAL


def decides(value: str, scope: str | None, text: str) -> Claim:
    decision = MemoryType.DECISION
    return claim(value, "decision", scope=scope, text=text, type=decision, cardinality=Cardinality.SET)


@pytest.mark.requirement("R-018")
@pytest.mark.parametrize(
    ("text", "value", "scope", "left"),
    [
        ("We've decided on MariaDB for the shop database instead.", "MariaDB", "shop database", ["MariaDB"]),
        ("We've now decided on MariaDB for the shop database.", "MariaDB", "shop database", ["MariaDB"]),
        ("After all, we decided on MariaDB for the shop database.", "MariaDB", "shop database", ["MariaDB"]),
        ("We changed our mind: MariaDB for the shop database.", "MariaDB", None, ["MariaDB"]),
        ("We've decided on MariaDB for the shop database after all.", "MariaDB", "shop", ["MariaDB"]),
        ("We've decided on flat files for the shop database instead.", "flat files", "shop database", ["flat files"]),
        ("We've decided on MariaDB for the shop database.", "MariaDB", "shop database", ["MySQL", "MariaDB"]),
        ("We've decided on MariaDB for the shop database too.", "MariaDB", "shop database", ["MySQL", "MariaDB"]),
        ("We've decided on Redis for the session cache instead.", "Redis", "session cache", ["MySQL", "Redis"]),
        ("We've decided on Kafka for the shop database events instead.", "Kafka", None, ["MySQL", "Kafka"]),
        ("We've decided on backups for the shop database now.", "backups", "shop database", ["MySQL", "backups"]),
        ("We've decided on Hugo instead.", "Hugo", None, ["MySQL", "Hugo"]),
    ],
)
def test_a_later_decision_about_the_same_thing_needs_a_word_of_change(
    text: str, value: str, scope: str | None, left: list[str]
) -> None:
    world = World()
    world.tell(decides("MySQL", "shop database", "We decided on MySQL for the shop database."))
    world.tell(decides(value, scope, text), at=2)
    assert world.values() == left


@pytest.mark.requirement("R-018")
def test_of_several_decisions_about_a_thing_none_is_replaced_unnamed() -> None:
    world = World()
    for at, value in enumerate(("MySQL", "Redis")):
        world.tell(decides(value, "shop", f"We decided on {value} for the shop."), at=at)
    world.tell(decides("Vue", "shop", "We decided on Vue for the shop instead."), at=3)
    assert world.values() == ["MySQL", "Redis", "Vue"]


@pytest.mark.requirement("R-018")
def test_a_decision_doubts_a_fact_until_it_is_said_to_be_done() -> None:
    world = World()
    world.tell(claim("MySQL", "database"))
    decided = world.tell(claim("Postgres", "database", type=MemoryType.DECISION), at=1)
    assert kinds(decided) == ["Add", "SetStatus"]
    assert world.of("MySQL").status is Status.CHALLENGED
    repeated = world.tell(claim("MySQL", "database"), at=2)
    assert kinds(repeated) == ["Confirm"], "still doubted: the decision stands"
    world.tell(claim("Postgres", "database", move=UpdateKind.CHANGE), at=3)
    assert sorted(world.values()) == ["Postgres", "Postgres"], "the decision, and the fact that it is done"
    assert world.of("MySQL").relation is Relation.CHANGED


@pytest.mark.requirement("R-018")
def test_a_decision_and_the_next_one_leave_a_preference_alone() -> None:
    world = World()
    world.tell(prefers("Postgres", "database"))
    for at, name in enumerate(("MySQL", "MariaDB"), 1):
        world.tell(claim(name, "database", type=MemoryType.DECISION, move=UpdateKind.CHANGE, prior="MySQL"), at=at)
    assert world.of("Postgres").status is Status.ACTIVE
    assert sorted(world.values()) == ["MariaDB", "Postgres"]
    assert kinds(world.tell(prefers("Postgres", "database"), at=3)) == ["Confirm"]


@pytest.mark.requirement("R-018")
def test_a_preference_for_what_was_decided_against_is_no_doubt() -> None:
    world = World()
    world.tell(prefers("Postgres", "database"))
    world.tell(claim("MySQL", "database", type=MemoryType.DECISION, prior="Postgres"), at=1)
    assert world.of("Postgres").status is Status.ACTIVE


@pytest.mark.requirement("R-018")
def test_a_procedure_stands_beside_a_preference() -> None:
    world = World()
    world.tell(prefers("tabs", "indentation"))
    changes = world.tell(claim("run the formatter", "indentation", type=MemoryType.PROCEDURE), at=1)
    assert kinds(changes) == ["Add"]
    assert len(world.values()) == 2


def test_a_doubted_memory_stands_again_when_it_is_said_again() -> None:
    held = memory("Linz", status=Status.CHALLENGED)
    changes = decide(claim("Linz"), SlotRows(current=(held,)), occasion(1))
    assert kinds(changes) == ["Confirm", "SetStatus"]


def test_what_was_put_away_is_taken_up_again_when_it_is_said_again() -> None:
    held = memory("Linz", status=Status.ARCHIVED)
    assert kinds(decide(claim("Linz"), SlotRows(current=(held,)), occasion(1))) == ["Confirm", "SetStatus"]


def test_never_mind_takes_back_the_previous_statement_and_what_it_replaced_holds_again() -> None:
    world = World()
    world.tell(claim("Graz"))
    world.tell(claim("Linz"), at=1)
    changes = world.tell(claim(None, None, entity=None, text="Never mind", move=UpdateKind.RETRACT), at=1)
    assert kinds(changes) == ["Forget", "SetStatus"]
    assert world.values() == ["Graz"]
    assert world.tell(claim(None, None, entity=None, text="Never mind", move=UpdateKind.RETRACT), at=1) == []


def test_never_mind_spares_what_other_words_support() -> None:
    world = World()
    world.tell(claim("Linz"))
    world.tell(claim("Linz"), at=1)
    assert world.tell(claim(None, None, entity=None, text="Ignore that", move=UpdateKind.RETRACT), at=1) == []


def test_never_mind_of_one_speaker_spares_another() -> None:
    other = memory("Linz", speaker="Ana")
    retract = claim(None, None, entity=None, text="Never mind", move=UpdateKind.RETRACT)
    assert decide(retract, SlotRows(previous=(other,)), occasion(1)) == []


def test_a_claim_decided_again_gives_only_the_same_confirmation() -> None:
    world = World()
    said = claim("Linz")
    first = world.tell(said)
    when = occasion(0)
    again = decide(said, world.known(said), when)
    assert (kinds(first), kinds(again)) == (["Add"], ["Confirm"])
    assert only(Confirm, again).support[0].claim_hash == claim_hash(said)


def test_reasons_quote_values_shortened_and_never_a_whole_text() -> None:
    world = World()
    world.tell(claim("Graz"))
    changes = world.tell(claim("word " * 60, text="A long story " * 50), at=1)
    reason = only(Supersede, changes).reason
    assert "“Graz”" in reason
    assert len(reason) < 150


def test_the_hash_tells_claims_apart_by_what_they_say_and_where_they_were_read() -> None:
    base = claim("Linz", text="I live in Linz")
    others = [
        claim("Graz", text="I live in Linz"),
        claim("Linz", text="I live in Linz", event="e2-abc123"),
        claim("Linz", text="I live in Linz", scope="work"),
        claim("Linz", text="I live in Linz", speaker="Ana"),
        claim("Linz", text="I live in Linz", stance=Stance.NEGATED),
        claim("Linz", text="I live in Linz", move=UpdateKind.END),
        claim("Linz", text="I live in Linz", type=MemoryType.DECISION),
    ]
    hashes = {claim_hash(one) for one in [base, *others]}
    assert len(hashes) == len(others) + 1
    assert {len(one) for one in hashes} == {16}
    weighed_anew = claim("linz", text="I live in Linz", confidence=0.5, importance=0.1)
    assert claim_hash(weighed_anew) == claim_hash(base)
