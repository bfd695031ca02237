"""The library of the protocol is loaded without what a server on a pipe does not use, and is whole for who asks."""

from __future__ import annotations

import subprocess
import sys

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
