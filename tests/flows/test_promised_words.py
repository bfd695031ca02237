"""Promises tried with the sentences and numbers in which they were made, and with others of the same kind."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from credenda import Credenda, MemoryUnit
from credenda.model.memory import Layer, Memory, Status
from credenda.testing import ManualClock, Question, ScriptedModel

Say = Callable[..., None]


def held(mem: Credenda, attribute: str) -> list[tuple[str | None, float]]:
    return [(one.value, one.confidence) for one in mem.list(attribute=attribute, limit=50).items]


def rows(mem: Credenda) -> list[Memory]:
    return list(mem.list(status=None, limit=50).items)


@pytest.mark.requirement("R-013", "R-060")
@pytest.mark.parametrize(
    ("job", "stated", "frame"),
    [
        ("backend engineer", "I'm a backend engineer.", "Actually, I'm a lawyer, so explain it in legal terms."),
        ("backend engineer", "I'm a backend engineer.", "As a surgeon I'd like the details, go deeper."),
        ("backend engineer", "I'm a backend engineer.", "I'm actually a doctor, so walk me through the mechanism."),
        ("nurse", "I'm a nurse.", "As a pilot, I'd want to know more, explain the physics."),
        ("baker", "I work as a baker.", "Speaking as a lawyer, what does clause four mean?"),
        ("teacher", "I'm a teacher.", "Honestly I'm a chemist, so give me the formulas."),
        ("carpenter", "I'm a carpenter.", "As an accountant, please walk me through the balance sheet."),
        ("florist", "I'm a florist.", "I'm basically a sailor, so show me the knots."),
    ],
)
def test_a_role_put_on_to_ask_for_something_leaves_the_true_job(
    mem: Credenda, say: Say, *, job: str, stated: str, frame: str
) -> None:
    say(stated, frame)
    assert held(mem, "job_title") == [(job, 0.85)]
    assert all(one.confidence <= 0.3 and one.value is None for one in rows(mem) if one.text != stated)
    assert all(one.status is Status.ACTIVE for one in rows(mem) if one.text == stated)


@pytest.mark.parametrize(
    "told", ["As a nurse I work nights.", "As a nurse I see a lot of that.", "I'm a nurse, so I work nights."]
)
def test_a_role_that_is_only_stated_is_held(mem: Credenda, say: Say, *, told: str) -> None:
    say(told)
    assert ("nurse", 0.85) in held(mem, "job_title")


@pytest.mark.requirement("S-095")
@pytest.mark.parametrize(
    ("first", "correction", "wrong", "right"),
    [
        ("My friend is called Jon.", "Sorry, his name is John, not Jon.", "Jon", "John"),
        ("My colleague is called Marta.", "Sorry, her name is Marte, not Marta.", "Marta", "Marte"),
        ("My dog is called Rex.", "Correction: its name is Rax, not Rex.", "Rex", "Rax"),
        ("I have a cat called Mia.", "Wait, she's called Maya, not Mia.", "Mia", "Maya"),
        ("My sister Klara lives in Graz.", "Sorry, her name is Clara, not Klara.", "Klara", "Clara"),
        ("My daughter's name is Lea.", "Actually her name is Leah, not Lea.", "Lea", "Leah"),
        ("My name is Jon.", "Sorry, it's John, not Jon.", "Jon", "John"),
        ("I live in Graz.", "Sorry, it's Linz, not Graz.", "Graz", "Linz"),
        ("My employer is Bosch.", "Wait, it's Siemens, not Bosch.", "Bosch", "Siemens"),
        ("The meeting is on Tuesday.", "Sorry, it's Thursday, not Tuesday.", "Tuesday", "Thursday"),
    ],
)
def test_a_name_is_corrected_by_a_pronoun(
    mem: Credenda, say: Say, *, first: str, correction: str, wrong: str, right: str
) -> None:
    say(first, correction)
    values = {one.value: one for one in rows(mem)}
    assert values[wrong].status is Status.SUPERSEDED
    assert values[wrong].relation == "corrected"
    assert values[right].status is Status.ACTIVE
    assert values[right].attribute == values[wrong].attribute


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My boss is Tom.", "Sorry, it's Linz, not Graz."),
        ("I live in Graz.", "The capital of Austria? It's Vienna, not Graz."),
        ("Tom works at Bosch.", "Sorry, it's Siemens, not Bosch."),
    ],
)
def test_what_corrects_nothing_that_is_held_changes_and_adds_nothing(
    mem: Credenda, say: Say, *, first: str, second: str
) -> None:
    say(first)
    before = [(one.id, one.value, one.status) for one in rows(mem)]
    say(second)
    assert [(one.id, one.value, one.status) for one in rows(mem)] == before


def test_the_name_of_nobody_known_is_not_that_of_the_user(mem: Credenda, say: Say) -> None:
    say("My name is Ana.", "Sorry, her name is Marte, not Marta.")
    assert held(mem, "name") == [("Ana", 0.85)]
    assert [one.text for one in rows(mem) if one.value is None] == ["Sorry, her name is Marte, not Marta."]


LIKED = "I like tea. I like coffee. I like jam. I like rice. I like figs. I like kale. I like corn."
MANY = "My name is Ana. I like figs. I like kale. I like corn. I like rye. I like jam. I'm allergic to nuts."


def quote_likes(names: tuple[str, ...]) -> list[dict[str, object]]:
    return [{"quote": f"I like {name}.", "attribute": "likes", "value": name} for name in names]


@pytest.mark.requirement("R-046")
@pytest.mark.parametrize("model", [False, True])
def test_one_verbose_message_gives_at_most_five_memories(path: Path, *, model: bool) -> None:
    answer = quote_likes(("tea", "coffee", "jam", "rice", "figs", "kale", "corn"))
    llm = ScriptedModel(lambda _: answer) if model else None
    with Credenda.open(path, user="ana", workers=False, llm=llm) as mem:
        mem.remember(LIKED)
        mem.settle()
        assert len(rows(mem)) == 5
        mem.remember("Thanks, that's helpful!")  # nothing is a valid number, too
        mem.settle()
        assert len(rows(mem)) == 5


@pytest.mark.requirement("R-046")
def test_of_many_facts_the_weightiest_are_kept_and_all_on_request(path: Path) -> None:
    with Credenda.open(path, user="ana", workers=False) as mem:
        mem.remember(MANY)
        mem.settle()
        values = {one.value for one in rows(mem)}
        assert len(values) == 5
        assert {"Ana", "nuts"} <= values
        assert [hit.text for hit in mem.search("Do I like jam?", kinds=["event"]).hits] == [MANY]
    with Credenda.open(
        path.with_name("all.db"), user="ana", workers=False, settings={"memories_per_message": 50}
    ) as mem:
        mem.remember(MANY)
        mem.settle()
        assert len(rows(mem)) == 7


def test_what_a_message_ends_or_corrects_is_done_beside_five_new_facts(mem: Credenda, say: Say) -> None:
    say("I work at Google.", "I like tea, jam, rice, figs, kale and corn. I left Google, I'm at Microsoft now.")
    employers = {one.value: one.status for one in rows(mem) if one.attribute == "employer"}
    assert employers == {"Google": Status.SUPERSEDED, "Microsoft": Status.ACTIVE}
    assert sum(one.attribute == "likes" for one in rows(mem)) < 6


@pytest.mark.requirement("R-041", "R-060", "C-022")
def test_irony_is_no_liking_and_what_is_kept_of_it_is_in_no_answer(mem: Credenda, say: Say) -> None:
    say("Oh great, another meeting", "Yeah right, I love standups at 7am")
    assert not held(mem, "likes")
    assert all(one.confidence <= 0.3 for one in rows(mem))
    for question in ("Do I love standups at 7am?", "another meeting"):
        assert all(hit.memory is None for hit in mem.search(question).hits)
        assert all("unsure" in line for line in mem.context(question).text.splitlines() if "standups" in line)


@pytest.mark.requirement("R-054", "R-055")
def test_a_fact_repeated_across_sessions_gains_importance(mem: Credenda, say: Say) -> None:
    told = "I work at a fintech startup."
    weights = list[float]()
    for session in ("s1", "s1", "s2", "s3", "s4", "s5", "s6", "s7"):
        say(told, days=3, session=session)
        (one,) = mem.list(attribute="employer").items
        weights.append(one.importance)
    assert weights == [0.7, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.0]
    assert one.base_importance == 0.7
    assert mem.data.rebuild().differences == ()
    assert mem.data.rebuild(reextract=True).differences == ()
    assert mem.data.doctor().ok


@pytest.mark.requirement("R-054")
def test_another_day_is_another_session_where_none_is_named(mem: Credenda, say: Say) -> None:
    say("I'm allergic to peanuts.", "I'm allergic to peanuts.", days=0)
    (one,) = mem.list(attribute="allergy").items
    assert one.importance == 0.85
    say("My favourite tea is oolong.", "My favourite tea is oolong.", days=2)
    (tea,) = mem.list(attribute="favourite_tea").items
    assert tea.importance == 0.8


@pytest.mark.requirement("E-060")
@pytest.mark.parametrize("profile", ["layered", "recall"])
def test_two_accesses_promote_a_working_memory_within_minutes(path: Path, clock: ManualClock, profile: str) -> None:
    settings = {"decay_profile": profile}
    with Credenda.open(path, user="ana", clock=clock, workers=False, settings=settings) as mem:
        mem.store(MemoryUnit(text="Currently fixing the login bug", layer=Layer.WORKING))
        for expected in (Layer.WORKING, Layer.EPISODIC):
            assert mem.search("login bug").hits
            clock.advance(timedelta(minutes=3))
            mem.manage.lifecycle()
            (one,) = mem.list().items
            assert (one.layer, one.access_count) == (expected, 1)


@pytest.mark.requirement("E-060")
def test_without_an_access_it_takes_thirty_minutes(mem: Credenda, clock: ManualClock) -> None:
    mem.store(MemoryUnit(text="Currently fixing the login bug", layer=Layer.WORKING))
    for minutes, expected in ((29, Layer.WORKING), (2, Layer.EPISODIC)):
        clock.advance(timedelta(minutes=minutes))
        mem.manage.lifecycle()
        assert [one.layer for one in mem.list().items] == [expected]


NINE = ("base", "access", "recency", "emotion", "stability", "layer", "trust", "confirmation", "activation")


@pytest.mark.requirement("E-024", "E-025", "E-026", "E-027", "E-028", "E-029", "E-030", "E-031", "E-032")
def test_the_nine_factors_and_their_sum_are_seen(mem: Credenda, clock: ManualClock, say: Say) -> None:
    say("I'm allergic to peanuts.")
    for _ in range(2):
        assert mem.search("peanuts").hits
        clock.advance(timedelta(days=4))
    mem.manage.decay()
    (one,) = mem.list().items
    earned = mem.why(one.id).earned
    assert earned is not None
    assert tuple(earned.factors) == tuple(earned.terms) == NINE
    assert earned.score == pytest.approx(sum(earned.terms.values()))
    assert earned.factors["base"] == one.importance
    assert earned.factors["access"] == pytest.approx(math.log(3) / math.log(21))
    assert all(earned.factors[name] > 0 for name in NINE if name != "confirmation")
    (point,) = mem.manage.retention().points
    assert point.earned == earned


@pytest.mark.parametrize(
    ("told", "kind", "value", "importance"),
    [
        pytest.param("I always use dark mode", "preference", "dark mode", 0.8, marks=pytest.mark.requirement("R-034")),
        pytest.param(
            "I'm a backend engineer", "fact", "backend engineer", 0.7, marks=pytest.mark.requirement("R-035", "R-055")
        ),
        pytest.param("I chose PostgreSQL", "decision", "PostgreSQL", 0.8, marks=pytest.mark.requirement("R-036")),
        pytest.param("We picked Vim over Nano for the course.", "decision", "Vim", 0.8),
        pytest.param(
            "No, I use pytest not unittest", "fact", "pytest", 0.8, marks=pytest.mark.requirement("R-037", "R-054")
        ),
    ],
)
def test_what_is_worth_a_memory_has_its_type_and_weight(
    mem: Credenda, say: Say, *, told: str, kind: str, value: str, importance: float
) -> None:
    say(told)
    assert [(one.type, one.value, one.importance) for one in rows(mem)] == [(kind, value, importance)]


@pytest.mark.requirement("R-037")
def test_a_correction_overrides_the_belief_before(mem: Credenda, say: Say) -> None:
    say("I use unittest.", "No, I use pytest not unittest")
    states = {one.value: (one.status, one.relation) for one in rows(mem)}
    assert states == {"unittest": (Status.SUPERSEDED, "corrected"), "pytest": (Status.ACTIVE, None)}


@pytest.mark.parametrize(
    "told",
    [
        pytest.param("Thanks, that's helpful!", marks=pytest.mark.requirement("R-038")),
        pytest.param("I'm tired today", marks=pytest.mark.requirement("R-039")),
        pytest.param("Oh great, another meeting", marks=pytest.mark.requirement("R-041")),
        pytest.param("we decided to use Python for this task", marks=pytest.mark.requirement("R-053")),
        pytest.param("We decided to use Rust for this exercise.", marks=pytest.mark.requirement("R-053")),
        pytest.param("User used Python in this task.", marks=pytest.mark.requirement("R-053")),
        "I picked SQLite for the current script.",
    ],
)
def test_what_passes_is_no_memory(mem: Credenda, say: Say, told: str) -> None:
    say(told)
    assert rows(mem) == []


@pytest.mark.requirement("R-040", "R-042", "R-060")
@pytest.mark.parametrize(
    "told",
    [
        "What if I were a doctor?",
        "what if I were a judge?",
        "Imagine I worked at Meta",
        "I'm pretending to be a doctor for this scene.",
        "I'm basically a lawyer",
        "I'm basically a plumber at this point",
    ],
)
def test_what_is_supposed_or_played_is_held_with_little_confidence_if_at_all(
    mem: Credenda, say: Say, told: str
) -> None:
    say(told)
    assert [one for one in rows(mem) if one.confidence > 0.3 or one.attribute is not None] == []


class Alike:
    """An embedder to which all texts are one."""

    model_id, dims = "alike", 8

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), 8), 8**-0.5, dtype=np.float32)


@pytest.mark.requirement("E-067", "E-044")
def test_flagged_duplicates_in_ordinary_words_are_merged_at_night(path: Path, clock: ManualClock) -> None:
    texts = (
        "The user finds standups tiring",
        "Standups tire the user",
        "The user is tired by standups",
        "Standups make the user tired",
        "For the user standups are tiring",
        "The user gets tired from standups",
    )

    def answer(question: Question) -> list[dict[str, object]]:
        first, *others = [one["id"] for one in json.loads(question.prompt)["entries"]]
        return [{"op": "replace", "target": first, "with": others, "kind": "same", "text": texts[0]}]

    with Credenda.open(
        path, user="ana", clock=clock, workers=False, embedder=Alike(), llm=ScriptedModel(answer)
    ) as mem:
        for place, text in enumerate(texts):
            mem.store(MemoryUnit(text=text, importance=0.2 + 0.1 * place, layer=Layer.EPISODIC))
        mem.settle()
        assert any("duplicate_of" in one.metadata for one in rows(mem))
        mem.manage.dream(["merge"])
        (one,) = mem.list().items
        assert one.text == texts[0]
        assert one.base_importance == pytest.approx(0.7)
        assert one.layer is Layer.SEMANTIC
        assert "duplicate_of" not in one.metadata
        assert {other.superseded_by for other in mem.list(status="merged").items} == {one.id}


ANCHOR = (
    "Standup is at 9 AM and planning calls are at 10. I prefer morning meetings.",
    "I changed companies, the new team runs async and I now prefer afternoon meetings.",
    "The old consulting contract is back, so I prefer morning meetings again.",
)


@pytest.mark.requirement("R-012", "R-083", "R-086", "R-087")
def test_the_meetings_of_the_story_are_asked_about_and_scoped(mem: Credenda, say: Say) -> None:
    for text, days in zip(ANCHOR, (60, 7, 90), strict=True):
        say(text, days=days)
    held_now = {one.value: one.contested for one in mem.list(attribute="meetings").items}
    assert held_now == {"morning meetings": True, "afternoon meetings": True}
    assert all("contested" in hit.flags for hit in mem.search("When should I propose a meeting?").hits if hit.memory)
    (case,) = mem.manage.contests()
    mem.manage.resolve(case.id, keep="morning when consulting, otherwise afternoon")
    answers = {one.scope: one.value for one in mem.list(attribute="meetings").items}
    assert answers == {"consulting": "morning meetings", None: "afternoon meetings"}
    assert all(one.importance >= 0.9 and one.confidence >= 0.9 for one in mem.list(attribute="meetings").items)
    say("I prefer morning meetings when consulting.", days=1)
    assert [one.state for one in mem.manage.contests()] == ["resolved"]  # asked once


@pytest.mark.requirement("R-083")
@pytest.mark.parametrize(
    ("first", "then", "back"),
    [
        ("I work at Bosch.", "I left Bosch, I'm at Siemens now.", "I'm back at Bosch."),
        ("I work at Bosch.", "I work at Siemens now.", "I work at Bosch again."),
        ("I live in Linz.", "I moved to Graz.", "I live in Linz again."),
        ("I live in Linz.", "I moved to Graz.", "I'm back in Linz."),
        ("I'm vegan.", "I'm vegetarian now.", "I'm vegan again."),
        ("My favourite editor is Vim.", "My favourite editor is Emacs now.", "My favourite editor is Vim again."),
        ("My manager is Ulla.", "My manager is Bo now.", "Ulla is my manager again."),
        ("My job title is analyst.", "My job title is manager now.", "I'm an analyst again."),
        ("I live in Graz.", "I moved to Wien.", "As before, I live in Graz."),
        ("I live in Graz.", "I moved to Wien.", "I still live in Graz."),
        ("I prefer morning meetings.", "I prefer afternoon meetings.", "Back to morning meetings for me."),
        ("I prefer dark mode.", "I prefer light mode now.", "Dark mode is what I want after all, like before."),
    ],
)
def test_a_value_that_is_said_to_be_back_replaces_nothing_silently(
    mem: Credenda, say: Say, *, first: str, then: str, back: str
) -> None:
    say(first, days=400)
    say(then, days=200)
    say(back)
    (case,) = mem.manage.contests()
    assert case.state == "open"
    assert sorted(one.value or "" for one in mem.list().items if one.contested) == sorted(case.values)
    assert len(case.values) == 2


@pytest.mark.parametrize(
    ("first", "then", "back", "value"),
    [
        ("I work at Bosch.", "I left Bosch, I work at Siemens now.", "No, sorry, I work at Bosch.", "Bosch"),
        ("I live in Linz.", "I moved to Graz.", "I moved from Graz back to Linz.", "Linz"),
    ],
)
def test_a_return_that_corrects_or_names_the_present_value_as_past_is_a_change(
    mem: Credenda, say: Say, *, first: str, then: str, back: str, value: str
) -> None:
    say(first, then, back, days=60)
    assert mem.manage.contests() == []
    assert [one.value for one in mem.list().items if one.status is Status.ACTIVE and one.stance == "asserted"] == [
        value
    ]


@pytest.mark.requirement("R-012", "R-083")
@pytest.mark.parametrize(
    "story",
    [
        ("I work at Bosch.", "I work at Siemens now.", "I rejoined Bosch."),
        ("I live in Linz.", "I moved to Graz.", "I moved back to Linz."),
        ("I'm vegan.", "I'm vegetarian now.", "I went back to being vegan."),
        (
            "I'm a product manager at Brightwater, remote from Porto.",
            "I quit Brightwater last week and now I work at Lumen Health.",
            "Lumen folded already, so I returned to Brightwater this Monday.",
        ),
        (
            "I use Firefox as my browser.",
            "I use Brave as my browser now, Firefox drained the battery.",
            "I'm using Firefox again.",
        ),
        (
            "I'm on the payments team at Klarna.",
            "I was moved to the fraud team in the reorg.",
            "The reorg was reversed. I'm on the payments team again.",
        ),
        (
            "I don't eat meat, I'm vegetarian.",
            "I'm pescatarian now because I missed salmon.",
            "I'm vegetarian once more.",
        ),
        (
            "Keep in mind that I'm vegetarian when you suggest dinners.",
            "I've gone vegan since the new year, so no eggs or cheese any more.",
            "Being vegan wrecked my iron levels. I'm vegetarian again.",
        ),
    ],
)
def test_a_return_in_a_message_about_more_is_asked_about_once(mem: Credenda, say: Say, story: tuple[str, ...]) -> None:
    say(*story, days=60)
    (case,) = mem.manage.contests()
    assert len(case.values) == 2
    mem.manage.resolve(case.id, keep=case.values[-1])
    say(story[-1])
    assert [one.state for one in mem.manage.contests()] == ["resolved"]


@pytest.mark.requirement("R-012")
@pytest.mark.parametrize(
    "story",
    [
        (
            "My girlfriend is called Nadia and we met at uni.",
            "Nadia and I broke up. My girlfriend is Petra now.",
            "Petra and I split up and I'm back together with Nadia.",
        ),
        (
            "I bank with Monzo.",
            "I've moved my money, I bank with Starling now.",
            "Starling rejected my mortgage application, so I'm with Monzo again.",
        ),
        ("My gym is McFit.", "I changed gyms, my gym is FitX now.", "FitX is always full so I rejoined McFit."),
    ],
)
def test_a_return_that_names_what_it_replaces_is_a_change(mem: Credenda, say: Say, story: tuple[str, ...]) -> None:
    say(*story, days=60)
    assert mem.manage.contests() == []


def test_a_value_that_is_back_where_none_holds_takes_its_slot(mem: Credenda, say: Say) -> None:
    say("My dentist is Dr Kwan on Mill Road.", "I changed dentists, my dentist is Dr Ferris.", days=90)
    say("Dr Ferris moved away and I'm back with Dr Kwan.")
    assert mem.manage.contests() == []
    assert [one.value for one in mem.list(attribute="dentist").items if one.stance == "asserted"] == ["Dr Kwan"]


@pytest.mark.parametrize(
    "said",
    ["I'm back with some questions about Bosch.", "We returned to Milan for the weekend.", "I'm with Ana again."],
)
def test_what_nothing_is_known_of_does_not_come_back(mem: Credenda, say: Say, said: str) -> None:
    say("I work at Siemens.", "I live in Graz.", said)
    assert mem.manage.contests() == []
    assert {one.value for one in mem.list().items if one.attribute in {"employer", "residence"}} == {"Siemens", "Graz"}


@pytest.mark.parametrize("told", ["deployed v2.1 on march 28", "We shipped version 3.0 yesterday."])
def test_a_version_that_was_deployed_on_a_day_is_an_episode(mem: Credenda, say: Say, told: str) -> None:
    say(told)
    (held,) = mem.list().items
    assert (held.entity, held.layer) == ("user", Layer.EPISODIC)
