"""Audit records, and the chain that they form. Pure."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from credenda.model.server import AuditDraft, AuditReport

GENESIS: Final = sha256(b"\x00").digest()
"""The hash before the first record (R-203)."""
NO_HEAD: Final = (0, GENESIS)
"""The end of a chain without records."""
_ALIAS: Final = "p-"
_ALIAS_HEX: Final = 32
_SAFE: Final = frozenset(" ._:/@+-")
_FORMULA: Final = tuple("=+-@ ")
_TEXT_CHARACTERS: Final = 128


@dataclass(frozen=True, slots=True)
class NamedAlias:
    """A pseudonym and the name behind it, as they are stored; `key` is that of the user."""

    alias: object
    name: object
    key: object


def make_harmless(text: str) -> str:
    """Make a text harmless wherever records are shown: no control character, markup or formula, and no length.

    >>> make_harmless("=cmd|' /C calc'!A0"), make_harmless("<b>laptop</b>"), make_harmless("a" * 500) == "a" * 128
    ('_cmd__ /C calc__A0', '_b_laptop_/b_', True)
    """
    shown = "".join(sign if sign.isalnum() or sign in _SAFE else "_" for sign in text[:_TEXT_CHARACTERS])
    return f"_{shown[1:]}" if shown.startswith(_FORMULA) else shown


def compute_alias(key: bytes, name: str) -> str:
    """Compute the pseudonym of a name: without the key of its user nobody can find or prove the name."""
    return _ALIAS + hmac.digest(key, b"alias\x00" + name.encode("utf-8", "replace"), "sha256").hex()[:_ALIAS_HEX]


def write_record(draft: AuditDraft, *, seq: int, pseudonym: str, input_key: bytes, name: Callable[[str], str]) -> str:
    """Write a record as canonical JSON; of the inputs it has a keyed hash, which tells nothing without the key.

    `name` returns the pseudonym of a name. Every other text is neutralised.
    """
    record = {
        "seq": seq,
        "at_us": draft.at_us,
        "request_id": make_harmless(draft.request_id),
        "user": pseudonym,
        "principal": make_harmless(f"{draft.issuer}:{name(draft.subject)}") if draft.issuer else "",
        "credential": make_harmless(draft.credential),
        "member": make_harmless(draft.member),
        "client": make_harmless(draft.client),
        "actor": name(draft.actor) if draft.actor else "",
        "door": make_harmless(draft.door),
        "operation": make_harmless(draft.operation),
        "scope": make_harmless(draft.scope),
        "ids": [make_harmless(one) for one in draft.ids],
        "more_ids": draft.more_ids,
        "outcome": draft.outcome,
        "status": draft.status,
        "code": make_harmless(draft.code),
        "duration_ms": draft.duration_ms,
        "tokens_in": draft.tokens_in,
        "tokens_out": draft.tokens_out,
        "cost_usd": round(draft.cost_usd, 6),
        "count": draft.count,
        "inputs_hash": hmac.digest(input_key, draft.inputs.encode(), "sha256").hex(),
    }
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)


def compute_hash(before: bytes, record: bytes) -> bytes:
    """Compute the hash of a record: over the hash before it, which has a fixed length, and all of its fields."""
    return sha256(before + record).digest()


def verify_chain(
    rows: Iterable[tuple[int, bytes | None, bytes | None]], head: tuple[int, bytes | None], anchors: Sequence[str] = ()
) -> AuditReport:
    """Verify (number, record, hash) of all records against the end of the chain, and earlier heads kept elsewhere.

    It finds an edit, a gap, another order and a missing end. A record or hash of another type than ours is None.
    """
    before, count = GENESIS, 0
    missing = dict.fromkeys(anchors)
    missing.pop(f"0:{GENESIS.hex()}", None)
    for seq, record, stored in rows:
        count += 1
        expected = compute_hash(before, record or b"")
        if seq != count or record is None or expected != stored or not _has_number(record, seq):
            return _fail(count - 1, before, f"record {count} was changed, moved, or is missing")
        before = expected
        missing.pop(f"{seq}:{before.hex()}", None)
    if (count, before) != head:
        return _fail(count, before, f"the records after {count} are missing, or the end of the chain was changed")
    if missing:
        return _fail(count, before, f"the chain does not lead through the anchor {make_harmless(next(iter(missing)))}")
    return AuditReport(ok=True, records=count, head=f"{count}:{before.hex()}")


def find_changed_name(names: Iterable[NamedAlias]) -> str:
    """Return the first pseudonym that does not belong to the name behind it; "" where all do.

    Pseudonyms of databases before schema version 18 were drawn, and are not looked at.
    """
    for one in names:
        alias, name, key = one.alias, one.name, one.key
        if isinstance(alias, str) and not alias.startswith(_ALIAS):
            continue
        if not (isinstance(name, str) and isinstance(key, bytes) and compute_alias(key, name) == alias):
            return make_harmless(str(alias))
    return ""


def _fail(count: int, last: bytes, problem: str) -> AuditReport:
    return AuditReport(ok=False, records=count, head=f"{count}:{last.hex()}", problem=problem)


def _has_number(record: bytes, seq: int) -> bool:
    try:
        return json.loads(record)["seq"] == seq
    except (ValueError, KeyError, TypeError):
        return False
