"""What the answer to a contest changes: one value is kept, or each holds in a scope of its own (R-086, R-087). Pure.

The answer is stored as memories that are surer and weightier than what alternated; they govern the slot from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from credenda.errors import Conflict, Invalid
from credenda.model.change import Add, Change, Resolve, Supersede, Support
from credenda.model.claim import Move, Span
from credenda.model.contest import ContestCase, ContestState
from credenda.model.memory import Draft, Memory, MemoryType, Relation, Stance, layer_of
from credenda.text.normalize import name_key, value_key
from credenda.write.contests.parse_answer import DEFAULT_SCOPE, scopes_in
from credenda.write.reconcile.candidate import claim_hash, claim_of
from credenda.write.reconcile.inputs import Occasion
from credenda.write.reconcile.slot_state import newest_first
from credenda.write.reconcile.slots import CURRENT, begins_us, denies, label, slot_of
from credenda.write.reconcile.wording import about, because, quoted, value_words

__all__ = ["DEFAULT_SCOPE", "decide_resolution"]

_ANSWER_IMPORTANCE: Final = 0.9
_ANSWER_CONFIDENCE: Final = 0.95
"""The person was asked and answered: in the band of explicit preferences (R-054), surer than any plain saying."""

_SCOPE_WORDS: Final = frozenset(
    {"for", "at", "in", "on", "with", "when", "while", "during", "if", "as", "by", "after", "before", "from"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One part of the answer: in `scope` (None: everywhere else), `choice` holds."""

    scope: str | None
    choice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The parts of an answer, the default last, and what is needed to carry it out."""

    contest: ContestCase
    members: tuple[Memory, ...]
    parts: tuple[_Part, ...]
    occasion: Occasion
    span: Span | None


def decide_resolution(
    contest: ContestCase,
    members: tuple[Memory, ...],
    *,
    keep: str | None,
    scopes: Mapping[str, str] | None,
    occasion: Occasion,
    span: Span | None = None,
) -> list[Change]:
    """Close a contest with a person's answer: exactly one of `keep` (a value) and `scopes` (scope → value).

    A value is named by its words: "morning" means "morning meetings" where no other value has that word. The scope
    `default` means none. `keep` may also say when each holds: "morning when consulting, else afternoon".

    `members` are the contest's memories, and may be all of its pair; `span` is where the answer
    was given, if it is journaled.

    Raises `Invalid` for no answer or two, and for a value that is unknown or ambiguous; `Conflict` for a contest that
    is already resolved.
    """
    if contest.state is ContestState.RESOLVED:
        raise Conflict(
            f"contest {contest.id} is already resolved",
            why="an answer was given before",
            fix="say the new value with `remember`, and it opens again",
            contest_id=contest.id,
        )
    held = tuple(one for one in newest_first(members) if one.status in CURRENT)
    parts = _parts(contest, _choices(contest, held), keep, scopes)
    return _changes(_Answer(contest=contest, members=held, parts=parts, occasion=occasion, span=span))


def _choices(contest: ContestCase, held: tuple[Memory, ...]) -> list[str]:
    named = [*contest.values, *(label(one) for one in held if one.id in contest.memory_ids)]
    return list({value_key(value): value for value in reversed(named)}.values())[::-1]


def _parts(
    contest: ContestCase, choices: list[str], keep: str | None, scopes: Mapping[str, str] | None
) -> tuple[_Part, ...]:
    """Read the answer, the default part last; a contest about a scoped slot keeps its scope as the default."""
    if bool(keep and keep.strip()) == bool(scopes):
        raise Invalid(
            "a contest needs one answer",
            why="exactly one of keep and scopes answers it",
            fix=f"keep one of {_listed(choices)}, or give each its scope",
        )
    told = scopes_in(keep) if keep and not _is_choice(keep, choices) else None
    given = dict(scopes or told or {DEFAULT_SCOPE: keep or ""})
    if len({name_key(scope) for scope in given}) < len(given) or not all(map(name_key, given)):
        raise Invalid("the scopes cannot be told apart", why="two are the same, or one is empty", fix="name each once")
    parts = [_Part(scope=_scope(scope, contest), choice=_chosen(value, choices)) for scope, value in given.items()]
    return tuple(sorted(parts, key=lambda part: part.scope == contest.scope))


def _is_choice(words: str, choices: list[str]) -> bool:
    return any(value_words(choice) == value_words(words) for choice in choices)


def _scope(name: str, contest: ContestCase) -> str | None:
    return contest.scope if name_key(name) == DEFAULT_SCOPE else name.strip()


def _chosen(words: str, choices: list[str]) -> str:
    """Find the one value that is meant: by its full form, else by its words, else by its words but for a plural s."""
    asked = value_words(words)
    exact = [choice for choice in choices if value_words(choice) == asked]
    worded = [choice for choice in choices if asked and set(asked) <= set(value_words(choice))]
    stemmed = [choice for choice in choices if asked and _stems(asked) <= _stems(value_words(choice))]
    found = exact or worded or stemmed
    if len(found) == 1:
        return found[0]
    raise Invalid(
        f"{words!r} names {'more than one' if found else 'none'} of the values",
        why=f"the choices are {_listed(choices)}",
        fix="name one of them by words that only it has",
    )


def _stems(words: list[str]) -> set[str]:
    return {word.removesuffix("s") for word in words}


def _listed(choices: list[str]) -> str:
    return ", ".join(map(quoted, choices))


def _changes(answer: _Answer) -> list[Change]:
    """Add the answer's memories, let them take the place of what alternated, and close the contest."""
    adds = [_added(answer, part) for part in answer.parts]
    resolution = _resolution(answer.parts)
    return [
        *adds,
        *_supersessions(answer, adds),
        Resolve(
            contest_id=answer.contest.id,
            resolution=resolution,
            scopes=_scopes_of(answer),
            keep=tuple(add.key for add in adds),
            reason=f"the person answered: {'; '.join(_quoted_clause(part) for part in answer.parts)}",
        ),
    ]


def _added(answer: _Answer, part: _Part) -> Add:
    draft = _draft(answer, part)
    number = answer.parts.index(part) + 1
    return Add(
        key=f"new:{answer.contest.id}:{number}",
        draft=draft,
        support=_support(draft, answer.span),
        reason="the answer to a question about it",
    )


def _draft(answer: _Answer, part: _Part) -> Draft:
    """Write down one part of the answer, on the pattern of the newest memory that held its value."""
    alternating = [one for one in answer.members if one.id in answer.contest.memory_ids]
    holders = [one for one in alternating if value_key(label(one)) == value_key(part.choice)]
    pattern = next(iter(holders or alternating), None)
    holder = holders[0] if holders else None
    kind = pattern.type if pattern else MemoryType.FACT
    contest, occasion = answer.contest, answer.occasion
    entity = pattern.entity if pattern else contest.entity
    return Draft(
        text=_text(answer, part, kind, entity or contest.entity),
        type=kind,
        topic=pattern.topic if pattern else occasion.topic,
        entity=entity,
        attribute=pattern.attribute if pattern else contest.attribute,
        value=holder.value if holder else part.choice,
        scope=_as_shown(part.scope, alternating),
        stance=Stance.NEGATED if holder and denies(holder) else Stance.ASSERTED,
        speaker=pattern.speaker if pattern else contest.speaker,
        confidence=max(_ANSWER_CONFIDENCE, *(one.confidence for one in holders), 0.0),
        importance=max(_ANSWER_IMPORTANCE, *(one.importance for one in holders), 0.0),
        layer=layer_of(kind),
        valid_from_us=occasion.occurred_us,
        trust=occasion.trust,
        pinned=any(one.pinned for one in holders),
        source_session=occasion.session,
        tags=tuple(dict.fromkeys([*occasion.tags, *(pattern.tags if pattern else ())])),
        metadata=occasion.metadata,
        expires_us=occasion.expires_us,
    )


def _support(draft: Draft, span: Span | None) -> tuple[Support, ...]:
    if span is None:
        return ()
    return (Support(span=span, claim_hash=claim_hash(claim_of(draft, span, Move.STATE))),)


def _supersessions(answer: _Answer, adds: list[Add]) -> list[Change]:
    """End what alternated, and whatever else held one of the slots that the answer fills."""
    filled = {slot_of(add.draft) for add in adds} - {None}
    ended = [one for one in answer.members if one.id in answer.contest.memory_ids or slot_of(one) in filled]
    return [_superseded(answer, one, adds) for one in ended]


def _superseded(answer: _Answer, member: Memory, adds: list[Add]) -> Supersede:
    """Let a member go into the part with its value, else into that of its scope, else into the default."""
    told = value_key(label(member))
    same_value = [add for add in adds if value_key(label(add.draft)) == told]
    same_slot = [add for add in adds if slot_of(add.draft) == slot_of(member)]
    successor = (same_value or same_slot or adds[::-1])[0]
    relation = Relation.REFINED if same_value else Relation.CHANGED
    return Supersede(
        memory_id=member.id,
        successor=successor.key,
        relation=relation,
        valid_until_us=max(begins_us(member), answer.occasion.occurred_us),
        reason="the answer holds its value" if same_value else because(relation, label(successor.draft), label(member)),
    )


def _scopes_of(answer: _Answer) -> dict[str, str]:
    """Give each value its scopes; a value that also holds everywhere else is simply the default."""
    scopes: dict[str, str] = {}
    for part in answer.parts:
        scope = DEFAULT_SCOPE if part.scope == answer.contest.scope else part.scope or DEFAULT_SCOPE
        before = scopes.get(part.choice)
        scopes[part.choice] = scope if before is None or scope == DEFAULT_SCOPE else f"{before}, {scope}"
    return scopes


def _resolution(parts: tuple[_Part, ...]) -> str:
    """Say the whole answer in one line."""
    *scoped, last = parts
    if not scoped and last.scope is None:
        return last.choice
    return "; ".join(map(_clause, parts))


def _quoted_clause(part: _Part) -> str:
    """Write a part with its value in marks, by which a deletion of the value finds it."""
    return f"{quoted(part.choice)} {_when(part.scope)}" if part.scope else quoted(part.choice)


def _clause(part: _Part) -> str:
    return f"{part.choice} {_when(part.scope)}" if part.scope else f"otherwise {part.choice}"


def _when(scope: str) -> str:
    return scope if scope.split(maxsplit=1)[0].lower() in _SCOPE_WORDS else f"for {scope}"


def _as_shown(scope: str | None, members: list[Memory]) -> str | None:
    """Write a scope as the memories write it, where they name it at all."""
    same = (one.scope for one in members if scope and one.scope and name_key(one.scope) == name_key(scope))
    return next(same, scope)


def _text(answer: _Answer, part: _Part, kind: MemoryType, entity: str) -> str:
    """Write a sentence that is whole by itself: what holds here, and what holds elsewhere."""
    others = [one for one in answer.parts if one is not part]
    here = f"{part.choice} {_when(part.scope)}" if part.scope else part.choice
    clauses = "; ".join([here, *map(_clause, others)])
    if kind is MemoryType.PREFERENCE:
        subject = "Prefers" if name_key(entity) == "user" else f"{entity} prefers"
        return f"{subject} {clauses}."
    return f"{about(entity, answer.contest.attribute)}: {clauses}."
