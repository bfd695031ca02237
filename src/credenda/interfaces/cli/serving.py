"""Commands that connect programs: `mcp`."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, cast

import click

from credenda.errors import Invalid
from credenda.interfaces.cli.commands import program_options
from credenda.interfaces.cli.session import Session

if TYPE_CHECKING:
    from credenda.client import Credenda
    from credenda.operations.tools import Toolset

__all__ = ["mcp"]


def mcp() -> click.Command:
    """Make the command that serves one client over standard input and output."""
    toolset = click.Option(
        ["--toolset"],
        type=click.Choice(["default", "full"]),
        default="default",
        show_default=True,
        help="Which tools are offered: a small set, or every operation with all its inputs.",
    )
    return click.Command(
        "mcp",
        params=[toolset, *program_options(hidden=True)],
        callback=click.pass_obj(_serve),
        help="Serve this memory to an MCP client over standard input and output, until it goes away.",
        epilog="`credenda install --client NAME` tells a client how to start this.",
    )


def _serve(session: Session, toolset: str) -> None:
    gc.disable()  # while modules are loaded that stay for good: a sixth of the time to start
    try:
        from credenda.interfaces.mcp.stdio import serve
    except ModuleNotFoundError as error:
        raise Invalid(
            "credenda mcp cannot start",
            why=f"the package {error.name} is not installed",
            fix='install it: pip install "credenda[mcp]"',
        ) from error
    finally:
        gc.freeze()
        gc.enable()
    from credenda.client import Credenda

    def open_memory() -> Credenda:
        return Credenda.open(session.db, user=session.user, workers=False, read_only=session.read_only)

    serve(open_memory, toolset=cast("Toolset", toolset), read_only=session.read_only)
