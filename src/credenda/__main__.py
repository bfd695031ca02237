"""The program `credenda`, and `python -m credenda`. `credenda hook` does not load the rest of the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from credenda.lazy import import_on_use

if TYPE_CHECKING:
    from credenda.interfaces.cli import main as command_line
    from credenda.interfaces.hook import run as hook
else:
    command_line = import_on_use("credenda.interfaces.cli.main")
    hook = import_on_use("credenda.interfaces.hook.run")

_INTERRUPTED: Final = 130


def run_program() -> int:
    """Run the program and return its exit code, also where it is interrupted before the command line is loaded."""
    try:
        return hook.run_command(sys.argv[2:]) if sys.argv[1:2] == ["hook"] else command_line.main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(run_program())
