"""The tools are what the table of operations says, and they are few and short."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from credenda.errors import Invalid
from credenda.interfaces.mcp.tool_specs import ToolSpec, build_tools, read_arguments
from credenda.operation import Operation
from credenda.operations import OPERATIONS, TOOLS, list_tools
from docs_mcp import estimate_tokens

DEFAULT = [
    "store_memory",
    "search_memories",
    "get_context",
    "inspect_memories",
    "memory_history",
    "correct_memory",
    "delete_memory",
    "resolve_conflict",
]
OPERATORS = {"consolidate_memories", "get_memory_stats"}


@pytest.mark.requirement("R-064", "R-101", "R-112", "R-170")
@pytest.mark.parametrize(
    ("tool", "published"),
    [
        ("store_memory", {"text": None, "topic": None, "idempotency_key": None, "session_id": None, "agent_id": None}),
        ("search_memories", {"query": None, "limit": 20, "recency_weight": 0.3}),
        ("inspect_memories", {"limit": 20, "offset": 0}),
        ("consolidate_memories", {"topic": None, "similarity_threshold": 0.85, "dry_run": False}),
    ],
)
def test_the_tools_of_recall_have_their_parameters_and_defaults(tool: str, published: dict[str, object]) -> None:
    offered = {name: one.param.default for name, one in build_tools()[tool].inputs.items()}
    assert {name: offered[name] for name in published} == published


def _listed(tools: Mapping[str, ToolSpec]) -> list[str]:
    return [name for name, offer in tools.items() if offer.is_listed]


def _schema(tool: str) -> list[str]:
    return list(build_tools()[tool].input_schema()["properties"])


@pytest.mark.requirement("R-169", "C-021")
def test_the_default_toolset_is_small_and_in_the_order_of_the_table() -> None:
    assert _listed(build_tools()) == DEFAULT
    assert set(build_tools()) == {*DEFAULT, *OPERATORS}
    recall = {"store_memory", "search_memories", "inspect_memories", "delete_memory"}
    assert recall | {"get_memory_stats", "consolidate_memories"} <= set(build_tools())
    assert set(_listed(build_tools(toolset="full"))) > OPERATORS


def test_with_the_plugin_no_tool_repeats_what_its_hooks_recall() -> None:
    assert _listed(build_tools(toolset="plugin")) == [name for name in DEFAULT if name != "get_context"]


def test_a_tool_lists_what_a_model_fills_and_takes_the_rest_as_well() -> None:
    assert _schema("store_memory") == ["text", "claims"]
    assert _schema("search_memories") == ["query", "limit", "as_of"]
    assert _schema("delete_memory") == ["memory_id", "whole_message"]
    assert _schema("inspect_memories") == ["memory_id", "entity", "limit", "offset"]
    stored = {"text": "I like tea.", "topic": "food", "idempotency_key": "k", "session_id": "s", "agent_id": "a"}
    _, given = read_arguments(build_tools()["store_memory"], stored)
    told = {"content": "I like tea.", "topic": "food", "idempotency_key": "k", "session": "s", "agent": "a"}
    assert given == {**told, "source": "ai"}
    asked = {"query": "tea", "limit": 5, "recency_weight": 0.5, "topic": "food", "mode": "facts_only"}
    assert read_arguments(build_tools()["search_memories"], asked)[1] == asked
    with pytest.raises(Invalid, match="it takes text, claims"):
        read_arguments(build_tools()["store_memory"], {"text": "tea", "source": "human"})


def test_the_names_of_the_table_are_understood_beside_those_of_the_tool() -> None:
    tools = build_tools()
    assert read_arguments(tools["store_memory"], {"content": "tea"})[1] == {"content": "tea", "source": "ai"}
    assert read_arguments(tools["inspect_memories"], {"id": "m1-abcde0"})[0].name == "why"
    with pytest.raises(Invalid, match="takes one of text and content"):
        read_arguments(tools["store_memory"], {"text": "tea", "content": "coffee"})


def test_the_schema_of_claims_has_their_fields_and_one_example_that_is_one() -> None:
    told = build_tools()["store_memory"].input_schema()["properties"]["claims"]
    (example,) = re.findall(r"\[\{.*\}\]", told["description"])
    jsonschema.validate(json.loads(example), told)


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
        assert ("outputSchema" in listed) is offer.as_data
        for schema in (listed["inputSchema"], offer.output_schema()):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
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


def test_the_whole_toolset_fits_into_1200_tokens() -> None:
    """`estimate_tokens` counts on the high side: see its docstring."""
    assert 800 < estimate_tokens(build_tools().values()) <= 1200


def test_the_count_of_tokens_errs_on_the_high_side() -> None:
    for offer in build_tools(toolset="full").values():
        assert offer.is_listed
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
