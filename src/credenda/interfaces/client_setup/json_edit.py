"""Change one entry of a JSON file and keep every other character, including comments and trailing commas. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from credenda.errors import Invalid

_DEPTH: Final = 200
_INDENT: Final = "  "
_BLANK: Final = re.compile(r"(?:\s+|//[^\n]*|/\*[\s\S]*?\*/)*")
_TEXT: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD: Final = re.compile(r"[-+.\w]+")
_FIRST_INDENT: Final = re.compile(r"\n([ \t]+)\S")


@dataclass(slots=True)
class _Node:
    """A value with its position; an object also has its members, and the end of the last member."""

    start: int
    stop: int = 0
    value: Any = None
    members: dict[str, _Node] = field(default_factory=dict[str, "_Node"])
    last: int = 0
    comma: bool = False
    named_at: int = 0
    """Where the name of this member begins."""


class _Scanner:
    """Parses JSON with comments and trailing commas, and records positions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def document(self) -> _Node:
        """Parse a whole document."""
        self._skip()
        node = self._value(0)
        self._skip()
        if self.at != len(self.text):
            raise self._wrong("there is text after the end of the document")
        return node

    def _wrong(self, why: str) -> Invalid:
        line = self.text.count("\n", 0, self.at) + 1
        return Invalid("it is not JSON", why=f"line {line}: {why}", fix="repair the file; nothing was changed")

    def _skip(self) -> None:
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at

    def _sign(self, sign: str) -> bool:
        if self.text.startswith(sign, self.at):
            self.at += 1
            self._skip()
            return True
        return False

    def _value(self, depth: int) -> _Node:
        if depth > _DEPTH:
            raise self._wrong("it is nested too deeply")
        node = _Node(start=self.at)
        if self.text.startswith("{", self.at):
            self._table(node, depth)
        elif self.text.startswith("[", self.at):
            self._list(node, depth)
        else:
            self._plain(node)
        return node

    def _table(self, node: _Node, depth: int) -> None:
        self._sign("{")
        while not self.text.startswith("}", self.at):
            if node.members and not node.comma:
                raise self._wrong("a comma is missing")
            named_at = self.at
            name = self._text()
            if not self._sign(":"):
                raise self._wrong("a colon is missing")
            member = node.members[name] = self._value(depth + 1)
            member.named_at = named_at
            node.last = member.stop
            self._skip()
            node.comma = self._sign(",")
        self.at += 1
        node.stop = self.at
        node.value = {name: member.value for name, member in node.members.items()}

    def _list(self, node: _Node, depth: int) -> None:
        self._sign("[")
        items: list[Any] = []
        comma = True
        while not self.text.startswith("]", self.at):
            if not comma:
                raise self._wrong("a comma is missing")
            items.append(self._value(depth + 1).value)
            self._skip()
            comma = self._sign(",")
        self.at += 1
        node.stop, node.value = self.at, items

    def _text(self) -> str:
        found = _TEXT.match(self.text, self.at)
        if found is None:
            raise self._wrong("a name in quotation marks is missing")
        self.at = found.end()
        self._skip()
        return self._read(found[0])

    def _plain(self, node: _Node) -> None:
        found = _TEXT.match(self.text, self.at) or _WORD.match(self.text, self.at)
        if found is None:
            raise self._wrong("a value is missing")
        node.value = self._read(found[0])
        self.at = node.stop = found.end()

    def _read(self, written: str) -> Any:  # noqa: ANN401 - JSON is what it is
        try:
            return json.loads(written)
        except ValueError as error:
            raise self._wrong(f"{written[:40]} is not a value") from error


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


def _parse(text: str) -> _Node:
    return _Scanner(text).document() if text.strip() else _Node(start=0, value={})


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
