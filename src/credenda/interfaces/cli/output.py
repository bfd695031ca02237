"""Where output goes: results to standard output, everything else to standard error."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

import click

from credenda.errors import Unavailable

__all__ = ["fill_streams", "is_interactive", "note", "write_output"]

_PIPE_CLOSED = 141
"""What a shell reports for a program whose reader went away (128 + SIGPIPE)."""


def fill_streams() -> None:
    """Open the null device for each standard stream that whoever started us has closed.

    The lowest free descriptor is the closed one, so that no file of ours takes its place.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for the whole process


def write_output(text: str) -> None:
    """Write a result; a reader that went away ends the command quietly. Raises `Unavailable` where there is no room."""
    try:
        _write(sys.stdout, text if text.endswith("\n") or not text else f"{text}\n")
    except BrokenPipeError:
        _redirect_to_null(sys.stdout)
        raise click.exceptions.Exit(_PIPE_CLOSED) from None
    except OSError as error:
        _redirect_to_null(sys.stdout)
        fix = "send it elsewhere; what the command has done stays done"
        raise Unavailable(
            "the result cannot be written", why=error.strerror or type(error).__name__, fix=fix
        ) from error


def note(text: str) -> None:
    """Say something beside the result."""
    try:
        _write(sys.stderr, f"{text}\n")
    except OSError:  # nobody is left to be told
        _redirect_to_null(sys.stderr)


def is_interactive() -> bool:
    """Say whether a person sits in front of it and can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _write(stream: TextIO, text: str) -> None:
    """Write text that the stream's encoding may not hold: what it cannot is escaped."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _redirect_to_null(stream: TextIO) -> None:
    """Point a broken stream to nowhere, so that closing it at exit says nothing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
