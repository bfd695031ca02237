"""Add our hooks to a file of the user, and take them away again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from credenda.errors import Invalid
from credenda.interfaces.plugin.hosts import HookFile

__all__ = ["add_hooks", "remove_hooks"]

_OURS: Final = ("credenda", " hook ")
"""What the command of a hook of ours holds."""


def add_hooks(text: str, wanted: HookFile) -> str:
    """Return the text of a file with our hooks in place of earlier ones of ours; those of others stay, in their order.

    Raises `Invalid` for a file that is not JSON or has another structure.
    """
    table = _parse(text) if text.strip() else dict(wanted.head)
    hooks = _get_hooks(table)
    before = json.dumps(table)
    for event in [*hooks, *wanted.hooks]:
        hooks[event] = [*_list_others(hooks.get(event, [])), *wanted.hooks.get(event, ())]
    table["hooks"] = {event: groups for event, groups in hooks.items() if groups}
    return text if json.dumps(table) == before and text.strip() else _write(table)


def remove_hooks(text: str, head: Mapping[str, Any]) -> str:
    """Return the text of a file without our hooks; "" if nothing but the head of a new file is left."""
    table = _parse(text)
    hooks = _get_hooks(table)
    kept = {event: others for event, groups in hooks.items() if (others := _list_others(groups))}
    if kept == hooks:
        return text
    table["hooks"] = kept
    return "" if not kept and {**table, "hooks": {}} == {**head, "hooks": {}} else _write(table)


def _parse(text: str) -> dict[str, Any]:
    try:
        told: object = json.loads(text)
    except ValueError as error:
        raise Invalid("it is not JSON", why=str(error), fix="repair the file; nothing was changed") from error
    if not isinstance(told, dict):
        raise Invalid("it contains no table", fix="repair the file; nothing was changed")
    return cast("dict[str, Any]", told)


def _get_hooks(table: Mapping[str, Any]) -> dict[str, list[Any]]:
    hooks = table.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(one, list) for one in cast("dict[str, Any]", hooks).values()):
        raise Invalid("hooks is not a table of lists in it", fix="repair the file; nothing was changed")
    return cast("dict[str, list[Any]]", dict(cast("dict[str, Any]", hooks)))


def _list_others(groups: list[Any]) -> list[Any]:
    """Return groups without the commands that are ours; a group of ours alone goes."""
    kept: list[Any] = []
    for group in groups:
        if not isinstance(group, dict):
            kept.append(group)
            continue
        told = cast("dict[str, Any]", group)
        inner = told.get("hooks")
        if isinstance(inner, list):
            others = [one for one in cast("list[Any]", inner) if not _is_ours(one)]
            if others or not inner:
                kept.append(told if len(others) == len(cast("list[Any]", inner)) else {**told, "hooks": others})
        elif not _is_ours(told):
            kept.append(told)
    return kept


def _is_ours(hook: object) -> bool:
    command = cast("dict[str, Any]", hook).get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and all(word in command for word in _OURS)


def _write(table: Mapping[str, Any]) -> str:
    return json.dumps(table, indent=2, ensure_ascii=False) + "\n"
