"""How to install an extra of this package, said in one form by every error that needs one."""

from __future__ import annotations

from typing import Final

__all__ = ["format_install"]

_WITH_MODELS: Final = frozenset({"local", "parse", "all"})


def format_install(extra: str, *, python: str = "") -> str:
    """Return the command that installs an extra; it names a clone, because the package is on no index.

    `python` is the interpreter to install for, if it is not the one of the shell.

    >>> format_install("server")
    'in a clone of Credenda, pip install ".[server]"'
    >>> format_install("local", python="/usr/bin/python3")
    'in a clone of Credenda, /usr/bin/python3 -m pip install ./packages/credenda-models ".[local]"'
    """
    program = f"{python} -m pip" if python else "pip"
    models = "./packages/credenda-models " if extra in _WITH_MODELS else ""
    return f'in a clone of Credenda, {program} install {models}".[{extra}]"'
