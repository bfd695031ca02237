"""The tools are what the table of operations says, and they are few and short."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from credenda.errors import Invalid
from credenda.interfaces.mcp.tool_specs import build_tools, estimate_tokens, read_arguments
from credenda.operations.mcp_tools import TOOLS, list_tools
from credenda.operations.table import OPERATIONS, Operation

DEFAULT = [
    "store_memory",
    "search_memories",
    "get_context",
    "inspect_memories",
    "memory_history",
    "correct_memory",
    "delete_memory",
    "resolve_conflict",
    "consolidate_memories",
    "get_memory_stats",
]


def _inputs(tool: str, toolset: Any = "default") -> list[str]:  # noqa: ANN401 - a word of a closed set
    return list(build_tools(toolset=toolset)[tool].inputs)


@pytest.mark.requirement("R-169", "C-021")
def test_the_default_toolset_is_small_and_in_the_order_of_the_table() -> None:
    assert list(build_tools()) == DEFAULT


def test_the_parameters_of_the_contract() -> None:
    stored = ["text", "topic", "idempotency_key", "session_id", "agent_id"]
    assert _inputs("store_memory")[:5] == stored
    assert _inputs("search_memories")[:5] == ["query", "limit", "recency_weight", "topic", "mode"]
    assert _inputs("delete_memory") == ["memory_id", "whole_message"]
    assert {"limit", "offset", "memory_id"} <= set(_inputs("inspect_memories"))


@pytest.mark.requirement("C-017", "R-101")
def test_consolidating_by_a_tool_does_not_wait_for_the_gate() -> None:
    for toolset in ("default", "full"):
        offer = build_tools(toolset=toolset)["consolidate_memories"]
        assert list(offer.inputs) == ["topic", "similarity_threshold", "dry_run"]
        assert read_arguments(offer, {"dry_run": True})[1] == {"dry_run": True, "force": True}
        with pytest.raises(Invalid):
            read_arguments(offer, {"force": False})


def test_an_operation_nobody_named_is_in_the_full_toolset_only() -> None:
    row = Operation(name="new-thing", call="stats", summary="Do something new.", scope="memory:read")
    table = {**OPERATIONS, row.name: row}
    assert "new_thing" not in build_tools(table.values())
    assert "new_thing" in build_tools(table.values(), toolset="full")


def test_the_full_toolset_offers_every_operation_for_models_with_all_its_inputs() -> None:
    full = build_tools(toolset="full")
    behind = {route.operation.name for offer in full.values() for route in offer.routes}
    assert behind == {operation.name for operation in OPERATIONS.values() if list_tools(operation)}
    for offer in full.values():
        for route in offer.routes:
            wanted = {param.name for param in route.operation.params if not param.person_only} - route.always.keys()
            assert {one.param.name for one in route.inputs} == wanted


@pytest.mark.parametrize("toolset", ["default", "full"])
def test_no_model_may_say_again_what_a_person_deleted(toolset: Any) -> None:  # noqa: ANN401 - as above
    assert "allow_deleted" not in build_tools(toolset=toolset)["store_memory"].inputs


@pytest.mark.requirement("R-191")
@pytest.mark.parametrize("toolset", ["default", "full"])
def test_no_tool_names_the_tenant_a_file_or_another_door(toolset: Any) -> None:  # noqa: ANN401 - as above
    for offer in build_tools(toolset=toolset).values():
        for name, one in offer.inputs.items():
            assert name not in {"user", "user_id", "tenant", "namespace", "db"}
            assert not one.param.is_path
    assert not list_tools(OPERATIONS["export"])
    assert not list_tools(OPERATIONS["import"])


def test_what_tools_say_of_the_table_is_in_the_table() -> None:
    for name, told in TOOLS.items():
        params = {param.name for param in OPERATIONS[name].params}
        for tool in told:
            assert params.issuperset(tool.params), tool.name
            assert params.issuperset(tool.outside), tool.name


@pytest.mark.parametrize("toolset", ["default", "full"])
def test_schemas_are_schemas_and_hints_say_what_is_so(toolset: Any) -> None:  # noqa: ANN401 - as above
    for name, offer in build_tools(toolset=toolset).items():
        listed = offer.listed()
        for schema in (listed["inputSchema"], listed["outputSchema"]):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert listed["inputSchema"]["additionalProperties"] is False
        assert all(told.get("description") for told in listed["inputSchema"]["properties"].values()), name
        hints = listed["annotations"]
        assert hints.get("readOnlyHint", False) is not offer.writes
        assert hints["openWorldHint"] is False
    destructive = [name for name, offer in build_tools(toolset=toolset).items() if offer.hints().get("destructiveHint")]
    assert destructive == ["delete_memory"]


def test_a_read_only_server_offers_nothing_that_writes() -> None:
    tools = build_tools(toolset="full", read_only=True)
    assert not any(offer.writes for offer in tools.values())
    assert {"search_memories", "resolve_conflict"} <= set(tools)
    assert list(tools["resolve_conflict"].inputs) == []


def test_the_whole_toolset_fits_into_2500_tokens() -> None:
    """`estimate_tokens` counts on the high side: see its docstring."""
    assert estimate_tokens(build_tools().values()) < 2500


def test_the_count_of_tokens_errs_on_the_high_side() -> None:
    for offer in build_tools(toolset="full").values():
        assert estimate_tokens([offer]) >= len(json.dumps(offer.listed(), separators=(",", ":"))) / 4


@pytest.mark.parametrize(
    ("arguments", "operation"),
    [({}, "list"), ({"limit": 5}, "list"), ({"memory_id": "m1-abcde0"}, "why"), ({"memory_id": None}, "list")],
    ids=str,
)
def test_a_tool_of_several_operations_calls_the_one_that_is_meant(
    arguments: Mapping[str, object], operation: str
) -> None:
    assert read_arguments(build_tools()["inspect_memories"], arguments)[0].name == operation


def test_a_flag_without_a_default_is_required() -> None:
    rate = build_tools(toolset="full")["rate_memory"]
    with pytest.raises(Invalid, match="useful"):
        read_arguments(rate, {"memory_id": "m1-abcde0"})
    assert read_arguments(rate, {"memory_id": "m1", "useful": False})[1] == {"id": "m1", "useful": False}
