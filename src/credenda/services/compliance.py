"""Write reports for those who must account for a memory, as JSON Lines: calls, changes and deletions.

A report has no word of a memory, a message or a reason: it names rows by their ids.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final

from credenda import limits
from credenda.clock import format_time
from credenda.ids import parse_serial
from credenda.model.audit import AuditReport
from credenda.model.change import ChangeKind
from credenda.model.governance import ComplianceReport
from credenda.portability.atomic_write import replace_file
from credenda.runtime import Parts
from credenda.services.time_span import read_span
from credenda.storage.store import ChangeFilter
from credenda.validation import check_text

__all__ = ["export_audit", "export_compliance", "verify_audit"]

_LAST_US: Final = 1 << 62
Line = dict[str, Any]


def export_compliance(
    parts: Parts, path: Path, *, since: datetime | str | None = None, until: datetime | str | None = None
) -> ComplianceReport:
    """Write the report of a span of time: a head, audit records, changes, policies and holds, and a foot."""
    since_us, until_us = read_span(parts, since, until)
    counts = Counter[str]()
    audit = parts.store.audit.verify_audit()
    with replace_file(path) as file:
        head = {"user": parts.user_id, "made_at": format_time(parts.clock.now_us())}
        span = {"since": _name_time(since_us), "until": _name_time(until_us)}
        _write(file, counts, {"line": "report", **head, **span})
        for line in _list_lines(parts, since_us, until_us):
            _write(file, counts, line)
        foot = {"audit_ok": audit.ok, "audit_records": audit.records, "audit_head": audit.head}
        _write(file, counts, {"line": "end", "counts": dict(counts), **foot})
    return ComplianceReport(path=str(path), lines=dict(counts), audit_ok=audit.ok, audit_head=audit.head)


def verify_audit(parts: Parts, anchor: str = "") -> AuditReport:
    """Verify the whole chain of the database, through an earlier head where one is given."""
    named = check_text(anchor, "anchor").strip()
    return parts.store.audit.verify_audit([named] if named else [])


def export_audit(parts: Parts, path: Path) -> ComplianceReport:
    """Write the audit records of this user, in their order, as they are hashed."""
    counts = Counter[str]()
    audit = parts.store.audit.verify_audit()
    with replace_file(path) as file:
        for line in _list_audit(parts, 0, _LAST_US):
            _write(file, counts, line)
    return ComplianceReport(path=str(path), lines=dict(counts), audit_ok=audit.ok, audit_head=audit.head)


def _name_time(moment_us: int) -> str | None:
    return format_time(moment_us) if moment_us else None


def _write(file: IO[bytes], counts: Counter[str], line: Line) -> None:
    counts[line["line"]] += 1
    file.write(json.dumps(line, ensure_ascii=False, sort_keys=True).encode() + b"\n")


def _list_lines(parts: Parts, since_us: int, until_us: int) -> Iterator[Line]:
    yield from _list_audit(parts, since_us, until_us)
    yield from _list_changes(parts, since_us, until_us)
    rules = parts.store.rules(parts.user_id)
    for policy in rules.policies:
        yield {"line": "policy", "topic": policy.topic, "days": policy.days}
    for hold in rules.holds:
        lifted = None if hold.lifted_us is None else format_time(hold.lifted_us)
        yield {"line": "hold", "set_at": format_time(hold.set_us), "lifted_at": lifted}


def _list_audit(parts: Parts, since_us: int, until_us: int) -> Iterator[Line]:
    after = 0
    while records := parts.store.audit.read_audit_of(parts.user_id, after, limits.COMPLIANCE_PAGE):
        for record in records:
            at_us = record.fields["at_us"]
            if isinstance(at_us, int) and since_us <= at_us <= until_us:
                yield {"line": "audit", **record.fields, "hash": record.hash}
        after = records[-1].seq


def _list_changes(parts: Parts, since_us: int, until_us: int) -> Iterator[Line]:
    after = 0
    while True:
        wanted = ChangeFilter(later_than_us=since_us - 1, until_us=until_us, after=after, limit=limits.COMPLIANCE_PAGE)
        with parts.store.reader(parts.user_id) as reader:
            records = reader.changes(wanted)
        for record in records:
            cause: Mapping[str, str] = {"cause": record.cause} if record.cause else {}
            yield {
                "line": "deletion" if record.kind is ChangeKind.DELETE else "change",
                "id": record.id,
                "kind": record.kind.value,
                "actor": record.actor.value,
                "at": format_time(record.at_us),
                "memory_id": record.memory_id,
                **cause,
            }
        if len(records) < limits.COMPLIANCE_PAGE:
            return
        after = parse_serial(records[-1].id)
