"""The command line."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.interfaces.cli import agent_processes as agent_processes
    from credenda.interfaces.cli import commands as commands
    from credenda.interfaces.cli import demo as demo
    from credenda.interfaces.cli import demo_run as demo_run
    from credenda.interfaces.cli import jsonout as jsonout
    from credenda.interfaces.cli import junit as junit
    from credenda.interfaces.cli import main as main
    from credenda.interfaces.cli import output as output
    from credenda.interfaces.cli import render as render
    from credenda.interfaces.cli import render_beliefs as render_beliefs
    from credenda.interfaces.cli import server_commands as server_commands

__getattr__ = load_on_use(__name__)
