"""A claim may bring its statement: it is shown where it says nothing beyond the claim, and goes with the words."""

from __future__ import annotations

from pathlib import Path

import pytest

from credenda import Credenda, Invalid
from credenda.model.event import ClaimReceipt
from credenda.model.memory import Memory
from credenda.testing import ManualClock

from .deleted_words import check_gone

FERRY = "took the ferry job at Halden Lines, been there since 2019"
GIVEN = "Mirek works at Halden Lines since 2019"


def give(mem: Credenda, text: str, **claim: str) -> ClaimReceipt:
    (result,) = mem.remember(text, claims=[{"quote": text, **claim}]).claims
    return result


def get(mem: Credenda, result: ClaimReceipt) -> Memory:
    assert result.memory_id is not None
    found = mem.get(result.memory_id)
    assert isinstance(found, Memory)
    return found


def name_user(mem: Credenda) -> ClaimReceipt:
    return give(mem, "the name's Mirek", attribute="name", value="Mirek")


def tell_job(mem: Credenda, **more: str) -> ClaimReceipt:
    return give(mem, FERRY, attribute="employer", value="Halden Lines", **more)


def test_a_statement_within_its_claim_is_shown_wherever_the_memory_is(mem: Credenda) -> None:
    name_user(mem)
    result = tell_job(mem, statement=GIVEN)
    assert (result.outcome, result.reason) == ("kept", "")
    assert get(mem, result).statement == f"user: {GIVEN}, as of 2019-01-01"
    assert get(mem, result).quote == FERRY
    (hit,) = [one for one in mem.search("Who is my employer?").hits if one.id == result.memory_id]
    assert hit.text == f"user: {GIVEN}, since 2019-01-01"
    assert f"] {GIVEN} (since 1 Jan 2019)" in mem.context("Who is my employer?").text


@pytest.mark.parametrize(
    ("text", "claim", "reason"),
    [
        (FERRY, {"attribute": "employer", "value": "Halden Lines", "statement": "Halden Lines pays well"}, "more than"),
        (FERRY, {"attribute": "employer", "value": "Halden Lines", "statement": "The ferry job since 2019"}, "value"),
        (FERRY, {"attribute": "employer", "value": "Halden Lines", "statement": "Halden Lines since May 2020"}, "more"),
        (FERRY, {"attribute": "employer", "value": "Halden Lines", "statement": "Never at Halden Lines"}, "denies"),
        (
            "I can't stand marzipan.",
            {"attribute": "likes", "value": "marzipan", "stance": "negated", "statement": "The user likes marzipan"},
            "denies",
        ),
        (
            "Always sign letters with M.",
            {"attribute": "instruction", "value": "Always sign letters with M", "statement": "sign letters with M"},
            "own words",
        ),
        (FERRY, {"attribute": "employer", "value": "Halden Lines", "key": "captain's post"}, "key"),
    ],
)
def test_a_wording_that_says_more_is_refused_and_the_claim_stands(
    mem: Credenda, text: str, claim: dict[str, str], reason: str
) -> None:
    result = give(mem, text, **claim)
    assert result.outcome == "kept"
    assert reason in result.reason
    assert get(mem, result).metadata == {}
    assert get(mem, result).value == claim["value"]


def test_a_denial_may_be_given_in_words_of_denial(mem: Credenda) -> None:
    given = "The user does not like marzipan"
    claim = {"attribute": "likes", "value": "marzipan", "stance": "negated"}
    assert get(mem, give(mem, "I can't stand marzipan.", **claim, statement=given)).statement.startswith(
        f"user: {given}"
    )


def test_a_key_names_the_slot(mem: Credenda) -> None:
    result = tell_job(mem, key="ferry job")
    assert get(mem, result).statement == "user: ferry job: Halden Lines, as of 2019-01-01"


def test_a_name_counts_only_while_it_is_known(mem: Credenda) -> None:
    assert "more than the quoted words" in tell_job(mem, statement=GIVEN).reason


@pytest.mark.parametrize("field", ["statement", "key"])
def test_a_wording_is_a_short_text(mem: Credenda, field: str) -> None:
    with pytest.raises(Invalid, match=field):
        tell_job(mem, **{field: "ferry " * 50})


def test_metadata_of_a_message_gives_no_statement(mem: Credenda) -> None:
    claim = {"quote": FERRY, "attribute": "employer", "value": "Halden Lines"}
    forged = {"given_statement": "Mirek owns Halden Lines"}
    (result,) = mem.remember(FERRY, metadata=forged, claims=[claim]).claims
    assert get(mem, result).statement == "user: employer: Halden Lines, as of 2019-01-01"


def test_a_correction_takes_the_statement_away(mem: Credenda) -> None:
    result = tell_job(mem, statement="Halden Lines since 2019")
    assert result.memory_id is not None
    corrected = mem.correct(result.memory_id, value="Holmen Lines")
    assert corrected.statement == "user: employer: Holmen Lines, as of 2019-01-01"
    assert corrected.metadata == {}


def test_a_deleted_name_leaves_the_statements_that_borrowed_it(mem: Credenda, path: Path) -> None:
    named = name_user(mem)
    result = tell_job(mem, statement=GIVEN)
    assert named.memory_id is not None
    mem.delete(named.memory_id)
    assert get(mem, result).statement == "user: employer: Halden Lines, as of 2019-01-01"
    check_gone(mem, path, "Mirek")


def test_a_deleted_memory_takes_its_statement_along(mem: Credenda, path: Path) -> None:
    result = tell_job(mem, statement="Halden Lines ferry job")
    assert result.memory_id is not None
    mem.delete(result.memory_id)
    check_gone(mem, path, "Halden", "ferry job")


def test_words_deleted_beside_a_memory_leave_its_statement(mem: Credenda, path: Path) -> None:
    text = "my cousin Tolva runs the bakery and Aster is her dog"
    claims = [
        {"quote": text, "entity": "Tolva", "attribute": "job", "value": "runs the bakery"},
        {"quote": text, "entity": "Aster", "attribute": "species", "value": "dog", "statement": "Aster is Tolva's dog"},
    ]
    first, second = mem.remember(text, claims=claims).claims
    assert "Aster is Tolva's dog" in get(mem, second).statement
    assert first.memory_id is not None
    mem.delete(first.memory_id)
    assert "Tolva" not in get(mem, second).statement
    check_gone(mem, path, "Tolva")


def test_a_statement_is_exported_imported_and_rebuilt(mem: Credenda, path: Path, clock: ManualClock) -> None:
    result = tell_job(mem, statement="Halden Lines since 2019")
    shown = get(mem, result).statement
    archive = path.with_name("memory.archive")
    mem.data.export(archive, format="credenda")
    with Credenda.open(path.with_name("other.db"), user="ana", clock=clock, workers=False) as other:
        other.data.import_(archive, format="credenda")
        assert [one.statement for one in other.list().items] == [shown]
    assert mem.data.rebuild(dry_run=True).differences == ()
    mem.data.rebuild()
    assert get(mem, result).statement == shown
