"""The audit: who called what, the newest first; a check of the chain; and the records as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from credenda.interfaces.dispatch import ServerFile
from credenda.interfaces.web.page import Download, Page
from credenda.interfaces.web.view import View
from credenda.model.server import AuditRecord
from credenda.services.browse import write_cursor

_LIST: Final = "audit"
_SHOWN: Final = 25
_WIDEST: Final = 1 << 40


def load(view: View) -> Mapping[str, object]:
    """Load the newest records before a number, and on request the state of the chain."""
    before = view.get_int("before", 0, low=0, high=_WIDEST) or _find_end(view) + 1
    records = _read_before(view, before)
    is_wanted = view.get("check") == "yes"
    return {
        "records": [{"seq": one.seq, "hash": one.hash, **one.fields} for one in records],
        "older": records[-1].seq if len(records) == _SHOWN else None,
        "chain": view.call("verify-audit", anchor=view.get("anchor")) if is_wanted else None,
        "anchor": view.get("anchor"),
    }


def _read_after(view: View, number: int, limit: int) -> Sequence[AuditRecord]:
    """Return the records of this memory after a number; the operation lists the oldest first."""
    cursor = write_cursor(_LIST, view.memory.user, number)
    return view.call("audit", limit=limit, cursor=cursor).items


def _find_end(view: View) -> int:
    """Return the number of the last record, by halving: the numbers of one memory have gaps."""
    low, high = 0, 1
    while _read_after(view, high, 1):
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _read_after(view, middle, 1) else (low, middle)
    return low


def _read_before(view: View, before: int) -> Sequence[AuditRecord]:
    """Return the last records before a number, the newest first: a window that grows until it holds enough."""
    wide = _SHOWN
    while True:
        after = max(0, before - 1 - wide)
        found: list[AuditRecord] = []
        start = after
        while page := _read_after(view, start, 50):
            found += [one for one in page if one.seq < before]
            start = page[-1].seq
            if start >= before:
                break
        if len(found) >= _SHOWN or after == 0:
            return found[::-1][:_SHOWN]
        wide *= 4


def export(view: View) -> Download:
    """Send the records of this memory as JSON Lines."""
    return _make_file(view, "export-audit", "credenda-audit.jsonl")


def report(view: View) -> Download:
    """Send who called what, what changed and what was deleted in a span of time."""
    span: dict[str, Any] = {name: view.get(name) or None for name in ("since", "until")}
    return _make_file(view, "compliance", "credenda-compliance.jsonl", **span)


def _make_file(view: View, operation: str, name: str, **given: object) -> Download:
    path = view.make_path(name)
    view.call(operation, path=ServerFile(path), **given)
    return Download(path=path, name=name)


PAGE = Page(
    name="audit",
    path="/audit",
    title="Audit",
    operation="audit",
    load=load,
    actions={"export": export, "report": report},
    with_files=frozenset({"export", "report"}),
    group="server",
)
