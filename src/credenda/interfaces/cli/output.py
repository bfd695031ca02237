"""Output streams: results go to standard output, everything else to standard error."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

import click

from credenda.errors import Unavailable
from credenda.paths import make_file_error

__all__ = ["fill_streams", "is_interactive", "note", "write_output", "write_progress"]

_PIPE_CLOSED = 141
"""The exit code that a shell reports after a broken pipe (128 + SIGPIPE)."""


def fill_streams() -> None:
    """Open the null device for each standard stream that the parent process closed.

    A new file takes the lowest free descriptor, so otherwise a database could become standard output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for the whole process


def write_output(text: str) -> None:
    """Write a result; end the command quietly on a broken pipe. Raises `Unavailable` when the disk is full."""
    try:
        _write(sys.stdout, text if text.endswith("\n") or not text else f"{text}\n")
    except BrokenPipeError:
        _redirect_to_null(sys.stdout)
        raise click.exceptions.Exit(_PIPE_CLOSED) from None
    except OSError as error:
        _redirect_to_null(sys.stdout)
        why = make_file_error("the result", error).why
        fix = "write it elsewhere; the command's changes are saved"
        raise Unavailable("the result cannot be written", why=why, fix=fix) from error


def note(text: str) -> None:
    """Print a note to standard error."""
    try:
        _write(sys.stderr, f"{text}\n")
    except OSError:  # standard error is closed
        _redirect_to_null(sys.stderr)


def write_progress(shown: str) -> None:
    """Write a line to standard error that the next one takes the place of."""
    sys.stderr.write(shown)
    sys.stderr.flush()


def is_interactive() -> bool:
    """Return whether a terminal is attached, so that the user can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _write(stream: TextIO, text: str) -> None:
    """Write text; escape characters that the stream's encoding lacks."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _redirect_to_null(stream: TextIO) -> None:
    """Point a broken stream to the null device, so that closing it at exit raises no error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
