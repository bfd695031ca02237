"""What may be shown and with which flags; what stands for what, and in which order."""

from dataclasses import replace
from typing import TypedDict, Unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.model.event import Event, Role
from credenda.model.memory import Memory, Relation, Stance, Status
from credenda.model.query import Flag, Query
from credenda.read.candidates import Row, Signs
from credenda.read.visibility import (
    flag_event,
    flag_memory,
    join,
    lift_verbatim,
    order_by_flags,
    redact_spans,
    was_valid_at,
)

from .build import EventParts, QueryParts, day, memory

NOW = day(10)
ALL = frozenset({"superseded", "low_confidence", "archived"})


class RowParts(TypedDict, total=False):
    memory: Memory
    signs: Signs
    flags: frozenset[Flag]


def event(text: str = "I live in Linz", *, recorded_us: int = day(0), **parts: Unpack[EventParts]) -> Event:
    said = Event(id="e1-abcde1", text=text, role=Role.USER, speaker="user", occurred_us=day(0), recorded_us=recorded_us)
    return replace(said, **parts)


def row(name: str, key: float, **parts: Unpack[RowParts]) -> Row:
    return Row(kind="memory" if name.startswith("m") else "event", id=name, text=name, key=key, **parts)


def flags(held: Memory, **query: Unpack[QueryParts]) -> frozenset[Flag] | None:
    return flag_memory(held, Query(text="q", **query), NOW)


def event_flags(claims: list[Memory], **query: Unpack[QueryParts]) -> frozenset[Flag] | None:
    return flag_event(event(), claims, Query(text="q", **query), NOW)


@pytest.mark.requirement("R-128", "E-015", "E-017", "E-018", "E-019", "C-014")
@pytest.mark.parametrize("status", list(Status))
def test_only_active_and_challenged_memories_are_shown_unasked(status: Status) -> None:
    shown = flags(memory(status=status))
    assert (shown is not None) is (status in {Status.ACTIVE, Status.CHALLENGED})


@pytest.mark.requirement("E-016", "E-020", "C-014")
def test_a_challenged_memory_is_shown_with_its_flag() -> None:
    assert flags(memory(status=Status.CHALLENGED)) == {"challenged"}


@pytest.mark.parametrize("status", [Status.FORGOTTEN, Status.DELETED, Status.CANDIDATE])
def test_what_was_forgotten_deleted_or_held_back_is_never_shown(status: Status) -> None:
    assert flags(memory(status=status), include=ALL) is None


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.MERGED, Status.INVALIDATED])
def test_past_values_come_flagged_where_asked_for(status: Status) -> None:
    assert flags(memory(status=status), include=frozenset({"superseded"})) == {"superseded"}


def test_archived_ones_come_flagged_where_asked_for() -> None:
    assert flags(memory(status=Status.ARCHIVED), include=frozenset({"archived"})) == {"stale"}


@pytest.mark.requirement("R-061", "D-004")
def test_low_confidence_is_left_out_unless_asked_for() -> None:
    unsure = memory(confidence=0.3)
    assert flags(unsure) is None
    assert flags(unsure, min_confidence=0.3) == frozenset()
    assert flags(unsure, include=frozenset({"low_confidence"})) == {"low_confidence"}


@pytest.mark.requirement("R-012")
def test_a_contested_value_is_shown_with_its_flag() -> None:
    assert flags(memory(contested=True)) == {"contested"}


def test_what_ended_by_itself_is_stale_and_what_expired_is_gone() -> None:
    assert flags(memory(valid_until_us=day(5))) == {"stale"}
    assert flags(memory(valid_until_us=day(50))) == frozenset()
    assert flags(memory(expires_us=day(5))) is None


@pytest.mark.requirement("R-080")
def test_as_of_shows_what_was_true_then() -> None:
    past = memory(status=Status.SUPERSEDED, relation=Relation.CHANGED, valid_from_us=day(0), valid_until_us=day(5))
    assert flags(past, as_of_us=day(2)) == frozenset()
    assert flags(past, as_of_us=day(5)) is None
    assert flags(past, as_of_us=day(-1)) is None


def test_as_of_leaves_out_what_was_wrong() -> None:
    wrong = memory(status=Status.SUPERSEDED, relation=Relation.CORRECTED, valid_from_us=day(0), valid_until_us=day(5))
    assert flags(wrong, as_of_us=day(2)) is None


@given(st.integers(-50, 50), st.one_of(st.none(), st.integers(-50, 50)), st.integers(-50, 50))
def test_an_interval_holds_its_start_and_not_its_end(since: int, until: int | None, at: int) -> None:
    held = memory(valid_from_us=day(since), valid_until_us=None if until is None else day(until))
    assert was_valid_at(held, day(at)) is (since <= at and (until is None or at < until))


def test_an_event_nobody_read_is_shown_plainly() -> None:
    assert event_flags([]) == frozenset()


@pytest.mark.parametrize("status", [Status.FORGOTTEN, Status.CANDIDATE])
def test_an_event_goes_with_the_last_of_its_memories(status: Status) -> None:
    gone, held = memory(status=status), memory(id="m2-abcde1")
    assert event_flags([gone], include=ALL) is None
    assert event_flags([gone, held]) == frozenset()


def test_what_a_deletion_left_of_an_event_is_shown() -> None:
    assert event_flags([memory(status=Status.DELETED)]) == frozenset()


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.INVALIDATED])
def test_an_event_whose_memories_are_all_past_is_flagged(status: Status) -> None:
    past, held = memory(status=status), memory(id="m2-abcde1")
    assert event_flags([past]) == {"superseded"}
    assert event_flags([past, held]) == frozenset()


def test_an_event_that_was_absorbed_still_holds() -> None:
    assert event_flags([memory(status=Status.MERGED, superseded_by="m9-abcde1")]) == frozenset()


@pytest.mark.requirement("S-046")
def test_an_event_that_was_folded_before_its_import_may_be_outdated() -> None:
    folded = memory(status=Status.MERGED)
    assert event_flags([folded]) == {"stale"}
    assert event_flags([folded, memory(id="m2-abcde1")]) == frozenset()


@pytest.mark.requirement("S-055")
@pytest.mark.parametrize("status", [Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED])
def test_an_entry_that_names_a_claim_as_previous_brings_its_event_back_in_no_status(status: Status) -> None:
    past = memory(status=Status.SUPERSEDED, relation=Relation.CHANGED, superseded_by="m2-abcde1")
    entry = memory(id="m3-abcde1", status=status, metadata={"consolidated": {"sources": ["m2-abcde1", past.id]}})
    assert "superseded" in (event_flags([past, entry]) or ())


@pytest.mark.requirement("R-128")
def test_an_event_of_a_merged_claim_holds_as_long_as_its_entry() -> None:
    merged = memory(status=Status.MERGED, superseded_by="m3-abcde1")
    entry = memory(id="m3-abcde1", metadata={"consolidated": {"sources": [merged.id]}})
    assert event_flags([merged, entry]) == frozenset()
    assert event_flags([merged, replace(entry, status=Status.SUPERSEDED)]) == {"superseded"}


@pytest.mark.requirement("R-013", "R-040")
@pytest.mark.parametrize("stance", [Stance.HYPOTHETICAL, Stance.ROLE_PLAY, Stance.SARCASTIC])
def test_a_stance_hides_the_claim_and_flags_its_event(stance: Stance) -> None:
    unmeant = memory(stance=stance, confidence=0.3)
    assert flags(unmeant) is None
    assert event_flags([unmeant]) == {"low_confidence"}
    assert event_flags([unmeant, memory(id="m2-abcde1")]) == frozenset()


def test_an_unsure_clause_says_nothing_of_the_rest_of_its_message() -> None:
    said = event("I work at Acme as a cook. I'm wondering if I should move.")
    unsure = memory(stance=Stance.HYPOTHETICAL, confidence=0.3)
    query = Query(text="q")
    assert flag_event(said, [unsure], query, NOW, spans={unsure.id: (36, 57)}) == frozenset()
    assert flag_event(said, [unsure], query, NOW, spans={unsure.id: (0, 57)}) == {"low_confidence"}


def test_an_unsure_plan_is_flagged_and_stays() -> None:
    assert event_flags([memory(stance=Stance.PLANNED, confidence=0.3)]) == {"low_confidence"}


def test_an_event_tells_of_contests_and_doubts() -> None:
    assert event_flags([memory(contested=True), memory(id="m2-abcde1")]) == {"contested"}
    assert event_flags([memory(status=Status.CHALLENGED)]) == {"challenged"}


def test_events_keep_within_the_times_of_the_query() -> None:
    late = event(occurred_us=day(3), recorded_us=day(6))
    for query, shown in (
        (Query(text="q", as_of_us=day(2)), False),
        (Query(text="q", as_of_us=day(3)), True),
        (Query(text="q", known_at_us=day(5)), False),
    ):
        assert (flag_event(late, [], query, NOW) is not None) is shown
    assert flag_event(event(expires_us=day(1)), [], Query(text="q"), NOW) is None
    assert flag_event(event(flags=("quarantined",)), [], Query(text="q"), NOW) is None


def test_forgotten_spans_are_blanked() -> None:
    said = event("I like tea. I live in Linz. Bye")
    assert redact_spans(said, [(12, 27)]).text == "I like tea. […] Bye"
    assert redact_spans(said, []) is said


def test_a_memory_stands_for_its_event_with_the_better_score() -> None:
    rows = [row("m1", 1.0, signs=Signs(coverage=0.9)), row("e1", 3.0, signs=Signs(0.5, 0.9)), row("e2", 2.0)]
    joined = {one.id: one for one in join(rows, {"e1": ["m1"]})}
    assert joined.keys() == {"m1", "e2"}
    assert joined["m1"].key == 3.0
    assert joined["m1"].signs.words == 0.5


def test_an_event_that_has_more_of_the_question_stands_beside_its_memory() -> None:
    """ "My wife is Ruth. She cannot eat nuts." answers what the wife cannot eat; the memory says her name alone."""
    rows = [row("m1", 3.0, signs=Signs(coverage=0.5)), row("e1", 1.0, signs=Signs(coverage=0.9))]
    assert {one.id: one.key for one in join(rows, {"e1": ["m1"]})} == {"m1": 3.0, "e1": 1.0}


def test_an_event_with_hidden_words_never_stands_beside_its_memory() -> None:
    veiled = row("e1", 1.0, signs=Signs(coverage=0.9))._replace(text="[…] She cannot eat nuts.")
    assert {one.id for one in join([row("m1", 3.0), veiled], {"e1": ["m1"]})} == {"m1"}


def test_only_the_best_memory_of_an_event_takes_its_score() -> None:
    joined = {one.id: one.key for one in join([row("m1", 1.0), row("m2", 2.0), row("e1", 9.0)], {"e1": ["m1", "m2"]})}
    assert joined == {"m1": 1.0, "m2": 9.0}


def test_memories_that_repeat_their_event_give_way_to_it_where_it_fits_better() -> None:
    rows = [row("m1", 1.0, memory=memory(attribute="does")), row("m2", 2.0, memory=memory(attribute=None))]
    assert {one.id for one in join([*rows, row("e1", 9.0)], {"e1": ["m1", "m2"]})} == {"e1"}
    assert {one.id for one in join([*rows, row("e1", 1.5)], {"e1": ["m1", "m2"]})} == {"m2"}


def test_a_memory_with_a_slot_stays_for_its_event() -> None:
    rows = [row("m1", 1.0, memory=memory(attribute="residence")), row("m2", 2.0, memory=memory(attribute="experience"))]
    joined = {one.id: one.key for one in join([*rows, row("e1", 9.0)], {"e1": ["m1", "m2"]})}
    assert joined == {"m1": 9.0}


LINKS = st.dictionaries(st.sampled_from(["e1", "e2", "e3"]), st.lists(st.sampled_from(["m1", "m2"]), max_size=2))


@given(st.lists(st.sampled_from(["e1", "e2", "e3", "m1", "m2"]), unique=True), LINKS)
def test_an_event_and_its_memory_never_both_appear(names: list[str], links: dict[str, list[str]]) -> None:
    joined = {one.id for one in join([row(name, float(at)) for at, name in enumerate(names)], links)}
    assert {name for name in names if name.startswith("m")} <= joined
    assert all(joined.isdisjoint(claims) for name, claims in links.items() if name in joined)


def test_the_current_value_rises_above_what_it_replaced() -> None:
    past = row("e1", 5.0, flags=frozenset({"superseded"}))
    ordered = order_by_flags([past, row("m2", 1.0), row("e3", 4.0)], {"e1": "m2"})
    assert [one.id for one in ordered] == ["m2", "e1", "e3"]


def test_what_was_replaced_is_lowered_below_its_successor_and_its_like() -> None:
    past = row("e1", 5.0, flags=frozenset({"superseded"}))
    ordered = order_by_flags([past, row("m2", 1.0), row("e3", 4.5)], {"e1": "m2"}, lambda key: key - 1)
    assert [(one.id, one.key) for one in ordered] == [("m2", 5.0), ("e3", 4.5), ("e1", 4.0)]


def test_an_unsure_event_keeps_a_place_by_its_relevance() -> None:
    unsure = row("e1", 9.0, flags=frozenset({"low_confidence"}))
    ordered = order_by_flags([unsure, row("e2", 7.0), row("e3", 9.5)], {}, lambda key: key - 1)
    assert [one.id for one in ordered] == ["e3", "e1", "e2"]


def test_the_text_that_holds_the_query_comes_first() -> None:
    quoted = row("e1", 1.0, signs=Signs(verbatim=True))
    answer = row("m3", 9.0, signs=Signs(slot=True))
    lifted = lift_verbatim([row("e2", 5.0), quoted, answer], asks=False)
    assert [one.id for one in order_by_flags(lifted, {})] == ["e1", "m3", "e2"]
    asked = lift_verbatim([row("e2", 5.0), quoted, answer], asks=True)
    assert [one.id for one in order_by_flags(asked, {})] == ["m3", "e1", "e2"]


@pytest.mark.requirement("R-062")
def test_an_unsure_memory_comes_after_everything_else_but_may_stand_alone() -> None:
    unsure = row("m1", 9.0, flags=frozenset({"low_confidence"}))
    assert [one.id for one in order_by_flags([unsure, row("m2", 0.1)], {})] == ["m2", "m1"]
    assert [one.id for one in order_by_flags([unsure], {})] == ["m1"]
