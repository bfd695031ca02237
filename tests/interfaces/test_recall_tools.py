"""The tools and settings of Recall that a server has in other places: costs, audit, compliance, erasure, extras."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from credenda import Credenda, limits
from credenda.interfaces.mcp.tool_specs import build_tools
from credenda.operations import OPERATIONS
from credenda.providers.llm.client import find_price
from credenda.storage.store import Spend, Writer

from .served import Site
from .terminal import Terminal

pytestmark = pytest.mark.tokens


START = "2026-03-01T09:00:00Z"
TODAY = 20_513
"""The day of `START`, since 1970-01-01."""
MODEL = "anthropic:claude-haiku-4-5"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def token(site: Site) -> str:
    made = site.token("ana")
    for text in ("I live in Linz.", "I moved to Graz."):
        site.send("POST", "/v1/memories", made, json={"content": text, "session": "s"})
        site.settle()
    return made


def spend(site: Site, day: int, operation: str, cost: float) -> None:
    def unit(writer: Writer) -> None:
        row = Spend(day=day, operation=operation, model_id=MODEL, tokens_in=100, tokens_out=20, calls=1, cost_usd=cost)
        writer.put(row)

    site.parts.store.commit("ana", unit)


@pytest.mark.requirement("R-173", "R-206")
def test_a_user_erases_the_own_data_with_the_phrase_and_no_other(site: Site, token: str) -> None:
    bob = site.token("bob")
    site.send("POST", "/v1/memories", bob, json={"content": "I live in Bremen."})
    for wrong in ("delete my data", "DELETE MY DATA ", "yes", "", "bob"):
        assert site.send("DELETE", "/v1/me", token, json={"confirm": wrong}).status_code == 422
    assert site.send("GET", "/v1/stats", token).json()["events"] == 2
    receipt = site.send("DELETE", "/v1/me", token, json={"confirm": "DELETE MY DATA"}).json()
    assert (receipt["remaining_matches"], receipt["tables"]["events"]) == (0, 2)
    assert site.send("GET", "/v1/stats", token).status_code == 401  # the token went with the rest
    assert site.send("GET", "/v1/stats", bob).json()["events"] == 1


def test_no_model_erases_or_exports_or_reads_the_calls_of_others() -> None:
    behind = {route.operation.name for offer in build_tools(toolset="full").values() for route in offer.routes}
    assert not behind & {"erase", "audit", "export-audit", "compliance", "jobs", "retry", "cancel", "scores"}
    assert {"score", "costs", "verify-audit", "preview-extraction", "preview-context"} <= behind


@pytest.mark.requirement("R-174")
def test_the_audit_chain_is_verified_over_rest_and_as_a_tool(site: Site, token: str) -> None:
    first: dict[str, Any] = {"records": 0}
    while not first["records"]:  # they are written a moment after the answers
        first = site.send("GET", "/v1/audit/verification", token).json()
    assert (first["ok"], first["problem"]) == (True, "")
    told = site.tool("verify_audit_chain", {"anchor": first["head"]}, token).json()["result"]["structuredContent"]
    assert (told["ok"], told["records"] >= first["records"]) == (True, True)
    forged = site.send("GET", "/v1/audit/verification", token, params={"anchor": f"1:{'0' * 64}"}).json()
    problem = f"the chain does not lead through the anchor 1:{'0' * 64}"
    assert (forged["ok"], forged["problem"]) == (False, problem)
    mistyped = site.send("GET", "/v1/audit/verification", token, params={"anchor": "1:00"})
    assert (mistyped.status_code, "SEQ:HASH" in mistyped.text) == (422, True)


@pytest.mark.requirement("R-175")
def test_a_compliance_report_names_calls_changes_and_deletions_without_a_word(site: Site, token: str) -> None:
    memory = site.send("GET", "/v1/memories", token, params={"attribute": "residence"}).json()["items"][0]
    site.send("DELETE", f"/v1/memories/{memory['id']}", token)
    site.send("POST", "/v1/policies", token, json={"days": 30})
    site.send("POST", "/v1/holds", token, json={"reason": "the case of Zanzibar"})
    answered = site.send("POST", "/v1/compliance", token, json={"since": "2026-03-01", "until": "2026-03-01"})
    assert answered.headers["content-type"] == "application/octet-stream"
    lines = [json.loads(line) for line in answered.content.splitlines()]
    kinds = [line["line"] for line in lines]
    assert (kinds[0], kinds[-1], lines[0]["user"]) == ("report", "end", "ana")
    assert {"change", "deletion", "policy", "hold"} <= set(kinds)
    assert lines[-1]["counts"] == {kind: kinds.count(kind) for kind in set(kinds) - {"end"}}
    gone = {line["memory_id"]: line["actor"] for line in lines if line["line"] == "deletion"}
    assert gone[memory["id"]] == "user"
    for word in (b"Linz", b"Graz", b"Zanzibar"):
        assert word not in answered.content
    empty = site.send("POST", "/v1/compliance", token, json={"until": "2026-02-01"})
    assert b'"line": "change"' not in empty.content
    assert site.send("POST", "/v1/compliance", token, json={"since": "2027-01-01"}).status_code == 422


@pytest.mark.requirement("R-177")
def test_the_audit_of_a_user_is_exported_with_the_hashes_of_its_chain(site: Site, token: str, tmp_path: Path) -> None:
    with Credenda(site.parts.for_user("ana"), workers=False) as ana:
        report = ana.inspect.export_audit(tmp_path / "audit.jsonl")
        while not report.lines:  # they are written a moment after the answers
            report = ana.inspect.export_audit(tmp_path / "audit.jsonl")
        seqs = [json.loads(line)["seq"] for line in (tmp_path / "audit.jsonl").read_text("utf-8").splitlines()]
    assert report.audit_ok
    assert seqs == sorted(seqs)
    exported = site.send("POST", "/v1/audit/export", token, json={})
    first = json.loads(exported.content.splitlines()[0])
    assert (first["operation"], len(first["hash"]), first["user"].startswith("p-")) == ("remember", 64, True)
    assert b"Linz" not in exported.content


@pytest.mark.requirement("R-176", "R-200")
def test_costs_are_summed_by_day_operation_and_model(site: Site, token: str) -> None:
    price = find_price(MODEL)
    assert price is not None
    assert price.cost(1_000_000, 0) < price.cost(0, 1_000_000)
    sonnet = find_price("anthropic:claude-sonnet-4-5")
    assert sonnet is not None
    assert (sonnet.cost(1_000_000, 0), sonnet.cost(0, 1_000_000)) == (3.0, 15.0)
    for day, operation, cost in ((TODAY, "extract", 0.5), (TODAY - 1, "extract", 0.25), (TODAY - 40, "dream", 1.0)):
        spend(site, day, operation, cost)
    spend(site, TODAY, "extracted messages", 0.0)
    month = site.send("GET", "/v1/costs", token).json()
    assert (month["cost_usd"], month["calls"], month["tokens_in"]) == (0.75, 2, 200)
    assert (month["first_day"], month["last_day"]) == ("2026-01-31", "2026-03-01")
    year = site.send("GET", "/v1/costs", token, params={"since": "2026-01-01"}).json()
    assert year["by_operation"] == {"dream": 1.0, "extract": 0.75}
    assert [one["day"] for one in year["days"]] == ["2026-01-20", "2026-02-28", "2026-03-01"]
    one = site.send("GET", "/v1/costs", token, params={"since": "2026-03-01", "until": "2026-03-01"}).json()
    assert (one["cost_usd"], len(one["days"])) == (0.5, 1)
    told = site.tool("get_cost_summary", {}, token).json()["result"]["structuredContent"]
    assert told["cost_usd"] == 0.75
    other = site.send("GET", "/v1/costs", site.token("bob")).json()
    assert other["calls"] == 0


@pytest.mark.requirement("R-178")
def test_a_response_is_scored_over_rest_as_a_tool_and_on_the_command_line(
    site: Site, token: str, tmp_path: Path
) -> None:
    given = {"response": "You live in Graz. You have a dog.", "context": "I live in Graz."}
    rest = site.send("POST", "/v1/scores", token, json={**given, "session": "s"}).json()
    assert (rest["score"], [one["verdict"] for one in rest["claims"]]) == (0.5, ["supported", "not_found"])
    tool = site.tool("score_response", {**given, "session_id": "s"}, token).json()["result"]["structuredContent"]
    assert json.dumps(tool).count("supported") >= 2
    listed = site.send("GET", "/v1/scores", token, params={"session": "s"}).json()["items"]
    assert [one["score"] for one in listed] == [0.5, 0.5]
    folder = tmp_path / "cli"
    folder.mkdir()
    shown = Terminal(folder).json("score", given["response"], given["context"])
    assert shown["claims"] == rest["claims"]


@pytest.mark.requirement("R-179")
def test_errors_of_tools_are_typed_lists_have_the_same_bounds_and_writes_may_be_repeated(
    site: Site, token: str
) -> None:
    failed = site.tool("get_memory", {"memory_id": "m1-000000"}, token).json()["result"]
    assert failed["isError"]
    assert {"status": "error", "code": "not_found"}.items() <= failed["structuredContent"].items()
    for operation in OPERATIONS.values():
        for param in operation.params:
            if param.name == "limit" and operation.name != "retention":
                assert (param.default, limits.LIST_LIMIT, limits.SEARCH_LIMIT) == (20, 50, 50), operation.name
    key = {"text": "I like tea.", "idempotency_key": "k1"}
    first, second = (site.tool("store_memory", key, token).json()["result"]["structuredContent"] for _ in range(2))
    assert (first["data"]["cached"], second["data"]["cached"]) == (False, True)


@pytest.mark.requirement("R-186")
def test_the_command_line_tells_how_a_database_is(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.json("remember", "I live in Linz.")
    stats = terminal.json("stats")
    assert (stats["total"], stats["dead_jobs"], stats["pending_extractions"]) == (1, 0, 0)
    assert terminal.json("doctor")["ok"] is True
    assert [one["state"] for one in terminal.json("jobs")["items"]] == ["complete"]


@pytest.mark.requirement("R-187")
def test_the_database_is_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDENDA_DB", str(tmp_path / "named.db"))
    monkeypatch.setenv("CREDENDA_USER", "eva")
    with Credenda.open(workers=False) as memory:
        memory.remember("I live in Linz.")
        assert memory.user == "eva"
    assert (tmp_path / "named.db").is_file()


def test_an_export_is_a_stream_that_any_program_can_upload(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.json("remember", "I live in Linz.")
    lines = [json.loads(line) for line in terminal.run("export", "-").stdout.splitlines()]
    assert (lines[0]["format"], lines[0]["tenant"]["user_id"]) == ("credenda-archive", "ana")
    report = [json.loads(line) for line in terminal.run("compliance", "-").stdout.splitlines()]
    assert (report[0]["line"], report[-1]["line"]) == ("report", "end")


@pytest.mark.requirement("R-189")
def test_the_optional_parts_are_extras_and_all_has_no_development_tool() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {"postgres", "mcp", "server", "llm", "dev", "all"} <= extras.keys()
    assert "dev" not in extras["all"][0]
    assert not any("torch" in one for listed in extras.values() for one in listed)


@pytest.mark.requirement("S-078")
def test_deleting_a_memory_deletes_its_words_and_leaves_a_tombstone(site: Site, token: str) -> None:
    memory = site.send("GET", "/v1/memories", token, params={"attribute": "residence"}).json()["items"][0]
    assert site.send("DELETE", f"/v1/memories/{memory['id']}", token).status_code == 200
    assert site.send("GET", f"/v1/memories/{memory['id']}", token).status_code == 404
    again = site.send("POST", "/v1/memories", token, json={"content": "I moved to Graz."}).json()
    assert again["refused"]
    assert site.send("GET", "/v1/stats", token).json()["tombstones"] > 0


def test_every_answer_fits_the_schema_that_is_told(site: Site, token: str) -> None:
    document = site.send("GET", "/openapi.json").json()
    for path in ("/v1/costs", "/v1/scores", "/v1/jobs", "/v1/audit/verification"):
        answer = site.send("GET", path, token).json()
        schema = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema.validate(answer, {**schema, "components": document["components"]})
