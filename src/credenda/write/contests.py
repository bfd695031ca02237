"""Decide the changes of an answer to a contest: one value is kept, or each gets its own scope (R-086, R-087). Pure.

The answer is stored as memories with higher confidence and importance than the contested values; they govern the slot
from then on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from credenda.clock import DAY_US
from credenda.errors import Conflict, Invalid
from credenda.limits import CONTEST_MEMBERS, CONTEST_SUPERSESSIONS
from credenda.model.change import (
    Add,
    Change,
    Contest,
    ContestCase,
    ContestState,
    Resolve,
    SlotLoop,
    Supersede,
    Support,
    end_memory,
)
from credenda.model.claim import Span, UpdateKind
from credenda.model.memory import (
    Cardinality,
    Draft,
    Layer,
    Memory,
    MemoryType,
    Relation,
    Slot,
    Stance,
    Status,
    get_initial_layer,
    get_valid_from_us,
)
from credenda.model.statement import replace_given
from credenda.text.normalize import normalise_name, normalise_value
from credenda.write.reconcile.alternation import format_question, get_contest_slot
from credenda.write.reconcile.candidate import claim_hash, make_claim
from credenda.write.reconcile.slot_state import find_conflicting, sort_newest_first
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    CURRENT_STATUSES,
    StatementContext,
    describe_slot,
    display_value,
    explain_replacement,
    get_slot,
    is_denial,
    quote_value,
    split_value,
)

# Parse a free-text answer to a contest, such as "morning when consulting, else afternoon". Pure.


DEFAULT_SCOPE: Final = "default"
"""The name of "no scope" in an answer."""
_ANSWER_CHARACTERS: Final = 2_000
_CONDITION: Final = r"(?:when|whenever|if|while|during|for|at|on|in|with|as)\b"
_CLAUSE: Final = re.compile(
    rf"(?P<value>\S[^,;]{{0,200}}?)\s+(?P<scope>{_CONDITION}\s+\S[^,;]{{0,200}})", re.IGNORECASE
)
_TURNED: Final = re.compile(
    rf"(?P<scope>{_CONDITION}\s+[^,;:]{{1,200}})\s*[,:]\s*(?P<value>[^,;:]{{1,200}})", re.IGNORECASE
)
_ELSE: Final = re.compile(
    r"\s*[,;.]?\s*\b(?:and |but )?(?:else|otherwise|in all other cases|everywhere else|the rest of the time)\b[,:]?\s*",
    re.IGNORECASE,
)
_BARE: Final = re.compile(r"^(?:for|at|on|in|during|when|while)\s+(?=\w+$|the\s+\w+$)", re.IGNORECASE)
"""The preposition before a one-word scope: "for consulting" and "when consulting" are the scope "consulting"."""
_EVERY: Final = frozenset({"both", "both of them", "both hold", "keep both", "all", "all of them", "keep all"})


def is_every_value(answer: str) -> bool:
    """Return whether an answer says that all values hold, such as "both".

    >>> is_every_value("Both of them."), is_every_value("morning")
    (True, False)
    """
    return normalise_name(answer.strip().rstrip(".!")) in _EVERY


def parse_scopes(answer: str) -> Mapping[str, str] | None:
    """Parse an answer that assigns values to scopes and a default; None for any other answer.

    >>> parse_scopes("morning when consulting, else afternoon")
    {'consulting': 'morning', 'default': 'afternoon'}
    >>> parse_scopes("when I travel: tea; otherwise coffee")
    {'when I travel': 'tea', 'default': 'coffee'}
    >>> parse_scopes("morning") is None
    True
    """
    found = _ELSE.split(answer.strip().rstrip(".")) if len(answer) <= _ANSWER_CHARACTERS else []
    if len(found) != 2 or not found[0].strip() or not found[1].strip():  # noqa: PLR2004 - before and after "else"
        return None
    clauses = _parse_clauses(found[0])
    if not clauses:
        return None
    scopes = {_BARE.sub("", scope.strip(), count=1): value.strip() for scope, value in clauses}
    if len({normalise_name(scope) for scope in scopes}) < len(clauses):
        return None
    return {**scopes, DEFAULT_SCOPE: found[1].strip()}


def _parse_clauses(text: str) -> list[tuple[str, str]]:
    """Return (scope, value) of every clause, or nothing if any clause has another form."""
    turned = [_TURNED.fullmatch(part.strip()) for part in text.split(";")]
    if all(turned):
        return [(one["scope"], one["value"]) for one in turned if one]
    plain = [_CLAUSE.fullmatch(part.strip()) for part in re.split(r"[,;]\s*(?:and\s+)?", text)]
    return [(one["scope"], one["value"]) for one in plain if one] if all(plain) else []


_ANSWER_IMPORTANCE: Final = 0.9
_ANSWER_CONFIDENCE: Final = 0.95
"""In the band of explicit preferences (R-054), above any unprompted statement."""

_SCOPE_WORDS: Final = frozenset(
    {"for", "at", "in", "on", "with", "when", "while", "during", "if", "as", "by", "after", "before", "from"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One part of the answer: `choice` holds in `scope` (None: everywhere else)."""

    scope: str | None
    choice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The parts of an answer, the default last, and the rows needed to apply it."""

    contest: ContestCase
    members: tuple[Memory, ...]
    parts: tuple[_Part, ...]
    occasion: StatementContext
    span: Span | None


def decide_resolution(
    contest: ContestCase,
    members: tuple[Memory, ...],
    *,
    keep: str | None,
    scopes: Mapping[str, str] | None,
    occasion: StatementContext,
    span: Span | None = None,
) -> list[Change]:
    """Close a contest with the user's answer: exactly one of `keep` (a value) and `scopes` (scope → value).

    A value is named by its words: "morning" means "morning meetings" if no other value contains it. The scope `default`
    means no scope. `keep` may also assign scopes: "morning when consulting, else afternoon"; or say "both", and all
    values hold from then on, as a set.

    `members` are the contest's memories, and may be all of its pair; `span` is the evidence of the answer, if it is
    journaled.

    Raises `Invalid` for no answer or two, and for an unknown or ambiguous value; `Conflict` for a resolved contest.
    """
    if contest.state is ContestState.RESOLVED:
        raise Conflict(
            f"contest {contest.id} is already resolved",
            why="an answer was given before",
            fix="store the new value with `remember`, which reopens it",
            contest_id=contest.id,
        )
    held = tuple(one for one in sort_newest_first(members) if one.status in CURRENT_STATUSES)
    parts = _parse_parts(contest, _list_choices(contest, held), keep, scopes)
    # Add the answer's memories, supersede the contested ones, and close the contest.
    answer = _Answer(contest=contest, members=held, parts=parts, occasion=occasion, span=span)
    adds = [_add_part(answer, part) for part in answer.parts]
    resolution = _format_resolution(answer.parts)
    return [
        *adds,
        *_supersede_members(answer, adds),
        Resolve(
            contest_id=answer.contest.id,
            resolution=resolution,
            scopes=_collect_scopes(answer),
            keep=tuple(add.key for add in adds),
            reason=f"the user answered: {'; '.join(_quote_clause(part) for part in answer.parts)}",
        ),
    ]


def _list_choices(contest: ContestCase, held: tuple[Memory, ...]) -> list[str]:
    named = [*contest.values, *(display_value(one) for one in held if one.id in contest.memory_ids)]
    return list({normalise_value(value): value for value in reversed(named)}.values())[::-1]


def _parse_parts(
    contest: ContestCase, choices: list[str], keep: str | None, scopes: Mapping[str, str] | None
) -> tuple[_Part, ...]:
    """Parse the answer, the default part last; the default of a scoped contest is its own scope."""
    if bool(keep and keep.strip()) == bool(scopes):
        raise Invalid(
            "a contest needs one answer",
            why="exactly one of keep and scopes answers it",
            fix=f"keep one of {_format_choices(choices)}, or give each its scope",
        )
    if keep and not _is_choice(keep, choices) and is_every_value(keep):
        return tuple(_Part(scope=contest.scope, choice=choice) for choice in choices)
    told = parse_scopes(keep) if keep and not _is_choice(keep, choices) else None
    given = dict(scopes or told or {DEFAULT_SCOPE: keep or ""})
    if len({normalise_name(scope) for scope in given}) < len(given) or not all(map(normalise_name, given)):
        raise Invalid("the scopes are not distinct", why="two are the same, or one is empty", fix="name each once")
    parts = [
        _Part(scope=_parse_scope(scope, contest), choice=_match_choice(value, choices))
        for scope, value in given.items()
    ]
    return tuple(sorted(parts, key=lambda part: part.scope == contest.scope))


def _is_choice(words: str, choices: list[str]) -> bool:
    return any(split_value(choice) == split_value(words) for choice in choices)


def _parse_scope(name: str, contest: ContestCase) -> str | None:
    return contest.scope if normalise_name(name) == DEFAULT_SCOPE else name.strip()


def _match_choice(words: str, choices: list[str]) -> str:
    """Find the value that is meant: by its full form, else by its words, else by its words without a plural s."""
    asked = split_value(words)
    exact = [choice for choice in choices if split_value(choice) == asked]
    worded = [choice for choice in choices if asked and set(asked) <= set(split_value(choice))]
    stemmed = [choice for choice in choices if asked and _stem_words(asked) <= _stem_words(split_value(choice))]
    found = exact or worded or stemmed
    if len(found) == 1:
        return found[0]
    raise Invalid(
        f"{words!r} names {'more than one' if found else 'none'} of the values",
        why=f"the choices are {_format_choices(choices)}",
        fix="use words that only one of them contains",
    )


def _stem_words(words: list[str]) -> set[str]:
    return {word.removesuffix("s") for word in words}


def _format_choices(choices: list[str]) -> str:
    return ", ".join(map(quote_value, choices))


def _add_part(answer: _Answer, part: _Part) -> Add:
    # Draft one part of the answer, with the fields of the newest memory that had its value.
    alternating = [one for one in answer.members if one.id in answer.contest.memory_ids]
    holders = [one for one in alternating if normalise_value(display_value(one)) == normalise_value(part.choice)]
    pattern = next(iter(holders or alternating), None)
    holder = holders[0] if holders else None
    kind = pattern.type if pattern else MemoryType.FACT
    contest, occasion = answer.contest, answer.occasion
    entity = pattern.entity if pattern else contest.entity
    draft = Draft(
        text=_write_text(answer, part, kind, entity or contest.entity),
        type=kind,
        topic=pattern.topic if pattern else occasion.topic,
        entity=entity,
        attribute=pattern.attribute if pattern else contest.attribute,
        value=holder.value if holder else part.choice,
        scope=_match_spelling(part.scope, alternating),
        cardinality=Cardinality.SET
        if [one for one in answer.parts if one is not part and one.scope == part.scope]
        else Cardinality.SINGLE,
        stance=Stance.NEGATED if holder and is_denial(holder) else Stance.ASSERTED,
        speaker=pattern.speaker if pattern else contest.speaker,
        confidence=max(_ANSWER_CONFIDENCE, *(one.confidence for one in holders), 0.0),
        importance=max(_ANSWER_IMPORTANCE, *(one.importance for one in holders), 0.0),
        layer=get_initial_layer(kind, pattern.attribute if pattern else contest.attribute),
        valid_from_us=occasion.occurred_us,
        trust=occasion.trust,
        pinned=any(one.pinned for one in holders),
        source_session=occasion.session,
        tags=tuple(dict.fromkeys([*occasion.tags, *(pattern.tags if pattern else ())])),
        metadata=replace_given(occasion.metadata),
        expires_us=occasion.expires_us,
    )
    number = answer.parts.index(part) + 1
    return Add(
        key=f"new:{answer.contest.id}:{number}",
        draft=draft,
        support=_build_support(draft, answer.span),
        reason="answer to a contest",
    )


def _build_support(draft: Draft, span: Span | None) -> tuple[Support, ...]:
    if span is None:
        return ()
    return (Support(span=span, claim_hash=claim_hash(make_claim(draft, span, UpdateKind.STATE))),)


def _supersede_members(answer: _Answer, adds: list[Add]) -> list[Change]:
    """Supersede the contested memories, and all others in the slots that the answer fills."""
    filled = {get_slot(add.draft) for add in adds} - {None}
    ended = [one for one in answer.members if one.id in answer.contest.memory_ids or get_slot(one) in filled]
    return [_supersede_member(answer, one, adds) for one in ended]


def _supersede_member(answer: _Answer, member: Memory, adds: list[Add]) -> Supersede:
    """Supersede a member by the part with its value, else by that of its slot, else by the default."""
    told = normalise_value(display_value(member))
    same_value = [add for add in adds if normalise_value(display_value(add.draft)) == told]
    same_slot = [add for add in adds if get_slot(add.draft) == get_slot(member)]
    successor = (same_value or same_slot or adds[::-1])[0]
    relation = Relation.REFINED if same_value else Relation.CHANGED
    reason = explain_replacement(relation, display_value(successor.draft), display_value(member))
    if same_value:
        reason = "the answer keeps its value"
    return end_memory(member, answer.occasion.occurred_us, reason, successor.key, relation=relation)


def _collect_scopes(answer: _Answer) -> dict[str, str]:
    """Return the scopes of each value; a value that is also the default gets only the default scope."""
    scopes: dict[str, str] = {}
    for part in answer.parts:
        scope = DEFAULT_SCOPE if part.scope == answer.contest.scope else part.scope or DEFAULT_SCOPE
        before = scopes.get(part.choice)
        scopes[part.choice] = scope if before is None or scope == DEFAULT_SCOPE else f"{before}, {scope}"
    return scopes


def _format_resolution(parts: tuple[_Part, ...]) -> str:
    """Format the whole answer as one line."""
    *scoped, last = parts
    if not scoped and last.scope is None:
        return last.choice
    if scoped and all(part.scope == last.scope for part in scoped):
        return " and ".join(part.choice for part in parts)
    return "; ".join(map(_format_clause, parts))


def _quote_clause(part: _Part) -> str:
    """Format a part with its value quoted, so that deleting the value redacts it."""
    return f"{quote_value(part.choice)} {_format_scope(part.scope)}" if part.scope else quote_value(part.choice)


def _format_clause(part: _Part) -> str:
    return f"{part.choice} {_format_scope(part.scope)}" if part.scope else f"otherwise {part.choice}"


def _format_scope(scope: str) -> str:
    return scope if scope.split(maxsplit=1)[0].lower() in _SCOPE_WORDS else f"for {scope}"


def _match_spelling(scope: str | None, members: list[Memory]) -> str | None:
    """Return a scope as the memories spell it, if any of them has it."""
    same = (one.scope for one in members if scope and one.scope and normalise_name(one.scope) == normalise_name(scope))
    return next(same, scope)


def _write_text(answer: _Answer, part: _Part, kind: MemoryType, entity: str) -> str:
    """Write a self-contained sentence: the value of this part, and those of the others."""
    others = [one for one in answer.parts if one.scope != part.scope]
    here = f"{part.choice} {_format_scope(part.scope)}" if part.scope else part.choice
    clauses = "; ".join([here, *map(_format_clause, others)])
    if kind is MemoryType.PREFERENCE:
        subject = "Prefers" if normalise_name(entity) == "user" else f"{entity} prefers"
        return f"{subject} {clauses}."
    return f"{describe_slot(entity, answer.contest.attribute)}: {clauses}."


# Find the earlier values that a memory contradicts, and build the contest about them. Pure.


def find_contradicted(memory: Memory, rows: Iterable[Memory]) -> list[Memory]:
    """Return the memories of the slot that a memory contradicts without saying so, the newest first.

    Those are the active ones of a challenged memory, and the ones that an active memory has replaced although its text
    does not name their value. `rows` are the memories with its entity and attribute.
    """
    known = list(rows)
    match memory.status:
        case Status.CHALLENGED:
            return sort_newest_first(find_conflicting(memory, known))
        case Status.ACTIVE:
            return sort_newest_first(one for one in known if _is_replaced_unnamed(one, memory))
        case _:
            return []


def _is_replaced_unnamed(one: Memory, successor: Memory) -> bool:
    replaced = one.superseded_by == successor.id and one.status is Status.SUPERSEDED
    return replaced and one.relation is Relation.CHANGED and not _has_words(successor.text, one.value or "")


def _has_words(text: str, value: str) -> bool:
    return f" {normalise_name(value)} " in f" {normalise_name(text)} "


def build_contradiction(
    memory: Memory, contradicted: Iterable[Memory], contests: Iterable[ContestCase], reason: str
) -> Contest | None:
    """Build the contest between a memory and those that it contradicts, the newest last; None where there are none.

    It includes the values of a contest that is already open in the slot.
    """
    slot, others = get_slot(memory), list(contradicted)
    if slot is None or not others:
        return None
    members = [*others[: CONTEST_MEMBERS - 1][::-1], memory]
    asked = next((one for one in contests if _is_open_in(one, slot)), None)
    ids = [*(asked.memory_ids if asked else ()), *(one.id for one in members)]
    values = [*(asked.values if asked else ()), *map(display_value, members)]
    told = tuple({normalise_value(value): value for value in values}.values())
    return Contest(
        slot=slot,
        memory_ids=tuple(dict.fromkeys(ids)),
        values=told,
        question=format_question(slot, told),
        reason=reason,
    )


def _is_open_in(contest: ContestCase, slot: Slot) -> bool:
    return contest.state is ContestState.OPEN and get_contest_slot(contest) == slot


# Find slots that flip-flop, from their replaced values. Pure.


_REPLACED = frozenset({Relation.CHANGED, Relation.CORRECTED})


def find_slot_loops(
    replaced: Iterable[Memory], held: Iterable[Memory], contests: Iterable[ContestCase], *, now_us: int, days: int
) -> list[SlotLoop]:
    """Find the slots in which at least three values were replaced in the last `days`, the worst first (R-085).

    `replaced` are superseded memories, `held` the active ones, whose values end the sequence. Values of an open contest
    count as replaced.
    """
    by_slot: dict[Slot, list[Memory]] = {}
    for one in replaced:
        slot, until_us = get_slot(one), one.valid_until_us
        if one.layer is Layer.CODEBASE:
            continue  # edits of a file are no flip-flops
        recent = until_us is not None and now_us - days * DAY_US <= until_us <= now_us
        if slot is not None and recent and one.relation in _REPLACED and one.stance in ASSERTIVE_STANCES:
            by_slot.setdefault(slot, []).append(one)
    now_held: dict[Slot, list[Memory]] = {}
    for one in held:
        slot = get_slot(one)
        if slot is not None and one.stance in ASSERTIVE_STANCES:
            now_held.setdefault(slot, []).append(one)
    asked: dict[tuple[object, ...], str] = {
        get_contest_slot(one): one.id for one in contests if one.state is ContestState.OPEN
    }
    found = [
        _describe_loop(slot, gone, now_held.get(slot, []), asked.get(tuple(slot)))
        for slot, gone in by_slot.items()
        if len(gone) + _count_contested(now_held.get(slot, [])) >= CONTEST_SUPERSESSIONS
    ]
    return sorted(found, key=lambda one: (-one.superseded_count, -one.last_superseded_us, one.entity, one.attribute))


def _count_contested(held: list[Memory]) -> int:
    """Count the replacements that a contest prevented."""
    return max(0, sum(one.contested for one in held) - 1)


def _describe_loop(slot: Slot, gone: list[Memory], held: list[Memory], contest_id: str | None) -> SlotLoop:
    ordered = sorted([*gone, *held], key=lambda one: (get_valid_from_us(one), one.created_us, one.id))
    return SlotLoop(
        speaker=slot.speaker,
        entity=slot.entity,
        attribute=slot.attribute,
        scope=slot.scope,
        superseded_count=len(gone) + _count_contested(held),
        first_seen_us=min(get_valid_from_us(one) for one in gone),
        last_superseded_us=max(one.valid_until_us or 0 for one in gone),
        values=tuple(map(display_value, ordered)),
        contest_id=contest_id,
    )
