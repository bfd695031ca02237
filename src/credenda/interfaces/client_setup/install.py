"""Add this program to the servers of an MCP client: idempotent, with a backup, and atomic."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from credenda.errors import Conflict, CredendaError, Invalid, Unavailable
from credenda.interfaces.client_setup import json_edit, toml_edit
from credenda.interfaces.client_setup.client_configs import Installed, Place
from credenda.paths import create_folder, make_file_error
from credenda.portability.atomic_write import replace_file

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BACKUPS: Final = 1_000
_MARK: Final = "\ufeff"


class _Editor(Protocol):
    """Edits one kind of file."""

    find_entry: Callable[[str, str, str], Mapping[str, Any] | None]
    remove_entry: Callable[[str, str, str], str]
    set_entry: Callable[[str, str, str, Mapping[str, Any]], str]
    render_entry: Callable[[str, str, Mapping[str, Any]], str]


_EDITORS: Final[Mapping[str, Any]] = {"json": json_edit, "toml": toml_edit}


def find_program() -> list[str]:
    """Return a command that starts this program from any folder: the script beside the interpreter, or the interpreter.

    With -P the interpreter imports no modules from the current folder, which may be untrusted.
    """
    if not sys.executable:
        raise Invalid("the path of this Python is unknown", fix="edit the client's file by hand; see --print")
    python = Path(sys.executable).absolute()
    script = python.with_name("credenda.exe" if sys.platform == "win32" else "credenda")
    if script.is_file() and os.access(script, os.X_OK):
        return [str(script)]
    return [str(python), "-P", "-m", "credenda"]


def make_entry(place: Place, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the configuration entry that starts this program with these arguments."""
    command, *first = find_program()
    return {**place.head, "command": command, "args": [*first, *arguments]}


def write_lines(place: Place, name: str, entry: Mapping[str, Any]) -> str:
    """Return the lines that a user would add to the file."""
    return _choose_editor(place).render_entry(place.table, _check_name(name), entry)


def install(place: Place, name: str, entry: Mapping[str, Any]) -> Installed:
    """Add or change the entry of a name; keep everything else in the file.

    Keys that the user added to the entry stay. Raises `Invalid` for a malformed file, `Unavailable` for one that cannot
    be read or written; then nothing was changed.
    """
    path = place.path.resolve()
    editor = _choose_editor(place)
    try:
        text = read_text(path)
        held = editor.find_entry(text.removeprefix(_MARK), place.table, _check_name(name))
        merged = {**(held or {}), **entry}
        if held == merged:
            return Installed(done="already there", name=name, path=str(place.path))
        mark = _MARK if text.startswith(_MARK) else ""
        changed = mark + editor.set_entry(text.removeprefix(_MARK), place.table, name, merged)
    except Invalid as error:
        raise Invalid(f"{place.path} was not changed: {error.what}", why=error.why, fix=error.fix) from error
    backup = replace_text(path, text, changed)
    return Installed(
        done="changed" if held else "added", name=name, path=str(place.path), backup=str(backup) if backup else None
    )


def remove(text: str, place: Place, name: str, before: Mapping[str, Any] | None) -> str:
    """Return the text of a client's file without the entry of a name, or with the entry that it had `before`."""
    editor = _choose_editor(place)
    bare = text.removeprefix(_MARK)
    if before is not None:
        changed = editor.set_entry(bare, place.table, _check_name(name), before)
    else:
        changed = editor.remove_entry(bare, place.table, _check_name(name))
    return (_MARK if text.startswith(_MARK) else "") + changed


def find_installed(place: Place, name: str) -> Mapping[str, Any] | None:
    """Return the entry of a name in a client's file, or None."""
    text = read_text(place.path.resolve()).removeprefix(_MARK)
    return _choose_editor(place).find_entry(text, place.table, _check_name(name))


def _choose_editor(place: Place) -> _Editor:
    return _EDITORS[place.kind]


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        why = "clients use it as a prefix of tool names"
        raise Invalid(f"{name[:80]!r} cannot name a server", why=why, fix="use letters, digits, - and _")
    return name


def read_text(path: Path) -> str:
    """Return the text of a file, "" for a missing one. Raises `Invalid` for other text than UTF-8, `Unavailable`."""
    try:
        return path.read_bytes().decode("utf-8") if path.exists() else ""
    except UnicodeDecodeError as error:
        raise Invalid(
            "it is not UTF-8", why=f"byte {error.start} does not begin a character", fix="repair the file"
        ) from error
    except OSError as error:
        raise _make_unavailable(path, error) from error


def replace_text(path: Path, held: str, text: str) -> Path | None:
    """Write the file atomically with its previous permissions; return the path of the backup.

    Raises `Conflict` if the file changed since it was read, because clients write to these files too.
    """
    try:
        create_folder(path.parent)
        backup = _copy(path) if path.exists() else None
        with replace_file(path) as file:
            file.write(text.encode("utf-8"))
            if read_text(path) != held:
                raise Conflict(
                    f"{path} was changed meanwhile", why="its client is running", fix="close it and try again"
                )
        if backup is not None:
            shutil.copymode(backup, path)
    except CredendaError:
        raise
    except OSError as error:
        raise _make_unavailable(path, error) from error
    return backup


def _copy(path: Path) -> Path:
    """Copy a file beside itself, under the first free backup name."""
    for number in range(_BACKUPS):
        backup = path.with_name(f"{path.name}.bak{number or ''}")
        if not backup.exists():
            shutil.copy2(path, backup)
            return backup
    raise Unavailable(f"{path} has {_BACKUPS} backups", why="every backup name is taken", fix="remove some of them")


def _make_unavailable(path: Path, error: OSError) -> Unavailable:
    return make_file_error(path, error, "reached")
