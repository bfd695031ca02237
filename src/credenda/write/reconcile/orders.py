"""Which standing orders a new one replaces, ends or puts in doubt. Pure.

Of two orders about one matter the later one holds. An order that is about more than the later one is only in doubt.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from credenda.model.change import Change, SetStatus, Supersede, end_memory
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Memory, Relation, Stance, Status, get_valid_from_us
from credenda.write.extract.orders import INSTRUCTION, Order, is_lifted, is_opposed, is_repeated, read_order
from credenda.write.reconcile.slot_state import SlotState
from credenda.write.reconcile.slots import display_value, explain_replacement, find_weakness, has_same_meaning

_LIFTED: Final = "taken back"


def find_affected_orders(claim: Claim, held: Iterable[Memory]) -> list[Memory]:
    """Find the standing orders that an order may end, newest last."""
    new = read_order(claim.text)
    return [one for one in held if _is_order(one) and _is_affected(new, read_order(one.text))]


def decide_order(scene: SlotState) -> list[Change] | None:
    """Replace or end the orders that an order opposes or takes back; None where it does neither."""
    claim = scene.claim
    if scene.slot.attribute != INSTRUCTION or claim.stance is Stance.REPORTED:
        return None
    new, ends = read_order(claim.text), claim.move is UpdateKind.END
    held = [one for one in scene.known.current if _is_order(one) and one.speaker == claim.speaker]
    held = [one for one in held if (one.scope or None) == (claim.scope or None)]
    known = {one.id: read_order(one.text) for one in held}
    lifted = [one for one in held if is_lifted(new, known[one.id]) or (ends and _has_same_act(new, known[one.id]))]
    if lifted or ends:
        return _lift(scene, lifted, [one for one in lifted if _is_whole(new, known[one.id])])
    opposed = [one for one in held if is_opposed(new, known[one.id])]
    if opposed:
        return _replace(scene, opposed, [one for one in opposed if _is_whole(new, known[one.id])])
    twin = next((one for one in held if is_repeated(new, known[one.id])), None)
    same = any(has_same_meaning(claim, one) for one in held)
    return None if twin is None or same else [scene.candidate.confirm(twin, "restated in other words")]


def _lift(scene: SlotState, lifted: list[Memory], whole: list[Memory]) -> list[Change]:
    """End the orders that are taken back, and doubt those that are so in part; words that take back none add none."""
    saying = scene.candidate
    return [
        *(saying.confirm(one, _LIFTED) for one in lifted),
        *(end_memory(one, saying.occasion.occurred_us, _LIFTED) for one in whole),
        *(_doubt(one, scene.claim) for one in lifted if one not in whole),
    ]


def _replace(scene: SlotState, opposed: list[Memory], whole: list[Memory]) -> list[Change]:
    """Let an order take the place of others, unless it is less trusted, or was given before one of them."""
    claim, saying = scene.claim, scene.candidate
    if any(find_weakness(claim, saying.occasion.trust, one) for one in opposed):
        return [saying.add("contradicts another order, but its source is less trusted", status=Status.CHALLENGED)]
    later = [one for one in opposed if get_valid_from_us(one) > saying.begins_us]
    if later:
        heir = min(later, key=get_valid_from_us)
        why, until_us = _explain(heir, claim), get_valid_from_us(heir)
        over = Supersede(
            memory_id=saying.key, successor=heir.id, relation=Relation.CHANGED, valid_until_us=until_us, reason=why
        )
        return [saying.add(why), over]
    return [
        saying.add(_explain(claim, opposed[0])),
        *(end_memory(one, saying.begins_us, _explain(claim, one), saying.key) for one in whole),
        *(_doubt(one, claim) for one in opposed if one not in whole),
    ]


def _has_same_act(new: Order, held: Order) -> bool:
    """Return whether two orders are about the same act, whatever they say of it."""
    return bool(new.act) and new.act == held.act


def _is_order(memory: Memory) -> bool:
    return memory.status is Status.ACTIVE and memory.attribute == INSTRUCTION and memory.stance is Stance.ASSERTED


def _is_affected(new: Order, held: Order) -> bool:
    return is_lifted(new, held) or is_opposed(new, held)


def _is_whole(new: Order, held: Order) -> bool:
    """Return whether an order is about all that another one is about."""
    told = {name for name, _ in new.wants | new.rejects}
    return _has_same_act(new, held) or {name for name, _ in held.wants | held.rejects} <= told


def _explain(new: Claim | Memory, old: Claim | Memory) -> str:
    return explain_replacement(Relation.CHANGED, display_value(new), display_value(old))


def _doubt(memory: Memory, claim: Claim) -> SetStatus:
    why = f"{_explain(claim, memory)}, at least in part"
    return SetStatus(memory_id=memory.id, status=Status.CHALLENGED, reason=why)
