"""Change one table of a TOML file and keep every other line unchanged. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, cast

import tomlkit

from credenda.errors import Invalid


def find_entry(text: str, table: str, name: str) -> Mapping[str, Any] | None:
    """Return the entry of a name, or None; raise `Invalid` for a malformed file or an unexpected structure."""
    servers = _parse(text).get(table, {})
    entry = cast("dict[str, Any]", servers).get(name) if isinstance(servers, dict) else servers
    if entry is not None and not isinstance(entry, dict):
        raise Invalid(f"{table} is not a table of tables in it", fix="repair the file; nothing was changed")
    return cast("Mapping[str, Any] | None", entry)


def set_entry(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text with a table added, or its own keys replaced; every other line stays unchanged.

    Raises `Invalid` for a table of tables to which none can be added (inline).
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    before = _parse(text)
    if find_entry(text, table, name) is None:
        gap = newline * (bool(text) + bool(text and not text.endswith("\n")))
        changed = text + gap + (render_entry(table, name, entry) + "\n").replace("\n", newline)
    else:
        document = tomlkit.parse(text)
        held = cast("dict[str, Any]", document[table])[name]
        for key in set(held) - set(entry):
            del held[key]
        for key, value in entry.items():
            if held.get(key) != value:
                held[key] = value
        changed = re.sub(r"\r?\n", newline, document.as_string()) if newline == "\r\n" else document.as_string()
    return _check_edit(changed, {**before, table: {**before.get(table, {}), name: dict(entry)}}, f"{table}.{name}")


def remove_entry(text: str, table: str, name: str) -> str:
    """Return the text without a table and its own tables; unchanged if there is none."""
    before = _parse(text)
    if find_entry(text, table, name) is None:
        return text
    document = tomlkit.parse(text)
    others = cast("dict[str, Any]", document[table])
    del others[name]
    if not others:
        del document[table]
    rest = {key: value for key, value in before[table].items() if key != name}
    wanted = {key: value for key, value in before.items() if key != table} | ({table: rest} if rest else {})
    changed = _check_edit(document.as_string(), wanted, f"{table}.{name}")
    return changed.rstrip("\n") + "\n" if changed.strip() else ""


def _check_edit(changed: str, wanted: Mapping[str, Any], what: str) -> str:
    """Return the text if it is read as wanted."""
    try:
        if tomllib.loads(changed) == wanted:
            return changed
    except tomllib.TOMLDecodeError:
        pass
    why = "it is written in an unusual way"
    raise Invalid(f"[{what}] cannot be changed safely", why=why, fix="change it by hand; --print shows the lines")


def set_key(text: str, key: str, value: object, *, note: str) -> str:
    """Return the text with a key on its first line and a comment after it; unchanged if the file has the key."""
    if key in _parse(text):
        return text
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    newline = "\r\n" if "\r\n" in text else "\n"
    return f"{mark}{_write_line(key, value)}  # {note}{newline}{text.removeprefix(mark)}"


def remove_key(text: str, key: str, *, note: str) -> str:
    """Return the text without the line of a key that has this comment, however its value was changed."""
    line = re.compile(rf"^(\ufeff?){re.escape(key)}\s*=.*# {re.escape(note)}\r?\n", re.MULTILINE)
    return line.sub(r"\1", text)


def render_entry(table: str, name: str, entry: Mapping[str, Any]) -> str:
    """Write an entry as a table."""
    return "\n".join([f"[{table}.{name}]", *(_write_line(key, value) for key, value in entry.items())])


def _write_line(key: str, value: object) -> str:
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise Invalid("it is not TOML", why=str(error), fix="repair the file; nothing was changed") from error
