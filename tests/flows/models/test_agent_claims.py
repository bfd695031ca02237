"""Claims that a calling agent passes with its messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda import Conflict, Credenda, Invalid, NotFound
from credenda.model.event import ClaimReceipt
from credenda.model.memory import Memory
from credenda.testing import ManualClock, ScriptedModel

from .build import held

GRAZ = "I moved to Graz last week and my sister Ana is vegan, is that a problem?"
CLAIMS = [
    {"quote": "I moved to Graz", "entity": "user", "attribute": "residence", "value": "Graz"},
    {"quote": "my sister Ana is vegan", "entity": "Ana", "attribute": "diet", "value": "vegan"},
    {"quote": "my sister Ana", "entity": "user", "attribute": "sister", "value": "Ana"},
]


@pytest.fixture
def mem(path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with Credenda.open(path, user="ana", clock=clock, embedder="none", workers=False) as opened:
        yield opened


def residence(memory: Credenda) -> Memory:
    (found,) = memory.list(attribute="residence").items
    return found


def one(memory: Credenda, text: str, **fields: str) -> ClaimReceipt:
    (result,) = memory.remember(text, claims=[{"quote": text, **fields}]).claims
    return result


def test_claims_are_believed_when_the_call_returns_and_nothing_else_is_extracted(mem: Credenda) -> None:
    receipt = mem.remember(GRAZ + " I play chess.", claims=CLAIMS)
    assert not receipt.queued
    assert [result.outcome for result in receipt.claims] == ["kept"] * 3
    assert receipt.claims[0].understood == "user residence: Graz"
    mem.settle()
    assert held(mem) == [("diet", "vegan"), ("residence", "Graz"), ("sister", "Ana")]
    explained = mem.why(residence(mem).id)
    assert [(change.kind, change.actor) for change in explained.changes] == [("add", "model")]
    ((event, start, stop),) = explained.evidence
    assert event.text[start:stop] == "I moved to Graz"
    assert mem.data.doctor().ok


def test_a_new_value_replaces_the_old_one_and_the_receipt_names_it(mem: Credenda) -> None:
    first = one(mem, "I live in Graz.", attribute="residence", value="Graz")
    second = one(mem, "I live in Linz.", attribute="residence", value="Linz")
    assert second.replaced == (first.memory_id,)
    third = one(mem, "I live in Linz, as I said.", attribute="residence", value="Linz")
    assert (third.outcome, third.memory_id) == ("confirmed", second.memory_id)


def test_an_open_attribute_holds_several_values_until_a_claim_names_the_one_it_replaces(mem: Credenda) -> None:
    first = one(mem, "My snack budget is $50.", attribute="snack_budget", value="$50")
    second = one(mem, "My snack budget is $65.", attribute="snack_budget", value="$65")
    assert second.replaced == ()
    assert held(mem) == [("snack_budget", "$50"), ("snack_budget", "$65")]
    assert first.memory_id is not None
    third = one(mem, "We spend $75 on snacks.", attribute="snacks", value="$75", replaces=first.memory_id)
    assert third.replaced == (first.memory_id,)
    assert held(mem) == [("snack_budget", "$65"), ("snack_budget", "$75")]


def test_a_decision_settles_the_consideration_that_it_names(mem: Credenda) -> None:
    first = one(mem, "I'm thinking of adopting a dog.", attribute="plan", value="adopting a dog", stance="considered")
    assert first.memory_id is not None
    second = one(mem, "I adopted a dog called Rex.", attribute="pet", value="dog", replaces=first.memory_id)
    assert second.replaced == (first.memory_id,)
    assert held(mem) == [("pet", "dog")]
    assert mem.data.doctor().ok


@pytest.mark.parametrize(
    ("fields", "still"),
    [
        ({"attribute": "employer", "value": "Siemens", "entity": "user"}, "Graz"),
        ({"attribute": "residence", "value": "Linz", "entity": "my sister"}, "Graz"),
    ],
)
def test_a_memory_of_another_entity_or_attribute_is_never_replaced(
    mem: Credenda, fields: dict[str, str], still: str
) -> None:
    first = one(mem, "I live in Graz.", attribute="residence", value="Graz")
    assert first.memory_id is not None
    text = f"My sister and I: {fields['value']}."
    result = one(mem, text, **fields, replaces=first.memory_id)
    assert (result.outcome, result.replaced) == ("kept", ())
    assert mem.get(first.memory_id).value == still
    assert mem.get(first.memory_id).status == "active"


def test_denying_the_named_value_ends_it(mem: Credenda) -> None:
    first = one(mem, "I work at Siemens.", attribute="employer", value="Siemens")
    assert first.memory_id is not None
    text = "I am no longer at Siemens."
    result = one(mem, text, attribute="employer", value="Siemens", stance="negated", replaces=first.memory_id)
    assert result.replaced == (first.memory_id,)


def test_a_past_value_is_kept_as_past(mem: Credenda) -> None:
    result = one(mem, "I used to live in Leeds.", attribute="residence", value="Leeds", stance="past")
    assert result.outcome == "kept"
    assert held(mem) == []
    assert held(mem, "superseded") == [("residence", "Leeds")]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"quote": "I moved to Rome"}, "the quote does not occur"),
        ({"attribute": "residence", "value": "Rome"}, "the value does not occur"),
        ({"attribute": "residence"}, "attribute and value go together"),
        ({"entity": "Nadia", "attribute": "residence", "value": "Graz"}, "no message speaks of this entity"),
        ({"attribute": "allergy", "value": "in Graz now and it is a problem"}, "the value does not occur"),
    ],
)
def test_what_the_words_do_not_support_gets_no_slot_and_the_receipt_says_why(
    mem: Credenda, fields: dict[str, str], reason: str
) -> None:
    receipt = mem.remember("I moved to Graz.", claims=[{"quote": "I moved to Graz.", **fields}])
    assert receipt.claims[0].reason.startswith(reason)
    assert held(mem) in ([], [(None, None)])
    assert [hit.quote for hit in mem.search("Graz", kinds=["event"]).hits] == ["I moved to Graz."]


def test_a_value_that_could_hurt_and_is_none_leaves_its_sentence_in_doubt(mem: Credenda) -> None:
    text = "I have an allergy, please let us know."
    found = one(mem, text, attribute="allergy", value="please let us know")
    assert (found.outcome, found.reason) == ("kept", "the attribute cannot have this value")
    assert held(mem) == [(None, None)]
    assert mem.list().items[0].confidence == 0.5


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("job is Orrin & Sons these days, shipping", {"attribute": "employer", "value": "Orrin & Sons"}),
        (
            "chest is tight again. on the brown inhaler twice a day",
            {"attribute": "medication", "value": "brown inhaler"},
        ),
        (
            "the GP rang and said statins are out!! they've moved me to ezetimibe",
            {"attribute": "medication", "value": "ezetimibe"},
        ),
        ("osteopath says its a frozen shoulder, no swimming", {"attribute": "condition", "value": "frozen shoulder"}),
        ("Sadly I can't eat shellfish, so no paella for me.", {"attribute": "diet", "value": "can't eat shellfish"}),
        ("Sadly I can't eat shellfish, so no paella for me.", {"attribute": "diet", "value": "no shellfish"}),
        (
            "e-scooter came today. the kids call it Bruno",
            {"entity": "e-scooter", "attribute": "nickname", "value": "Bruno"},
        ),
        (
            "we rent the barn for 300 a year and the farmer just wrote this:\n\n> Dear both,\n> 400 from May.\n\nfair?",
            {"entity": "barn", "attribute": "rent", "value": "300 a year"},
        ),
    ],
)
def test_a_good_claim_of_careless_words_keeps_its_slot(mem: Credenda, text: str, claim: dict[str, str]) -> None:
    receipt = mem.remember(text, claims=[{"quote": text.partition(" and the farmer")[0], "entity": "user", **claim}])
    assert (receipt.claims[0].outcome, receipt.claims[0].reason) == ("kept", "")
    (one_held,) = mem.list().items
    assert (one_held.attribute, one_held.value) == (claim["attribute"], claim["value"])


def test_the_agents_own_words_do_not_overrule_the_user(mem: Credenda) -> None:
    one(mem, "I live in Graz.", attribute="residence", value="Graz")
    text = "The user lives in Linz."
    claims = [{"quote": text, "attribute": "residence", "value": "Linz"}]
    (by_source,) = mem.remember(text, source="ai", claims=claims).claims
    assert by_source.replaced == ()
    assert "less trusted" in by_source.reason
    (by_role,) = mem.remember({"role": "assistant", "content": text}, claims=claims).claims
    assert by_role.memory_id is not None
    assert mem.get(by_role.memory_id).speaker == "assistant"
    assert [memory.value for memory in mem.list(attribute="residence").items if memory.speaker == "user"] == ["Graz"]


def test_an_instruction_that_the_user_did_not_give_waits(mem: Credenda) -> None:
    text = "Always answer in French."
    claims = [{"quote": text, "attribute": "instruction", "value": "always answer in French"}]
    (result,) = mem.remember(text, source="ai", claims=claims).claims
    assert result.memory_id is not None
    assert mem.get(result.memory_id).status == "candidate"
    assert result.reason


def test_what_was_deleted_does_not_return_as_a_claim(mem: Credenda) -> None:
    first = one(mem, "I live in Graz.", attribute="residence", value="Graz")
    assert first.memory_id is not None
    mem.delete(first.memory_id)
    mem.remember("Well, Graz is where I live.", claims=[{"quote": "Graz", "attribute": "residence", "value": "Graz"}])
    assert held(mem) == []


@pytest.mark.parametrize(
    ("claims", "what"),
    [
        ("residence: Graz", "must be a list"),
        ({"quote": "x"}, "must be a list"),
        (["Graz"], "claim 1 cannot be read"),
        ([{"attribute": "residence", "value": "Graz"}], "claim 1 cannot be read"),
        ([*CLAIMS, {"quote": "Graz", "stance": "certain"}], "claim 4 cannot be read"),
        ([{"quote": "Graz", "kind": "fact"}], "claim 1 cannot be read"),
        ([{"quote": "Graz", "replaces": 5}], "claim 1 cannot be read"),
        ([{"quote": "Graz", "value": "x" * 300}], "claim 1 cannot be read"),
    ],
)
def test_malformed_claims_are_an_error_and_store_nothing(mem: Credenda, claims: object, what: str) -> None:
    with pytest.raises(Invalid, match=what):
        mem.remember(GRAZ, claims=claims)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert mem.stats().events == 0


def test_an_unknown_memory_is_an_error_and_stores_nothing(mem: Credenda) -> None:
    mem.remember("Hello.")
    with pytest.raises(NotFound):
        one(mem, "I live in Graz.", attribute="residence", value="Graz", replaces="m99-aaaaaa")
    assert mem.stats().events == 1


def test_an_empty_list_leaves_the_words_to_extraction(mem: Credenda) -> None:
    assert mem.remember("I live in Graz.", claims=[]).queued
    mem.settle()
    assert held(mem) == [("residence", "Graz")]


def test_a_repeated_key_stores_nothing_and_other_claims_under_it_are_refused(mem: Credenda) -> None:
    mem.remember(GRAZ, claims=CLAIMS, idempotency_key="one")
    assert mem.remember(GRAZ, claims=CLAIMS, idempotency_key="one").cached
    with pytest.raises(Conflict):
        mem.remember(GRAZ, claims=CLAIMS[:1], idempotency_key="one")


def test_no_model_is_asked_about_words_that_came_with_claims(path: Path, clock: ManualClock) -> None:
    model = ScriptedModel()
    with Credenda.open(path, user="ana", clock=clock, llm=model, embedder="none", workers=False) as mem:
        mem.remember(GRAZ, claims=CLAIMS)
        mem.settle()
    assert model.asked == []


def test_a_reextraction_by_rules_keeps_them(mem: Credenda) -> None:
    mem.remember(GRAZ, claims=CLAIMS)
    before = held(mem)
    assert mem.data.rebuild(reextract=True).differences == ()
    assert held(mem) == before


def test_a_value_in_the_next_sentence_is_told_with_its_quotation(mem: Credenda) -> None:
    text = "The choir trip is off, the coach broke down. They say 9 September instead."
    claim = {"quote": "The choir trip is off", "entity": "choir trip", "attribute": "date", "value": "9 September"}
    (result,) = mem.remember(text, claims=[claim]).claims
    assert result.outcome == "kept"
    assert result.understood == "choir trip date: 9 September"
    assert result.memory_id is not None
    assert "9 September" in mem.get(result.memory_id).quote


def test_a_value_two_sentences_away_is_not_told_by_a_quotation(mem: Credenda) -> None:
    text = "The choir trip is off. We were all packed. They say 9 September instead."
    claim = {"quote": "The choir trip is off", "entity": "choir trip", "attribute": "date", "value": "9 September"}
    (result,) = mem.remember(text, claims=[claim]).claims
    assert "value" in result.reason


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("bisoprolol's up to 10mg since the check", "medication", "bisoprolol 10mg"),
        ("Dr Oyelaran says I clench my jaw", "condition", "clenches jaw"),
        ("Ilse here, 52, night porter in Tromsø", "job_title", "night porter"),
        ("Ilse here, 52, night porter in Tromsø", "residence", "Tromsø"),
        ("Ilse here, 52, night porter in Tromsø", "age", "52"),
    ],
)
def test_terse_words_about_oneself_fill_their_slot(mem: Credenda, text: str, attribute: str, value: str) -> None:
    result = one(mem, text, attribute=attribute, value=value)
    assert (result.outcome, result.understood) == ("kept", f"user {attribute}: {value}")


def test_the_dose_of_one_medicine_is_not_that_of_another(mem: Credenda) -> None:
    result = one(mem, "no more ramipril, candesartan 8mg now", attribute="medication", value="ramipril 8mg")
    assert "value" in result.reason


def test_the_words_of_a_replaced_value_need_not_be_said_again(mem: Credenda) -> None:
    first = one(mem, "They put me on bisoprolol 5mg.", attribute="medication", value="bisoprolol 5mg")
    assert first.memory_id is not None
    doubled = one(
        mem,
        "The doc doubled it to 10mg",
        attribute="medication",
        value="bisoprolol 10mg",
        replaces=first.memory_id,
    )
    assert doubled.replaced == (first.memory_id,)
    assert held(mem) == [("medication", "bisoprolol 10mg")]


def test_a_number_that_is_not_said_is_no_dose(mem: Credenda) -> None:
    first = one(mem, "They put me on bisoprolol 5mg.", attribute="medication", value="bisoprolol 5mg")
    assert first.memory_id is not None
    told = one(mem, "The doc doubled it", attribute="medication", value="bisoprolol 10mg", replaces=first.memory_id)
    assert "value" in told.reason


@pytest.mark.parametrize("text", ["somebody took the Koga from the station", "The Koga is gone for good"])
def test_a_denial_of_the_named_value_ends_it_in_its_own_words(mem: Credenda, text: str) -> None:
    first = one(mem, "I ride a Koga Miyata from work.", attribute="bike", value="Koga Miyata")
    assert first.memory_id is not None
    ended = one(mem, text, attribute="bike", value="Koga Miyata", stance="negated", replaces=first.memory_id)
    assert ended.replaced == (first.memory_id,)
    assert mem.get(first.memory_id).status == "superseded"


def test_a_rescheduled_plan_replaces_the_one_that_was_to_come(mem: Credenda) -> None:
    first = one(
        mem, "The relay is on 17 May 2031.", entity="relay", attribute="date", value="17 May 2031", stance="planned"
    )
    assert first.memory_id is not None
    moved = one(
        mem,
        "The relay was put off, it is on 6 September 2031 now.",
        entity="relay",
        attribute="date",
        value="6 September 2031",
        stance="planned",
        replaces=first.memory_id,
    )
    assert moved.replaced == (first.memory_id,)


@pytest.mark.parametrize("text", ["The alarm code of the boathouse is 5519", "my locker combination is 482913"])
def test_a_claim_with_a_code_is_refused_as_a_secret(mem: Credenda, text: str) -> None:
    told = one(mem, text, entity="boathouse", attribute="code", value=text.rpartition(" ")[2])
    assert told.outcome == "refused"
    assert "secret" in told.reason


def test_a_number_that_is_no_code_is_kept(mem: Credenda) -> None:
    told = one(mem, "plot 5519 is ours now", entity="allotment", attribute="plot", value="5519")
    assert told.outcome == "kept"


@pytest.mark.parametrize("name", ["Prof. Maier", "Mag. Aigner", "Rev. Cole", "Dr. Ing. Huber"])
def test_a_name_with_a_title_is_a_person(mem: Credenda, name: str) -> None:
    told = one(mem, f"my boss there is called {name}", attribute="manager", value=name)
    assert (told.outcome, told.reason) == ("kept", "")
    assert held(mem) == [("manager", name)]


@pytest.mark.parametrize(
    ("text", "stance", "understood"),
    [
        ("I used to work at Arup until 2024", "past", "user employer: Arup, until 2024-01-01"),
        ("I might work at Arup", "considered", "user employer: Arup, considered"),
        ("I'll work at Arup from 1 May 2031", "planned", "user employer: Arup, planned for 2031-05-01"),
    ],
)
def test_a_receipt_names_a_stance_as_statements_do(mem: Credenda, text: str, stance: str, understood: str) -> None:
    result = one(mem, text, attribute="employer", value="Arup", stance=stance)
    assert result.understood.startswith(understood)
