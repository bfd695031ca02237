"""New values without a slot: "make that 15", "we're up to 14 now", "it's Linz now".

The slot comes from the memory with the same words, or from the previous statement.
"""

from __future__ import annotations

import re
from typing import Final

from credenda.model.claim import UpdateKind
from credenda.model.memory import MemoryType
from credenda.write.extract.lexicon import lexicon
from credenda.write.extract.readings import Reading

__all__ = ["amount_of"]

_NUMBER: Final = (
    r"(?:\S*\d\S*|(?:half an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty))"
)
_DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_UP_TO: Final = re.compile(
    rf"^(?:i|we) (?:am|are) (?:now )?(?:already )?(?:back )?(?:up|down) to (?P<value>{_NUMBER} .+?)"
    r"(?: now| these days)?$",
    re.IGNORECASE,
)
_MAKE_THAT: Final = re.compile(
    rf"^(?:make|call|let us make) (?:that|it) (?P<value>{_NUMBER}(?: [\w%€$£.:]+){{0,3}}|{_DAY})$", re.IGNORECASE
)
_IT_IS_NOW: Final = re.compile(
    rf"^(?:it|that) (?:is|costs|starts|runs|takes|went|has gone|has moved|moved)(?P<now> now)?"
    rf" (?:now )?(?:up to |down to |at |on |to )?(?P<value>{_NUMBER}(?: [\w%€$£.:]+){{0,2}}?|{_DAY})(?P<now2> now)?$",
    re.IGNORECASE,
)
_NAME: Final = (
    r"(?:an? |the )?(?:(?:Dr|Mr|Mrs|Ms)\.? )?(?-i:[A-Z])[\w'&-]*(?:\.\w+)?(?: (?-i:[A-Z])[\w'&-]*){0,2}|(?-i:[a-z]+)"
)
_SO_NOW: Final = re.compile(
    rf"^(?:make (?:that|it) (?P<made>{_NAME})"
    rf"|(?:it|that) (?:has )?(?:changed|switched) (?:from [^,]{{1,24}} )?to (?P<to>{_NAME})"
    rf"|(?:it|that) is (?:now (?P<after>{_NAME})|(?P<before>{_NAME}) now))$",
    re.IGNORECASE,
)
_TRIGGERS: Final = frozenset({"i", "we", "it", "that", "make", "call", "let"})


def amount_of(clause: str, owner: str, *, corrects: bool) -> Reading | None:
    """Parse a new amount or day; None without one. Without a noun the reading has no entity."""
    if clause.split(" ", 1)[0].lower() not in _TRIGGERS:
        return None
    if found := _UP_TO.match(clause):
        return _reading(found["value"], UpdateKind.CHANGE, owner)
    if found := _MAKE_THAT.match(clause):
        return _reading(found["value"], UpdateKind.CORRECT, None)
    found = _IT_IS_NOW.match(clause)
    if found is not None and (corrects or found["now"] or found["now2"]):
        return _reading(found["value"], UpdateKind.CORRECT if corrects else UpdateKind.CHANGE, None)
    return _named(clause, corrects=corrects)


def _named(clause: str, *, corrects: bool) -> Reading | None:
    """Parse a new name, or a thing of a known kind: "it's Linz now", "make that green"."""
    found = _SO_NOW.match(clause)
    value = "" if found is None else next(one for one in found.groups() if one)
    if not (value[:1].isupper() or value.rpartition(" ")[2][:1].isupper() or lexicon().category(value)):
        return None
    move = UpdateKind.CORRECT if corrects or (found is not None and found["made"]) else UpdateKind.CHANGE
    return _reading(value, move, None)


def _reading(value: str, move: UpdateKind, entity: str | None) -> Reading:
    return Reading(
        type=MemoryType.FACT,
        entity=entity,
        value=value.strip(" .!"),
        move=move,
        importance=0.5,
        durable=True,
        pattern="amount",
    )
