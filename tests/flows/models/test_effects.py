"""What an answer of a model does to memories that it names, and to those that it does not."""

from __future__ import annotations

import json

import pytest

from credenda import Credenda, MemoryUnit, limits
from credenda.testing import ScriptedModel

from .build import held, say

KEEP: dict[str, object] = {"quote": "I counted forty", "attribute": "hives", "value": "forty"}
BEES = "They are so full, the hives behind our shed, I counted forty."


def store(memory: Credenda, attribute: str, value: str, entity: str = "user") -> str:
    unit = MemoryUnit(text=f"{entity} {attribute} {value}", entity=entity, attribute=attribute, value=value)
    return memory.store(unit).id


def known(model: ScriptedModel) -> list[str]:
    """The known memories of the last question."""
    return [line for day in json.loads(model.asked[-1].prompt)["known"].values() for line in day.values()]


@pytest.mark.parametrize(("effect", "relation"), [("replaces k1", "changed"), ("corrects k1", "corrected")])
def test_a_named_memory_is_replaced(mem: Credenda, model: ScriptedModel, effect: str, relation: str) -> None:
    before = store(mem, "hives", "twenty")
    model.say([KEEP | {"effect": effect}])
    say(mem, BEES)
    assert held(mem) == [("hives", "forty")]
    assert (mem.get(before).status, mem.get(before).relation) == ("superseded", relation)
    assert mem.data.doctor().ok


def test_a_named_memory_is_ended(mem: Credenda, model: ScriptedModel) -> None:
    before = store(mem, "hives", "forty")
    model.say([{"quote": "sold them", "effect": "ends k1"}])
    say(mem, "They were fine hives, but I sold them in spring.")
    assert mem.get(before).status == "superseded"
    assert [(one.value, one.stance) for one in mem.list().items] == [("forty", "negated")]


def test_a_contradiction_is_a_question_to_the_user(mem: Credenda, model: ScriptedModel) -> None:
    before = store(mem, "hives", "twenty")
    model.say([KEEP | {"effect": "contradicts k1"}])
    say(mem, BEES)
    (case,) = mem.manage.contests()
    assert sorted(case.values) == ["forty", "twenty"]
    assert mem.get(before).status == "active"


def test_a_denial_that_contradicts_is_a_question_too(mem: Credenda, model: ScriptedModel) -> None:
    before = store(mem, "hives", "forty")
    model.say([KEEP | {"quote": "I never counted forty", "stance": "negated", "effect": "contradicts k1"}])
    say(mem, "The hives behind our shed are full, but I never counted forty.")
    assert len(mem.manage.contests()) == 1
    assert mem.get(before).status == "active"


def test_what_ended_is_not_shown_as_denied(mem: Credenda, model: ScriptedModel) -> None:
    store(mem, "hives", "forty")
    model.say([{"quote": "sold the hives", "effect": "ends k1"}])
    say(mem, "They were fine, but I sold the hives in spring.")
    say(mem, BEES)
    assert known(model) == []


def test_fuller_words_refine_what_they_repeat(mem: Credenda, model: ScriptedModel) -> None:
    before = store(mem, "volunteering", "shelter")
    fuller = {"quote": "at the homeless shelter", "attribute": "volunteering", "value": "homeless shelter"}
    model.say([fuller | {"effect": "repeats k1"}])
    say(mem, "I spent Sunday volunteering at the homeless shelter.")
    assert held(mem) == [("volunteering", "homeless shelter")]
    assert (mem.get(before).status, mem.get(before).relation) == ("superseded", "refined")
    assert mem.data.doctor().ok


def test_another_persons_memory_is_not_replaced(mem: Credenda, model: ScriptedModel) -> None:
    before = store(mem, "hives", "twenty", entity="Bob")
    model.say([KEEP | {"effect": "replaces k1"}])
    say(mem, BEES)
    assert held(mem) == [("hives", "forty"), ("hives", "twenty")]
    assert mem.get(before).status == "active"


def test_a_shown_value_that_is_not_named_stays(mem: Credenda, model: ScriptedModel) -> None:
    before = store(mem, "job_title", "nurse")
    model.say([{"quote": "as a choir conductor", "attribute": "job_title", "value": "choir conductor"}])
    say(mem, "On Sundays I work as a choir conductor.")
    assert known(model) == ["user job_title: nurse"]
    assert held(mem) == [("job_title", "choir conductor"), ("job_title", "nurse")]
    assert mem.get(before).status == "active"


def test_a_claim_may_name_an_earlier_one_of_the_same_answer(mem: Credenda, model: ScriptedModel) -> None:
    text = "I used Flask for the shop, and since yesterday the shop runs on Litestar."
    flask = {"quote": "I used Flask", "entity": "shop", "attribute": "framework", "value": "Flask"}
    litestar = flask | {"quote": "the shop runs on Litestar", "value": "Litestar", "effect": "replaces c1"}
    model.say([flask, litestar])
    say(mem, text)
    assert held(mem) == [("framework", "Litestar")]
    assert held(mem, "superseded") == [("framework", "Flask")]
    assert mem.data.doctor().ok


def test_a_plan_is_settled_by_what_came_of_it_even_without_a_slot(mem: Credenda, model: ScriptedModel) -> None:
    model.say([{"quote": "take a cooking class", "attribute": "plan", "value": "cooking class", "stance": "planned"}])
    say(mem, "I want to take a cooking class.")
    done = {"quote": "The cooking class in Graz was fantastic", "attribute": "experience", "value": "a fine class"}
    model.say([done | {"effect": "replaces k1"}])
    say(mem, "The cooking class in Graz was fantastic.")
    assert known(model) == ["user plan: cooking class (planned)"]
    assert held(mem, "superseded") == [("plan", "cooking class")]
    assert [one.text for one in mem.list().items] == ["The cooking class in Graz was fantastic."]


def test_a_plan_does_not_end_what_holds_now(mem: Credenda, model: ScriptedModel) -> None:
    before = store(mem, "residence", "Graz")
    plan = {"quote": "move to Linz", "attribute": "residence", "value": "Linz", "stance": "planned"}
    model.say([plan | {"effect": "replaces k1"}])
    say(mem, "We want to move to Linz.")
    assert mem.get(before).status == "active"


def test_the_memories_shown_are_those_that_the_message_names_and_the_speakers_own(
    mem: Credenda, model: ScriptedModel
) -> None:
    for number in range(limits.LLM_OWN_MEMORIES):
        store(mem, "likes", f"thing {number}")
    store(mem, "snack_budget", "$50")
    store(mem, "residence", "Graz")
    mem.remember("I need more for the snack budget.", session="one")
    mem.settle()
    assert known(model) == ["user snack_budget: $50", "user residence: Graz"]


def test_the_memories_shown_are_few_the_oldest_first_each_in_one_short_line_with_its_day(
    mem: Credenda, model: ScriptedModel
) -> None:
    plan = {"quote": "try ice hockey", "attribute": "plan", "value": "ice hockey", "stance": "planned"}
    model.say([plan])
    say(mem, "Next winter I want to try ice hockey.")
    for number in range(8):
        store(mem, f"hives_in_field_{number}", f"{number} hives")
    for name in ("residence", "employer", "school", "age"):
        store(mem, name, {"age": "40"}.get(name, "Graz"))
    say(mem, BEES)
    shown = json.loads(model.asked[-1].prompt)["known"]
    assert list(shown["2026-03-01"]) == [f"k{number}" for number in range(2, limits.LLM_KNOWN_MEMORIES + 2)]
    assert shown["2026-12-01"] == {"k1": "user plan: ice hockey (planned) (until 2027-03-01)"}
    assert known(model)[:8] == [f"user hives_in_field_{number}: {number} hives" for number in range(8)]
    assert len(known(model)[8:]) == 5


def test_a_long_passage_shows_more_memories_and_never_more_than_the_most(mem: Credenda, model: ScriptedModel) -> None:
    for number in range(limits.LLM_OWN_MEMORIES):
        store(mem, f"hives_in_field_{number}", f"{number} hives")
    say(mem, BEES + " They were calm all summer." * 20)
    assert limits.LLM_KNOWN_MEMORIES + 2 < len(known(model)) < limits.LLM_KNOWN_MEMORIES_MAX
    say(mem, BEES + " They were calm all summer." * 80)
    assert len(known(model)) == limits.LLM_KNOWN_MEMORIES_MAX


def test_every_current_slot_of_the_speaker_is_shown_while_they_are_few(mem: Credenda, model: ScriptedModel) -> None:
    for number in range(limits.LLM_OWN_MEMORIES - 2):
        store(mem, f"shelf_{number}", f"{number} jars")
    store(mem, "shelf_0", "9 pans", entity="Ola")
    say(mem, BEES)
    assert [f"user shelf_{number}: {number} jars" in known(model) for number in range(20)] == [True] * 20
    store(mem, "shelf_80", "80 jars")
    say(mem, BEES)
    assert len(known(model)) <= limits.LLM_KNOWN_MEMORIES + 2


def test_a_model_may_word_its_claim_within_the_quotation(mem: Credenda, model: ScriptedModel) -> None:
    text = "We got the old mill at Vang for 900 a month."
    claim = {"quote": text, "entity": "old mill", "attribute": "rent", "value": "900"}
    model.say([claim | {"statement": "The old mill at Vang: 900 a month"}])
    say(mem, text)
    (found,) = mem.list().items
    assert found.statement.startswith("user: The old mill at Vang: 900 a month")
    assert found.quote == text


def test_the_newest_facts_are_shown_although_the_message_names_none_of_their_words(
    mem: Credenda, model: ScriptedModel
) -> None:
    store(mem, "state_of_health", "under the weather")
    say(mem, BEES)
    assert known(model) == ["user state_of_health: under the weather"]


def test_a_named_memory_of_the_same_thing_with_another_attribute_ends(mem: Credenda, model: ScriptedModel) -> None:
    before = store(mem, "status", "putting it off", entity="hive project")
    done = {"quote": "the hive project now runs on solar power", "entity": "hive project", "attribute": "power_source"}
    model.say([done | {"value": "solar power", "effect": "replaces k1"}])
    say(mem, "I finally did it: the hive project now runs on solar power.")
    assert held(mem) == [("power_source", "solar power")]
    assert (mem.get(before).status, mem.get(before).relation) == ("superseded", "changed")
    assert mem.data.doctor().ok


def test_a_memory_of_a_thing_that_the_sentence_names_ends_whoever_the_claim_is_about(
    mem: Credenda, model: ScriptedModel
) -> None:
    before = store(mem, "status", "working on it", entity="hive project")
    model.say(
        [{"quote": "done with the hive project", "attribute": "progress", "value": "done", "effect": "replaces k1"}]
    )
    say(mem, "I am done with the hive project since noon.")
    assert held(mem) == [("progress", "done")]
    assert mem.get(before).status == "superseded"


@pytest.mark.parametrize("attribute", ["allergy", "residence"])
def test_a_slot_that_can_hurt_is_not_ended_by_another_attribute(
    mem: Credenda, model: ScriptedModel, attribute: str
) -> None:
    before = store(mem, attribute, {"allergy": "penicillin"}.get(attribute, "Graz"))
    model.say([KEEP | {"effect": "replaces k1"}])
    say(mem, BEES)
    assert mem.get(before).status == "active"


def test_the_plan_of_another_person_is_not_settled(mem: Credenda, model: ScriptedModel) -> None:
    plan = {"quote": "take a cooking class", "attribute": "plan", "value": "cooking class", "stance": "planned"}
    model.say([plan])
    mem.remember([{"role": "user", "name": "Ana", "content": "I want to take a cooking class."}], session="one")
    mem.settle()
    done = {"quote": "The cooking class in Graz was fantastic", "attribute": "experience", "value": "cooking class"}
    model.say([done | {"effect": "replaces k1"}])
    mem.remember(
        [{"role": "user", "name": "Bob", "content": "The cooking class in Graz was fantastic."}], session="one"
    )
    mem.settle()
    assert ("plan", "cooking class") in held(mem)
    use = mem.stats().model
    assert use is not None
    assert use.claims == {"changed: the named memory was said by somebody else": 1}
