"""The program `credenda`, and `python -m credenda`. `credenda hook` does not load the rest of the command line."""

from __future__ import annotations

import sys

__all__ = ["run_program"]


def run_program() -> int:
    """Run the program and return its exit code."""
    if sys.argv[1:2] == ["hook"]:
        from credenda.interfaces.hook.run import run_command as run_hook  # noqa: PLC0415 - each is loaded alone

        return run_hook(sys.argv[2:])
    from credenda.interfaces.cli.main import main as run_command_line  # noqa: PLC0415 - as above

    return run_command_line()


if __name__ == "__main__":
    sys.exit(run_program())
