"""Items: values of a program, whose words also become beliefs.

The words of an item are stored as a memory with the trust of a model's text. A new value forgets the memory of the old
one, unless another item or another source supports it. A deleted memory takes its item along, a forgotten one hides it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple, TypeVar, cast

from credenda import limits
from credenda.clock import to_datetime
from credenda.errors import Conflict, Invalid, LimitExceeded
from credenda.model.core import Item, ItemFilter, ItemRemoval
from credenda.model.event import Source
from credenda.model.memory import Memory, MemoryUnit, Status
from credenda.private import cut_private, cut_private_fields, has_private
from credenda.runtime import Parts
from credenda.services.edit import forget
from credenda.services.remember import store
from credenda.storage.store import Writer
from credenda.validation import refuse_zeros
from credenda.write.forget.item_words import list_unused
from credenda.write.intake.secrets import screen_secrets

_GONE: Final = frozenset({Status.FORGOTTEN, Status.DELETED, Status.INVALIDATED})
T = TypeVar("T")


class Words(NamedTuple):
    """The words of an item: `session` begins with one of `ITEM_SESSIONS`.

    They expire with the item, or with `stay` are deleted by the next sweep after it has expired, for an item that may
    be renewed.
    """

    text: str
    session: str
    tags: tuple[str, ...] = ()
    stay: bool = False


def find_items(parts: Parts, wanted: ItemFilter) -> list[Item]:
    """Return the items that match a filter, without those of forgotten memories."""
    _check_names(wanted.space, wanted.key, wanted.key_begins)
    found = parts.store.items.find_items(parts.user_id, replace(wanted, now_us=parts.clock.now_us()))
    hidden = find_hidden(parts, {one.source for one in found if one.source})
    return [one for one in found if one.source not in hidden]


def find_hidden(parts: Parts, sources: Collection[str]) -> set[str]:
    """Return those of the ids that name a memory which was forgotten or found untrue."""
    ids = [one for one in sources if one.startswith("m")]
    if not ids:
        return set()
    with parts.store.reader(parts.user_id) as reader:
        return {memory.id for memory in reader.memories(ids) if memory.status in _GONE}


def put_item(parts: Parts, item: Item, words: Words | None = None, *, ttl_us: int | None = None) -> Item:
    """Store an item, and its words as a memory; return it as stored.

    Raises `Conflict` for deleted words and for another version than the expected one, `Invalid` for a value that is not
    JSON or has a secret that the policy rejects.
    """
    _check_names(item.space, item.key)
    value = screen_value(load_value(item.value), parts.settings.secrets_policy)
    now_us = parts.clock.now_us()
    expires_us = None if ttl_us is None else now_us + ttl_us
    filed = replace(item, value=dump_value(value), updated_us=now_us, expires_us=expires_us)
    before = find_items(parts, ItemFilter(space=item.space, key=item.key)) if item.key else []
    old = before[0] if before else None
    if words is not None and cut_private(words.text).strip():
        until_us = None if words.stay else expires_us
        lasts = words.stay or (old is not None and old.expires_us == filed.expires_us)
        memory_id = old.source if old is not None and old.value == filed.value and lasts else None
        filed = replace(filed, source=memory_id or store_words(parts, words, expires_us=until_us).id)
    try:
        key = _write(parts, lambda writer: writer.put(filed))
    except Conflict:
        forget_unused(parts, [filed.source] if filed.source else [], "its item was not stored")
        raise
    if old is not None and old.source != filed.source:
        forget_unused(parts, [old.source] if old.source else [], "replaced by a new value")
    return replace(filed, key=key)


def store_words(parts: Parts, words: Words, *, expires_us: int | None = None) -> Memory:
    """Store words as a memory with the trust of a model's text; of long ones, the beginning."""
    return store(
        parts,
        MemoryUnit(
            text=(cut_private(words.text).strip() or words.text)[: limits.MEMORY_TEXT_CHARACTERS],
            source=Source.AI.value,
            source_session=words.session[: limits.NAME_CHARACTERS],
            tags=words.tags,
            expires_at=None if expires_us is None else to_datetime(expires_us),
        ),
    )


def append_items(parts: Parts, space: str, entries: Sequence[tuple[object, str | None]]) -> None:
    """Add values to a space under the next numbers, in one commit; each with the id of the event that has its words."""
    _check_names(space)
    now_us, policy = parts.clock.now_us(), parts.settings.secrets_policy
    rows = [
        Item(space=space, key="", value=dump_value(screen_value(value, policy)), source=source, updated_us=now_us)
        for value, source in entries
    ]
    _write(parts, lambda writer: [writer.put(row) for row in rows])


def remove_items(parts: Parts, removal: ItemRemoval) -> list[Item]:
    """Remove an item or all items of a space, forget their words, and return those that were there."""
    gone = find_items(parts, ItemFilter(space=removal.space, key=removal.key))
    _write(parts, lambda writer: writer.put(removal))
    forget_unused(parts, [one.source for one in gone if one.source], "removed")
    return gone


def renew_items(parts: Parts, renewed: Sequence[tuple[Item, int]]) -> None:
    """Let items expire so many microseconds from now, unless somebody has written them since they were read."""
    now_us = parts.clock.now_us()
    for item, ttl_us in renewed:
        later = replace(item, expires_us=now_us + ttl_us)
        with suppress(Conflict):
            _write(parts, lambda writer, row=later: writer.put(row))


def _check_names(*names: str | None) -> None:
    for name in names:
        refuse_zeros(name or "", "the name of an item or space")
        if has_private(name or ""):
            raise Invalid("the name of an item or space contains private text", fix="use another name")


def _write(parts: Parts, work: Callable[[Writer], T]) -> T:
    return parts.store.commit(parts.user_id, work)


def forget_unused(parts: Parts, sources: Collection[str], reason: str) -> None:
    """Forget memories that only items stated and no item states any more."""
    for memory_id in list_unused(parts, sources):
        forget(parts, memory_id, reason)


def screen_value(value: object, policy: str) -> object:
    """Return a value without private parts, and apply the secrets policy to its texts; may raise `Invalid`."""
    return _mask_value(cut_private_fields(value), policy)


def _mask_value(value: object, policy: str) -> object:
    if isinstance(value, str):
        return screen_secrets(value, policy).text
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        return {name: _mask_value(one, policy) for name, one in table.items()}
    if isinstance(value, list):
        return [_mask_value(one, policy) for one in cast("list[object]", value)]
    return value


def load_value(value: str) -> object:
    """Parse the value of an item."""
    return json.loads(value)


def dump_value(value: object) -> str:
    """Serialise the value of an item; raise `Invalid` for one that is not JSON, `LimitExceeded` for a large one."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(
            "the value is not JSON", why=str(error)[:200], fix="give tables, lists, texts and numbers"
        ) from error
    if size > limits.ITEM_BYTES:
        raise LimitExceeded(
            f"the value has {size:,} bytes", why=f"an item has at most {limits.ITEM_BYTES:,}", fix="store it in parts"
        )
    return text
