"""Change one table of a TOML file and keep every other line unchanged. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from credenda.errors import Invalid

_HEADER: Final = re.compile(r"^\s*\[")


def find_entry(text: str, table: str, name: str) -> Mapping[str, Any] | None:
    """Return the entry of a name, or None; raise `Invalid` for a malformed file or an unexpected structure."""
    servers = _parse(text).get(table, {})
    entry = cast("dict[str, Any]", servers).get(name) if isinstance(servers, dict) else servers
    if entry is not None and not isinstance(entry, dict):
        raise Invalid(f"{table} is not a table of tables in it", fix="repair the file; nothing was changed")
    return cast("Mapping[str, Any] | None", entry)


def set_entry(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text with a table added, or its own keys replaced; every other line stays unchanged.

    Raises `Invalid` for a table (inline, dotted) that cannot be changed line by line.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    before = _parse(text)
    found = find_entry(text, table, name)
    lines = text.splitlines(keepends=True)
    if found is None:
        gap = "" if not lines else newline if lines[-1].endswith("\n") else newline * 2
        changed = text + gap + render_entry(table, name, entry).replace("\n", newline) + newline
    else:
        changed = _replace_keys(lines, table, name, entry, newline=newline)
    wanted = {**before, table: {**before.get(table, {}), name: dict(entry)}}
    if not _is_read_as(changed, wanted):
        what = f"[{table}.{name}] cannot be changed safely"
        raise Invalid(what, why="it is written in an unusual way", fix="change it by hand; --print shows the lines")
    return changed


def remove_entry(text: str, table: str, name: str) -> str:
    """Return the text without a table and its own tables; unchanged if there is none.

    Raises `Invalid` for a table (inline, dotted) that cannot be removed line by line.
    """
    before = _parse(text)
    if find_entry(text, table, name) is None:
        return text
    lines = text.splitlines(keepends=True)
    header = re.compile(rf"""^\s*\[\s*{table}\s*\.\s*(["']?){re.escape(name)}\1\s*[\].]""")
    kept: list[str] = []
    inside = False
    for line in lines:
        if _HEADER.match(line):
            inside = header.match(line) is not None
        if not inside:
            kept.append(line)
    changed = "".join(kept)
    others = {key: value for key, value in before[table].items() if key != name}
    wanted = {key: value for key, value in before.items() if key != table} | ({table: others} if others else {})
    if not _is_read_as(changed, wanted):
        what = f"[{table}.{name}] cannot be removed safely"
        raise Invalid(what, why="it is written in an unusual way", fix="remove it by hand")
    return changed.rstrip("\n") + "\n" if changed.strip() else ""


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


def _is_read_as(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _replace_keys(lines: list[str], table: str, name: str, entry: Mapping[str, Any], *, newline: str) -> str:
    """Replace the changed keys of an entry under its header, and take out those that it has no more."""
    header = re.compile(rf"""^\s*\[\s*{table}\s*\.\s*(["']?){re.escape(name)}\1\s*\]\s*(?:#.*)?$""")
    start = next((at for at, line in enumerate(lines) if header.match(line.rstrip("\r\n"))), None)
    if start is None:
        return ""
    stop = next((at for at in range(start + 1, len(lines)) if _HEADER.match(lines[at])), len(lines))
    statements = [(set(tomllib.loads(written)), written) for written in _split_statements(lines[start + 1 : stop])]
    old = dict(tomllib.loads("".join(written for _, written in statements)))
    ours = {key: value for key, value in entry.items() if old.get(key) != value and not isinstance(value, dict)}
    kept = "".join(written for keys, written in statements if not keys & set(ours) and keys <= set(entry))
    head = lines[start] if lines[start].endswith("\n") else lines[start] + newline
    mine = "".join(_write_line(key, value) + newline for key, value in ours.items())
    return "".join([*lines[:start], head, mine, kept, *lines[stop:]])


def _split_statements(lines: list[str]) -> Iterator[str]:
    """Split lines into statements, each with as many lines as are needed to be valid TOML."""
    waiting = ""
    for line in lines:
        waiting += line
        if _is_toml(waiting):
            yield waiting
            waiting = ""
    if waiting:
        raise Invalid("the table cannot be parsed on its own", fix="change it by hand; --print shows the lines")


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
