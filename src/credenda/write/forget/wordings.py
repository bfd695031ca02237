"""Take the wording that came with a claim out of memories that lost words, or where it has words of deleted ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from credenda.model.memory import Memory
from credenda.model.statement import GIVEN, list_given, replace_given
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.tokens import tokenize

_Field = tuple[str, object, object]


def leave_out_wordings(versions: Iterable[Memory], fields: Iterable[_Field] = ()) -> list[_Field]:
    """Return the fields of versions that lose words, with metadata that has no wording of a claim any more."""
    lost = list(fields)
    for one in versions:
        left = next((now for name, before, now in lost if name == "metadata" and before == one.metadata), one.metadata)
        if list_given(one.metadata):
            lost.append(("metadata", one.metadata, replace_given(cast("Mapping[str, object]", left))))
    return lost


def find_wordings(reader: Reader, deleted: Iterable[str]) -> list[Memory]:
    """Find the memories whose wording has a deleted word that they have nowhere else, such as somebody's name."""
    gone = {word for text in deleted for word in tokenize(text)}
    found: list[Memory] = []
    for one in reader.find(MemoryFilter(label=f'"{GIVEN}')):
        own = (one.text, one.entity or "", (one.attribute or "").replace("_", " "), one.value or "", one.scope or "")
        more = {word for text in list_given(one.metadata) for word in tokenize(text)}
        if (more & gone).difference(*map(tokenize, own)):
            found.append(one)
    return found
