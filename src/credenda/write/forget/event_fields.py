"""Remove deleted text from the other fields of an event: tags, topic, session and metadata."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import islice
from typing import Final, cast

from credenda.model.event import NewEvent
from credenda.model.memory import Draft, MemoryType
from credenda.storage.store import Reader
from credenda.text.normalize import normalise_text
from credenda.text.sentences import split_sentences
from credenda.write.forget.tombstones import SENTENCES_MAX, get_voice, hash_slot_forms, hash_text_forms

__all__ = ["is_label", "remove_deleted_fields"]

_LABEL: Final = re.compile(r"[^\w\n]{0,8}\w[^:\n]{0,120}:[ \t]*")
"""A speaker or topic before a colon, without the text that followed."""
_NOTHING: Final = object()
_SLOT: Final = ("entity", "attribute", "value")
"""The keys under which the metadata of an imported memory has its slot."""


def is_label(text: str, original: str = "") -> bool:
    """Return whether every line of a text is a label without a text, as in `original`, or has no words.

    >>> is_label("Ana: "), is_label("Ana: tea"), is_label("")
    (True, False, True)
    """
    labels = {normalise_text(found[0]) for line in original.split("\n") if (found := _LABEL.match(line))} | {""}
    return all(_LABEL.fullmatch(line) or normalise_text(line) in labels for line in text.split("\n"))


def remove_deleted_fields(
    reader: Reader, event: NewEvent, cut: Collection[str], lifted: AbstractSet[bytes] = frozenset()
) -> NewEvent:
    """Remove every field, or part of one, that repeats deleted text.

    `cut` are normal forms of text cut here, `lifted` tombstones that the same call removes.
    """
    key, voice = reader.tenant.key, get_voice(event)

    def is_deleted(told: str) -> bool:
        pieces = [told[start:stop] for start, stop in islice(split_sentences(told), SENTENCES_MAX)]
        said = [piece for piece in (told, *pieces) if normalise_text(piece)]
        digests = [digest for piece in said for digest in hash_text_forms(key, piece, voice)]
        return bool(digests and reader.tombstoned(digests) - lifted)

    def is_gone(told: str) -> bool:
        said = normalise_text(told)
        return any(one in said for one in cut) or is_deleted(told)

    def holds_value(table: Mapping[str, object]) -> bool:
        entity, attribute, value = (str(table.get(name) or "") for name in _SLOT)
        said = Draft(text="", type=MemoryType.FACT, entity=entity, attribute=attribute, value=value)
        return bool(value and reader.tombstoned(hash_slot_forms(key, said)) - lifted)

    metadata = _clean(event.metadata, is_gone, holds_value)
    return replace(
        event,
        topic=None if event.topic and is_deleted(event.topic) else event.topic,
        session="" if event.session and is_deleted(event.session) else event.session,
        tags=tuple(tag for tag in event.tags if not is_deleted(tag)),
        metadata=cast("Mapping[str, object]", {} if metadata is _NOTHING else metadata),
    )


def _clean(
    value: object, is_gone: Callable[[str], bool], holds_value: Callable[[Mapping[str, object]], bool]
) -> object:
    """Return a value without its deleted parts, such as the value of a slot; `_NOTHING` if it is deleted itself."""
    if isinstance(value, str):
        return _NOTHING if is_gone(value) else value
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        bare = {name: one for name, one in table.items() if name != "value"} if holds_value(table) else table
        kept = ((name, _clean(one, is_gone, holds_value)) for name, one in bare.items() if not is_gone(name))
        return {name: one for name, one in kept if one is not _NOTHING}
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        return [one for one in (_clean(item, is_gone, holds_value) for item in items) if one is not _NOTHING]
    return value
