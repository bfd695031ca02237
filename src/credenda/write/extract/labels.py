"""Labelled notes about a personal state: "Phone plan: Lebara, 15 GB, 9.90 a month".

The text after the label is the whole value, so that the next note with the same label replaces it. Labels of lists,
tasks and conversation ("Idea:", "Groceries:") are excluded.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from credenda.model.claim import UpdateKind
from credenda.model.memory import Cardinality, MemoryType
from credenda.text.normalize import normalise_attribute
from credenda.write.extract.lexicon import load_table
from credenda.write.extract.readings import Reading

__all__ = ["labelled"]

_NOTE: Final = re.compile(
    r"^(?:(?:my|our|the|new|current) )*(?P<label>[a-z][\w'/-]*(?: [a-z][\w'/-]*){0,2}) ?(?::|=| [-@\u2013\u2014]) ?"
    r"(?P<value>(?! )(?!(?:i|i'm|my|we|our|you|can|could|would|should|please|how|what|why|when|is|are|do|does|did|let"
    r"|to|need|remember|check|ask|buy|call|book|pay|send|cancel|tbd|todo|\?)\b)[^?:]{2,120})$",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(r"\s*\((?:since|from|as of|new|moved|changed|updated|was|until|formerly|ex)\b[^()]*\)$")


@cache
def _headings() -> dict[str, str]:
    table = load_table("hasty")["headings"]
    return {one: kind for kind in ("fact", "preference") for one in table[kind]}


def labelled(sentence: str, owner: str) -> Reading | None:
    """Parse a labelled note; None if its label names no single state.

    >>> labelled("Book club: first Thursday of the month, at Noor's", "user").value
    "first Thursday of the month, at Noor's"
    """
    found = _NOTE.match(sentence.strip(" .!"))
    if found is None:
        return None
    label = " ".join(found["label"].lower().split())
    kind = _headings().get(label) or _headings().get(label.rsplit(" ", 1)[-1])
    if kind is None:
        return None
    return Reading(
        type=MemoryType(kind),
        entity=owner,
        attribute=normalise_attribute(label),
        value=_ASIDE.sub("", found["value"]).strip(" ,.;"),
        cardinality=Cardinality.SINGLE,
        move=UpdateKind.CHANGE,
        confidence=0.75,
        importance=0.55,
        pattern="labelled",
    )
