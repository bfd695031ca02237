"""The library of the protocol is loaded without what a server on a pipe does not use, and is whole for who asks."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from credenda.interfaces.mcp.sdk_lazy import load_late

_SERVED = """
import sys
from credenda.interfaces.mcp.sdk_lazy import load_late
load_late()
from credenda.interfaces.mcp.stdio import serve
early = {name for name in sys.modules if name.startswith(("mcp.client", "mcp.server.mcpserver"))}
assert not early, early
"""
_STARTED = """
import mcp_types
assert "numpy" not in sys.modules
waiting = [mcp_types.CallToolResult, mcp_types.InitializeResult, mcp_types.Tool]
assert not any(one.__pydantic_complete__ for one in waiting)
assert mcp_types.Tool(name="tea", input_schema={}).name == "tea"
from pydantic import BaseModel
class Later(BaseModel):
    name: str
assert Later.__pydantic_complete__
"""
_WHOLE = """
from mcp import Client
import mcp
assert Client is mcp.client.client.Client
assert mcp.server.MCPServer.__name__ == "MCPServer"
assert mcp.types.Tool is mcp.Tool
try:
    mcp.nothing
except AttributeError as error:
    assert "nothing" in str(error)
else:
    raise SystemExit("a name that is not there was found")
"""


def run(program: str) -> None:
    """Run a program in a process of its own, for this one has the library already."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_server_on_a_pipe_loads_no_client_and_no_second_kind_of_server() -> None:
    run(_SERVED)


def test_a_start_builds_no_validator_and_loads_no_search() -> None:
    run(_SERVED + _STARTED)


def list_tools_of_server(database: Path) -> None:
    """Start a server as a host does, greet it, list its tools, and end it."""
    command = [sys.executable, "-P", "-m", "credenda", "--db", str(database), "--user", "ana", "mcp"]
    greeting = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a host", "version": "1"},
    }
    sent = [
        {"id": 1, "method": "initialize", "params": greeting},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.writelines(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in sent)
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.kill()  # what it does later is no part of its start
    assert [tool["name"] for tool in answers[1]["result"]["tools"] if tool["name"] == "search_memories"]


def measure_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of the processes that `work` starts and ends."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_server_is_connected_and_its_tools_listed_within_a_second_of_processor_time(tmp_path: Path) -> None:
    """The least of several starts, as a multiple of bare ones of about 20 ms, which a busy machine slows as well."""
    bare = [sys.executable, "-P", "-c", "import argparse, json, sqlite3"]
    spent, compared = list[float](), list[float]()
    for _ in range(3):
        compared += [measure_seconds(lambda: subprocess.run(bare, check=True)) for _ in range(3)]
        spent.append(measure_seconds(lambda: list_tools_of_server(tmp_path / "memory.db")))
    assert min(spent) < 50 * min(compared), (spent, compared)


def test_whoever_asks_later_finds_the_whole_library() -> None:
    run(_SERVED + _WHOLE)


def test_a_package_that_is_loaded_stays_as_it_is() -> None:
    before = sys.modules["credenda.interfaces"]
    load_late(("credenda.interfaces",))
    assert sys.modules["credenda.interfaces"] is before


def test_a_package_that_is_not_there_is_named() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_package") as caught:
        load_late(("no_such_package",))
    assert caught.value.name == "no_such_package"
