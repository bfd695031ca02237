"""The memories about somebody whose name was wrong, which get the right one: "it's Timo, not Tim". Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Final

from credenda.model.attributes import get_attribute
from credenda.model.change import Add, Change, Supersede, Support, end_memory
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Draft, Memory, Relation, Status, get_valid_from_us
from credenda.text.normalize import is_same_value, normalise_name
from credenda.write.extract.voices import names
from credenda.write.reconcile.slots import explain_replacement

_FIELDS: Final = tuple(one.name for one in fields(Draft))


def list_wrong_name(claim: Claim) -> list[str]:
    """Return the words of the name that a claim calls wrong; none for a claim that corrects no name."""
    named = claim.move is UpdateKind.CORRECT and _is_of_person(claim.attribute or "")
    return (claim.prior or "").split() if named and (claim.value or "")[:1].isupper() else []


def rename_entities(
    claim: Claim, changes: Sequence[Change], held: Sequence[Memory], supports: Mapping[str, tuple[Support, ...]]
) -> list[Change]:
    """Return the changes by which the memories about somebody follow the correction of their name in `changes`.

    `held` are memories with the wrong name, `supports` the evidence of each. If another message tells of somebody else
    of that name, the facts about the bare name stay, since they may be of either.
    """
    wrong = {one.memory_id for one in changes if isinstance(one, Supersede) and one.relation is Relation.CORRECTED}
    old = next((one for one in held if one.id in wrong and is_same_value(one.value, claim.prior)), None)
    if old is None or not claim.value or not old.value:
        return []
    own = [one for one in held if one.status is Status.ACTIVE and one.id not in wrong and one.speaker == old.speaker]
    told = {one.span.event_id for one in supports.get(old.id, ())}
    same = [one for one in own if is_same_value(one.value, old.value) and _is_of_person(one.attribute or "")]
    beside = [one for one in same if told & {link.span.event_id for link in supports.get(one.id, ())}]
    forms = {normalise_name(f"{old.entity}'s {(old.attribute or '').replace('_', ' ')} {old.value}")}
    forms |= {normalise_name(old.value)} if len(beside) == len(same) else set[str]()
    renamed: list[Change] = []
    for one in own:
        entity, value = one.entity or "", one.value
        if normalise_name(entity) in forms and entity.casefold().endswith(old.value.casefold()):
            entity = entity[: -len(old.value)] + claim.value
        value = claim.value if one in beside else value
        if (entity, value) != (one.entity, one.value):
            draft = Draft(**{name: getattr(one, name) for name in _FIELDS})
            reason = explain_replacement(Relation.CORRECTED, claim.value, old.value)
            key = f"new:{one.id}"
            renamed += [
                Add(key=key, draft=replace(draft, entity=entity, value=value), support=supports[one.id], reason=reason),
                end_memory(one, get_valid_from_us(one), reason, key, relation=Relation.CORRECTED),
            ]
    return renamed


def _is_of_person(attribute: str) -> bool:
    return get_attribute(attribute).kind == "person" or names().kin_noun(attribute.replace("_", " ")) is not None
