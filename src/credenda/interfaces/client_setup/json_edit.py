"""Change one entry of a JSON file and keep every other character, including comments and trailing commas. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from credenda.errors import Invalid

_INDENT: Final = "  "
_TEXT: Final = r'"(?:[^"\\\n]|\\.)*"'
_COMMENT: Final = re.compile(rf"{_TEXT}|(//[^\n]*|/\*[\s\S]*?\*/)")
_LAST_COMMA: Final = re.compile(rf"{_TEXT}|(,)(?=\s*[\]}}])")
_FIRST_INDENT: Final = re.compile(r"\n([ \t]+)\S")
_SIGN: Final = re.compile(r"[\s:,]*")


@dataclass(slots=True)
class _Node:
    """A value with its position; an object also has its members, and the end of the last member."""

    start: int
    stop: int
    value: Any
    members: dict[str, _Node] = field(default_factory=dict[str, "_Node"])
    last: int = 0
    comma: bool = False
    """Whether a comma follows the last member."""
    named_at: int = 0
    """Where the name of this member begins."""


def _parse(text: str) -> _Node:
    """Parse JSON with comments and trailing commas, with the positions of two levels; raises `Invalid`."""
    with_commas = _blank(_COMMENT, text)
    plain = _blank(_LAST_COMMA, with_commas)
    try:
        value: object = json.loads(plain) if plain.strip() else {}
    except json.JSONDecodeError as error:
        why = f"line {error.lineno}: {error.msg}"
        raise Invalid("it is not JSON", why=why, fix="repair the file; nothing was changed") from error
    except RecursionError:
        fix = "repair the file; nothing was changed"
        raise Invalid("it is not JSON", why="it is nested too deeply", fix=fix) from None
    root = _Node(len(plain) - len(plain.lstrip()), len(plain.rstrip()), value)
    for node in _find_members(root, plain, with_commas):
        _find_members(node, plain, with_commas)
    return root


def _blank(found: re.Pattern[str], text: str) -> str:
    """Replace what a pattern finds outside of texts by spaces, so that every position stays."""
    return found.sub(lambda one: re.sub(r"[^\n]", " ", one[0]) if one[1] else one[0], text)


def _find_members(node: _Node, plain: str, with_commas: str) -> list[_Node]:
    """Find the members of an object, and return them."""
    if not isinstance(node.value, dict) or not plain.startswith("{", node.start):
        return []
    read, at = json.JSONDecoder().raw_decode, _skip(plain, node.start + 1)
    while not plain.startswith("}", at):
        name, end = read(plain, at)
        start = _skip(plain, end)
        value, stop = read(plain, start)
        node.members[name] = _Node(start, stop, value, named_at=at)
        node.last, at = stop, _skip(plain, stop)
    node.comma = "," in with_commas[node.last : at]
    return list(node.members.values())


def _skip(plain: str, at: int) -> int:
    """Return where the next value or name begins, after blanks and the sign between them."""
    found = _SIGN.match(plain, at)
    return found.end() if found else at


def find_entry(text: str, table: str, name: str) -> Mapping[str, Any] | None:
    """Return the entry of a name, or None; raise `Invalid` for a malformed file or an unexpected structure."""
    return _find_table(_parse(text), table, name)[1]


def set_entry(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text with an entry added or replaced; all text outside the entry stays unchanged."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if not text.strip():
        return render_entry(table, name, entry).replace("\n", newline) + newline
    root = _parse(text)
    servers, _ = _find_table(root, table, name)
    unit = found[1] if (found := _FIRST_INDENT.search(text)) else _INDENT
    if servers is None:
        changed = _add_member(text, root, table, {name: dict(entry)}, unit=unit)
    elif name in servers.members:
        old = servers.members[name]
        changed = text[: old.start] + _write_value(entry, unit, _measure_margin(text, old.start)) + text[old.stop :]
    else:
        changed = _add_member(text, servers, name, entry, unit=unit)
    changed = changed if newline == "\n" else re.sub(r"\r?\n", newline, changed)
    wanted = {**root.value, table: {**root.value.get(table, {}), name: dict(entry)}}
    if _parse(changed).value != wanted:
        raise Invalid("the file cannot be changed safely", fix="add the lines of --print by hand")
    return changed


def remove_entry(text: str, table: str, name: str) -> str:
    """Return the text without an entry, and without its table if that is empty then; unchanged if there is none.

    Comments between the entry and the one before it go with it.
    """
    root = _parse(text)
    servers, entry = _find_table(root, table, name)
    if servers is None or entry is None:
        return text
    alone = len(servers.members) == 1
    changed = _cut_member(text, root, table) if alone else _cut_member(text, servers, name)
    kept = {key: value for key, value in servers.value.items() if key != name}
    wanted = {key: value for key, value in root.value.items() if key != table} | ({} if alone else {table: kept})
    if _parse(changed).value != wanted:
        raise Invalid("the file cannot be changed safely", fix="remove the entry by hand")
    return changed


def _cut_member(text: str, node: _Node, name: str) -> str:
    """Cut a member with the comma that separates it."""
    names = list(node.members)
    place = names.index(name)
    member = node.members[name]
    if place:
        return text[: node.members[names[place - 1]].stop] + text[member.stop :]
    if len(names) > 1:
        return text[: member.named_at] + text[node.members[names[1]].named_at :]
    return text[: node.start + 1] + text[node.stop - 1 :]


def render_entry(table: str, name: str, entry: Mapping[str, Any]) -> str:
    """Write an entry as a complete file."""
    return json.dumps({table: {name: entry}}, indent=_INDENT, ensure_ascii=False)


def _find_table(root: _Node, table: str, name: str) -> tuple[_Node | None, Mapping[str, Any] | None]:
    """Find the table of servers and the entry in it; raise `Invalid` if either exists and is not a table."""
    if not isinstance(root.value, dict):
        raise Invalid("it contains no table", fix="repair the file; nothing was changed")
    servers = root.members.get(table)
    entry = servers.members.get(name) if servers else None
    for node, what in ((servers, table), (entry, f"{table} → {name}")):
        if node is not None and not isinstance(node.value, dict):
            raise Invalid(f"{what} is not a table in it", fix="repair the file; nothing was changed")
    return servers, entry.value if entry else None


def _measure_margin(text: str, at: int) -> str:
    """Return the indentation of the line at a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _write_value(value: object, unit: str, margin: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", f"\n{margin}")


def _add_member(text: str, node: _Node, name: str, value: object, *, unit: str) -> str:
    """Add a member at the end of an object; the comma directly follows the previous member."""
    margin = _measure_margin(text, node.start)
    inner = margin + unit
    end = node.stop - 1
    begun = node.last or node.start + 1
    comma = "," if node.members and not node.comma else ""
    between = text[begun:end].rstrip()
    member = f"{json.dumps(name, ensure_ascii=False)}: {_write_value(value, unit, inner)}"
    return f"{text[:begun]}{comma}{between}\n{inner}{member}\n{margin}{text[end:]}"
