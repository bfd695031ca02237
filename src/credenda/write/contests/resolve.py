"""Decide the changes of an answer to a contest: one value is kept, or each gets its own scope (R-086, R-087). Pure.

The answer is stored as memories with higher confidence and importance than the contested values; they govern the slot
from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from credenda.errors import Conflict, Invalid
from credenda.model.change import Add, Change, Resolve, Supersede, Support
from credenda.model.claim import Span, UpdateKind
from credenda.model.contest import ContestCase, ContestState
from credenda.model.memory import Cardinality, Draft, Memory, MemoryType, Relation, Stance, get_initial_layer
from credenda.model.statement import replace_given
from credenda.text.normalize import normalise_name, normalise_value
from credenda.write.contests.parse_answer import DEFAULT_SCOPE, is_every_value, parse_scopes
from credenda.write.reconcile.candidate import claim_hash, make_claim
from credenda.write.reconcile.inputs import StatementContext
from credenda.write.reconcile.slot_state import sort_newest_first
from credenda.write.reconcile.slots import CURRENT_STATUSES, display_value, get_slot, get_valid_from_us, is_denial
from credenda.write.reconcile.wording import describe_slot, explain_replacement, quote_value, split_value

__all__ = ["DEFAULT_SCOPE", "decide_resolution"]

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
    return _build_changes(_Answer(contest=contest, members=held, parts=parts, occasion=occasion, span=span))


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


def _build_changes(answer: _Answer) -> list[Change]:
    """Add the answer's memories, supersede the contested ones, and close the contest."""
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


def _add_part(answer: _Answer, part: _Part) -> Add:
    draft = _draft_part(answer, part)
    number = answer.parts.index(part) + 1
    return Add(
        key=f"new:{answer.contest.id}:{number}",
        draft=draft,
        support=_build_support(draft, answer.span),
        reason="answer to a contest",
    )


def _draft_part(answer: _Answer, part: _Part) -> Draft:
    """Draft one part of the answer, with the fields of the newest memory that had its value."""
    alternating = [one for one in answer.members if one.id in answer.contest.memory_ids]
    holders = [one for one in alternating if normalise_value(display_value(one)) == normalise_value(part.choice)]
    pattern = next(iter(holders or alternating), None)
    holder = holders[0] if holders else None
    kind = pattern.type if pattern else MemoryType.FACT
    contest, occasion = answer.contest, answer.occasion
    entity = pattern.entity if pattern else contest.entity
    return Draft(
        text=_write_text(answer, part, kind, entity or contest.entity),
        type=kind,
        topic=pattern.topic if pattern else occasion.topic,
        entity=entity,
        attribute=pattern.attribute if pattern else contest.attribute,
        value=holder.value if holder else part.choice,
        scope=_match_spelling(part.scope, alternating),
        cardinality=Cardinality.SET if _find_companions(answer, part) else Cardinality.SINGLE,
        stance=Stance.NEGATED if holder and is_denial(holder) else Stance.ASSERTED,
        speaker=pattern.speaker if pattern else contest.speaker,
        confidence=max(_ANSWER_CONFIDENCE, *(one.confidence for one in holders), 0.0),
        importance=max(_ANSWER_IMPORTANCE, *(one.importance for one in holders), 0.0),
        layer=get_initial_layer(kind),
        valid_from_us=occasion.occurred_us,
        trust=occasion.trust,
        pinned=any(one.pinned for one in holders),
        source_session=occasion.session,
        tags=tuple(dict.fromkeys([*occasion.tags, *(pattern.tags if pattern else ())])),
        metadata=replace_given(occasion.metadata),
        expires_us=occasion.expires_us,
    )


def _find_companions(answer: _Answer, part: _Part) -> list[_Part]:
    """Return the other parts that hold in the same scope."""
    return [one for one in answer.parts if one is not part and one.scope == part.scope]


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
    return Supersede(
        memory_id=member.id,
        successor=successor.key,
        relation=relation,
        valid_until_us=max(get_valid_from_us(member), answer.occasion.occurred_us),
        reason="the answer keeps its value"
        if same_value
        else explain_replacement(relation, display_value(successor.draft), display_value(member)),
    )


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
