"""Exports of other versions: a field that is gone, new or of another type is named or passed over, and never fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import pytest

from credenda import Credenda

from . import strands

EXPORTS: dict[str, Any] = {
    "letta": strands.LETTA,
    "zep": strands.GRAPHITI,
    "cognee": strands.COGNEE,
    "pam": strands.PAM_STORE,
    "messages": strands.MESSAGES,
    "openmemory": strands.POINTS,
}
ODD: list[Any] = [None, 7, -1.5e300, True, "", "\ud800", "x" * 3_000, [], {}, [[]], {"text": "odd"}, "9999-99-99T99:99"]


def list_places(value: object, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every field and item; of a list only the first two, because the others are alike."""
    if isinstance(value, dict):
        for name, inner in cast("dict[str, Any]", value).items():
            yield (*above, name)
            yield from list_places(inner, (*above, name))
    elif isinstance(value, list):
        for at, inner in enumerate(cast("list[Any]", value)[:2]):
            yield (*above, at)
            yield from list_places(inner, (*above, at))


def change(value: object, place: tuple[Any, ...], number: int) -> object:
    """Return a copy in which the field at a place is gone, odd, or beside one of a later version."""
    found = deepcopy(value)
    inner: Any = found
    for step in place[:-1]:
        inner = inner[step]
    if number % 3 == 0:
        del inner[place[-1]]
    elif number % 3 == 1:
        inner[place[-1]] = ODD[number % len(ODD)]
    elif isinstance(inner, dict):
        inner["added_in_version_9"] = ODD[number % len(ODD)]
    return found


@pytest.mark.parametrize("name", sorted(EXPORTS))
@pytest.mark.parametrize("turn", range(3))
def test_no_field_of_an_export_is_relied_on(mem: Credenda, tmp_path: Path, name: str, turn: int) -> None:
    plain = strands.write_json(tmp_path / "plain.json", EXPORTS[name])
    wanted = mem.data.import_(plain, format=name, dry_run=True)
    for number, place in enumerate(list_places(EXPORTS[name]), start=turn):
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(change(EXPORTS[name], place, number)), encoding="utf-8")
        report = mem.data.import_(path, format=name, dry_run=True)
        assert report.turns <= wanted.turns + 1, place
        told = report.turns or report.problems or report.left_out
        assert told, f"nothing is said of an export without {place}"
    assert mem.stats().events == 0
