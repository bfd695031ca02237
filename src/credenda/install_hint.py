"""How to install this package or an extra of it, said in one form by every error that needs one."""

from __future__ import annotations


def format_install(extra: str = "", *, python: str = "") -> str:
    """Return the command that installs the package, or an extra; it names a clone: the package is on no index.

    `python` is the interpreter to install for, if it is not the one of the shell.

    >>> format_install()
    'in a clone of Credenda, pip install .'
    >>> format_install("server", python="/usr/bin/python3")
    'in a clone of Credenda, /usr/bin/python3 -m pip install ".[server]"'
    """
    program = f"{python} -m pip" if python else "pip"
    what = f'".[{extra}]"' if extra else "."
    return f"in a clone of Credenda, {program} install {what}"
