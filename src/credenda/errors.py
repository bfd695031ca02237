"""All errors that callers can get.

    CredendaError            code            retryable  exit code  HTTP
    ├── Invalid              invalid         no         2          422
    ├── Unauthenticated      unauthenticated no         1          401
    ├── Forbidden            forbidden       no         1          403
    ├── NotFound             not_found       no         3          404
    ├── Conflict             conflict        no         4          409
    ├── LimitExceeded        limit_exceeded  no         6          413
    ├── Unavailable          unavailable     yes        5          503
    └── Corrupt              corrupt         no         7          500

A message contains the problem, its cause, and the fix. It never contains memory text, or private text of the input.
"""

from __future__ import annotations

from typing import ClassVar, Final

from credenda.private import cut_tagged

__all__ = [
    "Conflict",
    "Corrupt",
    "CredendaError",
    "Forbidden",
    "Invalid",
    "LimitExceeded",
    "NotFound",
    "Unauthenticated",
    "Unavailable",
]

_WHAT_CHARACTERS: Final = 400
"""Longest description of a problem: it may quote input of any length."""
_HALF: Final = _WHAT_CHARACTERS // 2 - 1


class CredendaError(Exception):
    """Something went wrong inside Credenda.

    `what` is the problem, `why` its cause, `fix` the remedy; `ids` are the rows concerned.
    """

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, what: str, *, why: str = "", fix: str = "", **ids: str) -> None:
        """Keep the three parts separate, so that each interface can format them, without private text."""
        what, why, fix = cut_tagged(what), cut_tagged(why), cut_tagged(fix)
        self.what = what if len(what) <= _WHAT_CHARACTERS else f"{what[:_HALF]}…{what[-_HALF:]}"
        self.why = why
        self.fix = fix
        self.ids = ids
        super().__init__(what, why, fix)

    def __reduce__(self) -> tuple[object, ...]:
        """Support pickling between processes, as a pool of workers needs."""
        return _revive, (type(self), self.what, {"why": self.why, "fix": self.fix, **self.ids})

    def __str__(self) -> str:
        """Join the parts in one line: what: why; fix."""
        text = f"{self.what}: {self.why}" if self.why else self.what
        return f"{text}; {self.fix}" if self.fix else text


class Invalid(CredendaError):
    """The input cannot be accepted as it is."""

    code = "invalid"
    exit_code = 2
    http_status = 422


class Unauthenticated(CredendaError):
    """A server was called without a valid token."""

    code = "unauthenticated"
    http_status = 401


class Forbidden(CredendaError):
    """The token of a call to a server does not permit this."""

    code = "forbidden"
    http_status = 403


class NotFound(CredendaError):
    """This tenant has no such thing."""

    code = "not_found"
    exit_code = 3
    http_status = 404


class Conflict(CredendaError):
    """The request contradicts recorded data."""

    code = "conflict"
    exit_code = 4
    http_status = 409


class LimitExceeded(CredendaError):
    """The input or the store is past a stated bound."""

    code = "limit_exceeded"
    exit_code = 6
    http_status = 413


class Unavailable(CredendaError):
    """The store cannot serve this now; the same call may succeed later."""

    code = "unavailable"
    retryable = True
    exit_code = 5
    http_status = 503


class Corrupt(CredendaError):
    """Stored data contradicts itself or cannot be read."""

    code = "corrupt"
    exit_code = 7
    http_status = 500


def _revive(kind: type[CredendaError], what: str, rest: dict[str, str]) -> CredendaError:
    return kind(what, **rest)


IMPOSSIBLE: Final = (ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""What decoding a row raises if one of its cells holds a value that no writer stores."""
SAVE_THE_REST: Final = "restore a backup, or save the other rows with `credenda export --skip-damaged`"


def make_damage_error(table: str, key: str, *, repaired: bool = False) -> Corrupt:
    """Build the error for a row that cannot be decoded; `repaired` if a repair can make the row again."""
    heal = "run `credenda doctor --repair`, which makes it again"
    return Corrupt(
        f"{key} in the table {table} cannot be read",
        why="the file is damaged: a cell has a value that no version stores",
        fix=heal if repaired else f"run `credenda doctor` to list the damaged rows; then {SAVE_THE_REST}",
        table=table,
        row=key,
    )


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
