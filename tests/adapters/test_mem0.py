"""The names of mem0's classes, methods and parameters, read in its source: its own dependencies are not installed."""

from __future__ import annotations

import ast
import inspect
from importlib.metadata import distribution
from pathlib import Path

import pytest

from credenda.compat import mem0

LACKING = {
    "MemoryClient": {
        "chat",
        "create_memory_export",
        "create_webhook",
        "delete_webhook",
        "feedback",
        "generate_profile",
        "get_memory_export",
        "get_profile",
        "get_profile_job",
        "get_profile_settings",
        "get_project",
        "get_summary",
        "get_webhooks",
        "sample_profiles",
        "update_profile_settings",
        "update_project",
        "update_webhook",
    },
    "Memory": {"chat", "project", "entity_store"},
}
LACKING |= {f"Async{name}": methods for name, methods in LACKING.items()}
"""What docs/how-to/move-from-mem0.md says is not there."""
UNKNOWN = {"llm"}
"""A parameter of `AsyncMemory.add`: no model reads the messages here."""


def list_methods(name: str) -> dict[str, list[str]]:
    """Return the public methods of a class of mem0 with their parameters."""
    module = "client/main.py" if name.endswith("Client") else "memory/main.py"
    path = Path(str(distribution("mem0ai").locate_file("mem0"))) / module
    tree = ast.parse(path.read_text("utf-8"))
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return {
        node.name: [one.arg for one in (*node.args.args, *node.args.kwonlyargs)]
        for node in found.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
    }


@pytest.mark.parametrize("name", ["Memory", "AsyncMemory", "MemoryClient", "AsyncMemoryClient"])
def test_every_method_of_mem0_is_there_with_its_parameters(name: str) -> None:
    ours = getattr(mem0, name)
    methods = list_methods(name)
    assert {one for one in methods if not hasattr(ours, one)} == LACKING[name]
    for method, parameters in methods.items():
        if method in LACKING[name]:
            continue
        known = inspect.signature(getattr(ours, method)).parameters
        takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
        missing = {one for one in parameters if one not in {"self", "cls", *known} | UNKNOWN}
        assert not missing or takes_any, (method, missing)
        assert inspect.iscoroutinefunction(getattr(ours, method)) == (
            name.startswith("Async") and method not in ("close", "from_config")
        )
