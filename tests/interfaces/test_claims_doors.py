"""Claims of a calling agent have the same results at every door, however awkward the input."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from credenda import Credenda, CredendaError, limits
from credenda.interfaces.cli.main import cli
from credenda.interfaces.serialize import to_jsonable
from credenda.testing import ManualClock

from .agent import Agent, command, drive
from .served import serving
from .terminal import NO_SETTINGS

Call = tuple[str, Sequence[Mapping[str, object]]]
"""A message, and the claims about it."""
Told = list[dict[str, Any]] | str
"""The results of the claims, or the code of the error."""
Door = Callable[[Path, Sequence[Call]], list[Told]]
START = "2026-03-01T09:00:00Z"
UNSET = dict.fromkeys(("entity", "stance", "scope", "replaces"), "")
CODES = {2: "invalid", 3: "not_found", 6: "limit_exceeded"}


def claim(quote: str, attribute: str = "", value: str = "", **more: str) -> dict[str, object]:
    return {"quote": quote, "attribute": attribute, "value": value, **more}


def by_python(db: Path, calls: Sequence[Call]) -> list[Told]:
    def tell(text: str, claims: Sequence[Mapping[str, object]]) -> Told:
        try:
            return to_jsonable(memory.remember(text, source="ai", claims=claims).claims)
        except CredendaError as error:
            return error.code

    with Credenda.open(db, user="ana", clock=ManualClock(START), workers=False, embedder="none") as memory:
        return [tell(*call) for call in calls]


def by_command(db: Path, calls: Sequence[Call]) -> list[Told]:
    def tell(text: str, claims: Sequence[Mapping[str, object]]) -> Told:
        given = ["--db", str(db), "--user", "ana", "--json", "remember", text, "--source", "ai", "--claims"]
        result = CliRunner().invoke(cli, [*given, json.dumps(claims)], env=NO_SETTINGS)
        return CODES[result.exit_code] if result.exit_code else json.loads(result.stdout)["claims"]

    return [tell(*call) for call in calls]


def by_http(db: Path, calls: Sequence[Call]) -> list[Told]:
    def tell(text: str, claims: Sequence[Mapping[str, object]]) -> Told:
        body = {"content": text, "source": "ai", "claims": claims}
        answer = site.send("POST", "/v1/memories", json=body).json()
        return answer["claims"] if "claims" in answer else answer["code"]

    with serving(db, ManualClock(START)) as site:
        return [tell(*call) for call in calls]


def by_mcp(db: Path, calls: Sequence[Call]) -> list[Told]:
    async def body(agent: Agent) -> list[Told]:
        found: list[Told] = []
        for text, claims in calls:
            told = (await agent.result("store_memory", text=text, claims=claims)).structured_content
            found.append(told["data"].get("claims", []) if told["status"] == "ok" else told["code"])
        return found

    return drive(command(db), body)


def seed(db: Path) -> tuple[str, str]:
    """Store where two users work, by an agent, and live, by themselves; return the ids of ana's and ben's employers."""
    ids: list[str] = []
    for user in ("ana", "ben"):
        with Credenda.open(db, user=user, clock=ManualClock("2026-01-01"), workers=False, embedder="none") as memory:
            told = claim("I work at Initech", "employer", "Initech")
            held = memory.remember("I work at Initech.", source="ai", claims=[told])
            memory.remember("I live in Linz.", claims=[claim("I live in Linz", "residence", "Linz")])
            assert held.claims[0].memory_id is not None
            ids.append(held.claims[0].memory_id)
    return ids[0], ids[1]


@pytest.mark.parametrize("door", [by_python, by_command, by_http, by_mcp])
def test_each_claim_gets_its_result_and_bad_ones_change_nothing(tmp_path: Path, door: Door) -> None:
    db = tmp_path / "memory.db"
    mine, foreign = seed(db)
    now = "I work at Acme now."
    acme = claim("I work at Acme", "employer", "Acme")
    refused: list[Call] = [
        (now, [acme | {"replaces": "m999-aaaaa1"}]),
        (now, [acme | {"replaces": foreign}]),
        (now, [acme | {"replaces": "Initech"}]),
        (now, [acme] * (limits.CLAIMS_PER_CALL + 1)),
        (now, [acme, {"value": "Acme"}]),
        (now, [acme | {"stance": "maybe"}]),
        (now, [acme | {"sure": "yes"}]),
    ]
    kept: list[Call] = [
        ("I drink tea.", [claim("I drink wine", "drink", "wine")]),
        ("I have two dogs.", [claim("I have two dogs", "dogs", "12 dogs")]),
        ("My sister Mia works at Siemens.", [claim("My sister Mia works at Siemens", "employer", "Siemens")]),
        (
            "I indent with tabs.",
            [claim("I indent with tabs", "indentation", "tabs", entity="", stance="", replaces="")],
        ),
        ("Keep it short at work.", [claim("Keep it short at work", "reply_style", "short", scope="work")]),
        (now, [acme | {"replaces": mine}]),
        (now, [acme | {"replaces": mine}]),
        ("I live in Graz.", [claim("I live in Graz", "residence", "Graz")]),
        ("I live in Graz.", []),
    ]
    told = door(db, [*refused, *kept])
    codes = ["not_found", "not_found", "not_found", "limit_exceeded", "invalid", "invalid", "invalid"]
    assert told[: len(refused)] == codes
    quote, number, person, open_slot, scoped, changed, again, rival, none = told[len(refused) :]
    assert _show(quote) == ("refused", "", "the quote does not occur in a message")
    assert _show(number) == ("kept", "I have two dogs.", "the value does not occur in the quoted sentence")
    assert _show(person) == ("kept", "My sister Mia works at Siemens.", "the sentence is about somebody else")
    assert _show(open_slot) == ("kept", "user indentation: tabs", "")
    assert _show(scoped) == ("kept", "user reply_style (work): short", "")
    assert _show(changed) == ("kept", "user employer: Acme", "")
    assert _get_first(changed)["replaced"] == [mine]
    assert _show(again) == ("confirmed", "user employer: Acme", "the memory named in replaces was superseded before")
    assert _show(rival) == ("kept", "user residence: Graz", "contradicts “Linz”, but its source is less trusted")
    assert not _get_first(rival).get("replaced")
    assert none == []
    with Credenda.open(db, user="ana", workers=False, embedder="none") as memory:
        assert memory.stats().events == 2 + len(kept)
        assert [one.value for one in memory.list(attribute="employer").items] == ["Acme"]
        assert [one.scope for one in memory.list(attribute="reply_style").items] == ["work"]
    with Credenda.open(db, user="ben", workers=False, embedder="none") as memory:
        assert memory.get(foreign).status == "active"


def _get_first(told: Told) -> dict[str, Any]:
    assert isinstance(told, list)
    return told[0]


def _show(told: Told) -> tuple[str, str, str]:
    """Return the outcome, what was understood, and the reason."""
    result = _get_first(told)
    return result["outcome"], result.get("understood", ""), result.get("reason", "")
