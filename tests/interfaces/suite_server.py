"""The production server with the fixture of the conformance suite mounted, on a free port until it is stopped.

    python -m tests.interfaces.suite_server DATABASE

It prints the URL of its MCP endpoint, and a newline, once it answers.
"""

from __future__ import annotations

import sys

from credenda.bootstrap import build_parts
from credenda.interfaces.server.address import Address
from credenda.interfaces.server.process import Plan, serve

from .suite_fixture import add_suite


def main(database: str) -> None:
    """Serve until a signal ends it."""
    plan = Plan(address=Address(port=0), extend=add_suite)
    serve(build_parts(database, user="ana"), plan, ready=lambda url: print(f"{url}/mcp", flush=True))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
