"""The rule-based judge: find duplicates, write changed values as one entry, keep the rest. Pure.

Two memories are duplicates only if their texts are equal, or their slots and values. Memories that differ in a number,
date, name, unit, negation or value stay, however similar they are (D-016).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any, Final, cast

from credenda import limits
from credenda.clock import HOUR_US, format_time, is_ahead, to_datetime
from credenda.manage.consolidation_guards import (
    ASSERTIVE_STANCES,
    Member,
    Pair,
    find_difference,
    find_unsupported,
    is_distinct,
    may_replace,
    resolve_relative_dates,
)
from credenda.model.change import Add, Change, Confirm, Revise, Supersede, end_memory
from credenda.model.memory import (
    CONSOLIDATED,
    DUPLICATE_OF,
    Cardinality,
    Draft,
    Layer,
    Memory,
    Relation,
    Stance,
    Status,
    adjust_importance,
    is_dreamed,
)
from credenda.model.statement import choose_word, replace_given
from credenda.providers.llm.protocol import Question
from credenda.text.normalize import detect_language, is_same_value, normalise_value
from credenda.text.tokens import tokenize

# The verdicts of a judge about a group of memories, and the changes that apply them. Pure.


_DRAFT_FIELDS: Final = tuple(field.name for field in fields(Draft))
_SUPPORT_MOST: Final = 200
"""Maximum evidence of a consolidated memory; the rest stays with its sources."""
_CORROBORATED: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    """Replace `target` and `sources` by one text (S-041).

    `relation` tells why the target ends: `merged` (same meaning), `changed` (valid until the first source began) or
    `corrected` (wrong: the text is that of the first source, which stays). `past` are ended memories that the text
    names.
    """

    target: str
    sources: tuple[str, ...]
    text: str
    relation: Relation
    reason: str
    past: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Remove `target` as a true duplicate of `same_as` (S-042)."""

    target: str
    same_as: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """Keep similar memories (S-043): they are linked, and nothing else changes."""

    ids: tuple[str, ...]
    reason: str


Verdict = Replace | Remove | Keep


def plan_changes(verdict: Verdict, members: Mapping[str, Member], now_us: int) -> list[Change]:
    """Return the changes that apply a verdict."""
    match verdict:
        case Replace(relation=Relation.CORRECTED):
            return [
                _end_member(members[verdict.target], verdict.sources[0], verdict, members[verdict.sources[0]].since_us)
            ]
        case Replace():
            target, changed = members[verdict.target], verdict.relation is Relation.CHANGED
            standing = [members[one] for one in (*(() if changed else (verdict.target,)), *verdict.sources)]
            named = [one for member in standing for one in member.past if one.id in verdict.past]
            told = [*standing, *([target] if changed else []), *named]
            sources = "\x00".join((verdict.text, *(one.id for one in told)))
            key = f"new:{hashlib.blake2b(sources.encode(), digest_size=16).hexdigest()}"
            draft = _draft_memory(verdict.text, standing, told, now_us)
            changes: list[Change] = [
                Add(
                    key=key,
                    draft=draft,
                    support=tuple(dict.fromkeys(item for one in told for item in one.support))[:_SUPPORT_MOST],
                    reason=verdict.reason,
                )
            ]
            changes += [_merge_member(one, key, Relation.MERGED, verdict.reason) for one in standing]
            if changed:
                changes.append(_end_member(target, key, verdict, standing[0].since_us))
            return changes
        case Remove():
            # Supersede a duplicate, move its evidence to the kept memory, and compute the scores over both.
            gone = members[verdict.target]
            kept = members[verdict.same_as]
            changes: list[Change] = []
            new = tuple(one for one in gone.support if one not in kept.support)[:_SUPPORT_MOST]
            if new:
                changes.append(Confirm(memory_id=kept.id, support=new, reason=verdict.reason))
            moved = _compute_scores([kept, gone]) | {"valid_from_us": min(kept.since_us, gone.since_us)}
            moved |= {
                "pinned": kept.memory.pinned or gone.memory.pinned,
                "topic": kept.memory.topic or gone.memory.topic,
                "tags": tuple(dict.fromkeys((*kept.memory.tags, *gone.memory.tags)))[: limits.TAGS],
                "metadata": {**gone.memory.metadata, **kept.memory.metadata},
            }
            apart = {name: value for name, value in moved.items() if getattr(kept.memory, name) != value}
            if apart:
                changes.append(Revise(memory_id=kept.id, fields=apart, reason=verdict.reason))
            return [*changes, _merge_member(gone, kept.id, Relation.DUPLICATE, verdict.reason)]
        case Keep():
            return []


def _merge_member(member: Member, successor: str, relation: Relation, reason: str) -> Supersede:
    """Supersede a memory by a merged one; its validity becomes empty, because the merged one covers it."""
    return end_memory(member.memory, member.since_us, reason, successor, relation=relation)


def _end_member(member: Member, successor: str, verdict: Replace, until_us: int) -> Supersede:
    """End a memory when its replacement began."""
    stated = member.memory.valid_until_us
    ends_us = until_us if stated is None else min(stated, until_us)
    return end_memory(member.memory, ends_us, verdict.reason, successor, relation=verdict.relation)


def _compute_scores(members: Sequence[Member]) -> dict[str, object]:
    """Compute confidence and importance: the lowest confidence, or the highest if two events support them."""
    independent = len({event for one in members for event in one.events}) >= _CORROBORATED
    choose = max if independent else min
    return {
        "confidence": choose(one.memory.confidence for one in members),
        "importance": max(one.memory.importance for one in members),
        "base_importance": max(_leave_out_surprise(one.memory) for one in members),
    }


def _leave_out_surprise(memory: Memory) -> float:
    """Return the importance as stated, or as raised by repetition: surprise is measured anew."""
    raised = memory.importance != adjust_importance(memory.base_importance, memory.surprise)
    return memory.importance if raised else memory.base_importance


_OFTEN: Final = 5
"""Episodes of which so many say the same are knowledge (E-067)."""


def _draft_memory(text: str, standing: Sequence[Member], told: Sequence[Member], now_us: int) -> Draft:
    first = standing[0].memory
    slotted = [one.memory for one in standing if one.memory.attribute] or [first]
    alike = len({(one.entity, one.attribute, one.value, one.scope) for one in slotted}) == 1
    named = slotted[0] if alike else None
    numbers = _compute_scores(standing)
    layers = {one.memory.layer for one in standing}
    often = len(standing) >= _OFTEN and first.layer is Layer.EPISODIC
    kept = Draft(**{name: getattr(first, name) for name in _DRAFT_FIELDS})
    merged = {name: value for one in reversed(standing) for name, value in one.memory.metadata.items()}
    merged.pop(DUPLICATE_OF, None)  # it may be one of those that are merged here
    # The provenance of a text: first seen, updated, and its sources (S-018, S-044).
    seen = [str(format_time(origin.since_us)) for origin in told]
    for origin in told:
        earlier = origin.memory.metadata.get(CONSOLIDATED)
        if isinstance(earlier, Mapping) and "first_seen" in earlier:
            seen.append(str(cast("Mapping[str, object]", earlier)["first_seen"]))
    return replace(
        kept,
        text=text,
        entity=named.entity if named else first.entity if len({one.memory.entity for one in standing}) == 1 else None,
        attribute=named.attribute if named else None,
        value=named.value if named else None,
        scope=named.scope if named else first.scope,
        cardinality=named.cardinality if named else first.cardinality,
        topic=next((one.memory.topic for one in standing if one.memory.topic), None),
        confidence=float(str(numbers["confidence"])),
        importance=float(str(numbers["base_importance"])),
        layer=first.layer if len(layers) == 1 and not often else Layer.SEMANTIC,
        status=Status.ACTIVE,
        valid_from_us=min(one.since_us for one in standing),
        trust=min(one.memory.trust for one in standing),
        pinned=any(one.memory.pinned for one in standing),
        provisional=False,
        tags=tuple(dict.fromkeys(tag for one in standing for tag in one.memory.tags))[: limits.TAGS],
        metadata=replace_given(merged)
        | {
            CONSOLIDATED: {
                "first_seen": min(seen),
                "updated": format_time(now_us),
                "sources": [origin.id for origin in told],
            }
        },
    )


_PREVIOUS_MOST: Final = 3
"""Maximum number of values after "previously"; `history` returns all."""
_OPENING: Final = re.compile(r"^(?:actually|sorry|oops|correction|wait|no|i mean(?:t)?)\b[,:;. ]+", re.IGNORECASE)
_LINKED: Final = "similar, but not confirmed as the same; both are kept"


def is_candidate(memory: Memory) -> bool:
    """Return whether a memory may be judged: active, assertive, not contested, and not derived."""
    return (
        memory.status is Status.ACTIVE
        and memory.stance in ASSERTIVE_STANCES
        and not memory.contested
        and not memory.provisional
        and memory.layer is not Layer.CODEBASE
        and not is_dreamed(memory)
    )


def judge_by_rules(members: Sequence[Member]) -> list[Verdict]:
    """Judge a group; a memory is changed by one verdict at most, except one that receives its duplicates.

    >>> judge_by_rules([])
    []
    """
    open_to = sorted(filter(_may_be_judged, members), key=_rank_member)
    verdicts: list[Verdict] = []
    kept: list[Member] = []
    for one in open_to:
        twin = next((other for other in kept if not is_distinct(one, other)), None)
        if twin is None:
            kept.append(one)
        else:
            verdicts.append(Remove(target=one.id, same_as=twin.id, reason="duplicate of another memory"))
    taken = {verdict.same_as for verdict in verdicts if isinstance(verdict, Remove)}
    alone = [one for one in kept if one.id not in taken]
    return [*verdicts, *(told for one in alone if (told := _write_timeline(one) or _remove_error(one)) is not None)]


def link_remaining(members: Sequence[Member], verdicts: Sequence[Verdict]) -> Keep | None:
    """Link the memories of a group that stay; None for fewer than two, or if all are linked already."""
    gone = {verdict.target for verdict in verdicts if isinstance(verdict, Remove)}
    for verdict in verdicts:
        if isinstance(verdict, Replace):
            gone |= {verdict.target, *verdict.sources}
    left = [one for one in members if one.id not in gone and _may_be_judged(one)]
    ids = tuple(one.id for one in left)
    known = all(one.linked.issuperset(set(ids) - {one.id}) for one in left)
    return Keep(ids=ids, reason=_LINKED) if len(ids) > 1 and not known else None


def _may_be_judged(member: Member) -> bool:
    return not member.left_alone and is_candidate(member.memory)


def _rank_member(member: Member) -> tuple[object, ...]:
    """Order memories by which to keep: pinned first, then without a scope, then by trust, confidence and age."""
    memory = member.memory
    return (
        not memory.pinned,
        bool(memory.scope),
        -memory.trust,
        -memory.confidence,
        memory.created_us,
        len(member.id),
        member.id,
    )


def _write_timeline(member: Member) -> Replace | None:
    """Write current and previous values as one entry, unless the sentence says them (S-041, S-055, S-093)."""
    memory = member.memory
    if memory.cardinality is not Cardinality.SINGLE or memory.stance is Stance.NEGATED or not memory.value:
        return None
    before: dict[str, Member] = {}
    for one in sorted(member.past, key=lambda past: -(past.memory.valid_until_us or 0)):
        value = one.memory.value
        if value and one.memory.relation is Relation.CHANGED and not is_same_value(value, memory.value):
            before.setdefault(normalise_value(value), one)
    told = list(before.values())[:_PREVIOUS_MOST]
    language = detect_language(memory.text)
    currently, previously = choose_word(language, "currently"), choose_word(language, "previously")
    written = rf" \((?:{currently} .*; )?{previously} .*\)\.?$" if memory.metadata.get(CONSOLIDATED) else "$"
    sentence = resolve_relative_dates(re.sub(written, "", memory.text), member.said_us).rstrip(" .!")
    values = [one.memory.value or "" for one in told]
    unsaid = ", ".join(value for value in values if not _has_value(sentence, value))
    text = f"{sentence} ({currently} {memory.value}; {previously} {unsaid})."
    if not unsaid or text == memory.text:
        return None
    return Replace(
        target=member.id,
        sources=(),
        text=text,
        relation=Relation.MERGED,
        past=tuple(one.id for one in told),
        reason="current and previous values in one entry",
    )


def _has_value(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _remove_error(member: Member) -> Replace | None:
    """Remove the wrong value from the text of a correction (S-095)."""
    memory = member.memory
    wrong = [
        one.memory.value
        for one in member.past
        if one.memory.relation is Relation.CORRECTED and one.memory.superseded_by == memory.id and one.memory.value
    ]
    text = memory.text
    for value in wrong:
        text = re.sub(rf"(?:,|;| \(| \u2014| -)? (?:and )?not {re.escape(value)}\b\)?", "", text, flags=re.IGNORECASE)
    if (
        text == memory.text
        or memory.stance is Stance.NEGATED
        or normalise_value(memory.value or "") not in normalise_value(text)
    ):
        return None
    plain = _OPENING.sub("", resolve_relative_dates(text, member.said_us))
    return Replace(
        target=member.id,
        sources=(),
        text=plain[:1].upper() + plain[1:],
        relation=Relation.MERGED,
        reason="rewritten without the wrong value",
    )


# Cluster similar pairs into groups that are judged together; each memory is in at most one group (S-038). Pure.


def cluster_pairs(pairs: Iterable[Pair], most: int) -> list[tuple[int, ...]]:
    """Group memories that share a neighbour, at most `most` in a group; each group in order of number.

    >>> cluster_pairs([Pair(0.9, 1, 2), Pair(0.8, 2, 5), Pair(0.7, 3, 4)], 25)
    [(1, 2, 5), (3, 4)]
    >>> cluster_pairs([Pair(0.9, 1, 2), Pair(0.8, 2, 5), Pair(0.7, 5, 6)], 2)
    [(1, 2), (5, 6)]
    """
    leader: dict[int, int] = {}
    groups: dict[int, list[int]] = {}
    for pair in sorted(set(pairs), key=lambda one: (-one.closeness, one.one, one.other)):
        for number in (pair.one, pair.other):
            if number not in leader:
                leader[number] = number
                groups[number] = [number]
        first, second = leader[pair.one], leader[pair.other]
        if first == second or len(groups[first]) + len(groups[second]) > most:
            continue
        into, out = (first, second) if len(groups[first]) >= len(groups[second]) else (second, first)
        for number in groups[out]:
            leader[number] = into
        groups[into] += groups.pop(out)
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)


# Decide whether a consolidation is due, by time and by the number of new memories (S-028, S-029, C-017).


_HOUR: Final = float(HOUR_US)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """The conditions of a run: hours since the last run, and new memories since then. 0 disables a condition."""

    min_hours: float = 24.0
    min_facts: int = 20


def explain_skip(gate: Trigger, *, now_us: int, last_us: int | None, new: int, retries: int, force: bool) -> str:
    """Return why no run is due, or "" if one is.

    `last_us` is the time of the last run, `new` the number of waiting memories, `retries` how many of them failed
    before: these are retried without waiting for others. `force` skips both conditions.

    >>> explain_skip(Trigger(), now_us=0, last_us=None, new=3, retries=0, force=False)
    'not due: 3 new memories, and a run needs 20'
    >>> explain_skip(Trigger(), now_us=0, last_us=None, new=3, retries=0, force=True)
    ''
    """
    if not new and not retries:
        return "nothing to do"
    if force or retries:
        return ""
    hours = None if last_us is None or is_ahead(last_us, now_us) else (now_us - last_us) / _HOUR
    if hours is not None and hours < gate.min_hours:
        return f"not due: the last run was {hours:.1f} hours ago, and runs are {gate.min_hours:g} hours apart"
    if new < gate.min_facts:
        return f"not due: {new} new {'memory' if new == 1 else 'memories'}, and a run needs {gate.min_facts}"
    return ""


PROMPT_VERSION: Final = "consolidate-1"
"""Version of the instructions and of the schema; it changes with either of them."""


@cache
def _load_instructions() -> tuple[str, Mapping[str, object]]:
    folder = files("credenda.manage") / "prompts"
    schema: dict[str, object] = json.loads((folder / f"{PROMPT_VERSION}.schema.json").read_text("utf-8"))
    return (folder / f"{PROMPT_VERSION}.md").read_text("utf-8"), schema


def format_entry_id(at: int) -> str:
    """Return the id of an entry in the prompt."""
    return f"e{at + 1}"


def build_question(members: Sequence[Member], clean: Callable[[str], str]) -> Question:
    """Ask which of some memories have the same meaning; relative dates are made absolute."""
    instructions, schema = _load_instructions()
    document = {"entries": [_describe_entry(at, one, clean) for at, one in enumerate(members)]}
    return Question(
        instructions=instructions,
        prompt=json.dumps(document, ensure_ascii=False, indent=0),
        schema=schema,
        tokens_max=limits.LLM_JUDGEMENT_TOKENS,
    )


def _describe_entry(at: int, member: Member, clean: Callable[[str], str]) -> dict[str, object]:
    memory = member.memory
    shown: dict[str, object | None] = {
        "id": format_entry_id(at),
        "text": clean(resolve_relative_dates(memory.text, member.said_us))[: limits.LLM_CONTEXT_CHARACTERS],
        "since": f"{to_datetime(member.said_us):%F}",
        "new": member.fresh,
        "type": memory.type.value,
        "entity": memory.entity,
        "attribute": memory.attribute,
        "value": None if memory.value is None else clean(memory.value)[: limits.LLM_CONTEXT_CHARACTERS],
        "scope": memory.scope,
    }
    return {name: value for name, value in shown.items() if value is not None}


# Parse the language model's answer about a group and check it against the guards. Pure.


_FIELDS: Final = frozenset({"op", "target", "with", "kind", "text"})
_KINDS: Final = {"same": Relation.MERGED, "change": Relation.CHANGED, "correction": Relation.CORRECTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A proposed operation that failed a check, with the memories that it names."""

    ids: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnswer:
    """The accepted operations of an answer, and the refused ones."""

    verdicts: tuple[Verdict, ...] = ()
    refused: tuple[Refusal, ...] = ()


def parse_answer(text: str, members: Sequence[Member]) -> ParsedAnswer:
    """Parse an answer; raises `ValueError` if it is not the requested document.

    Each entry is changed once: a second operation on it is refused. Entries without an operation stay unchanged
    (S-043).
    """
    try:
        document: Any = json.loads(text)
    except RecursionError as error:
        raise ValueError("the answer is nested too deeply") from error
    listed: Any = cast("dict[str, Any]", document).get("operations") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError('the answer is not an object with a list "operations"')  # noqa: TRY004 - foreign JSON
    operations = cast("list[Any]", listed)
    entries = {format_entry_id(at): one for at, one in enumerate(members)}
    verdicts: list[Verdict] = []
    refused: list[Refusal] = []
    touched: set[str] = set()
    for given in operations[: limits.LLM_JUDGEMENT_OPERATIONS]:
        verdict = _parse_operation(given, entries, touched)
        if isinstance(verdict, str):
            named = tuple(entries[name].id for name in (given["target"], *given["with"]) if name in entries)
            refused.append(Refusal(ids=named, reason=f"the proposal failed the check of the {verdict}"))
        elif verdict is not None:
            verdicts.append(verdict)
    return ParsedAnswer(verdicts=tuple(verdicts), refused=tuple(refused))


def _parse_operation(given: Any, entries: Mapping[str, Member], touched: set[str]) -> Verdict | str | None:  # noqa: ANN401 - foreign JSON
    """Parse one operation: return a verdict, None for no change, or the reason for its refusal."""
    if not isinstance(given, dict) or cast("dict[str, Any]", given).keys() != _FIELDS:
        raise ValueError("an operation has other fields than those asked for")
    fields = cast("dict[str, Any]", given)
    names: Any = fields["with"]
    if not isinstance(names, list) or not all(isinstance(one, str) for one in cast("list[object]", names)):
        raise ValueError('"with" is not a list of ids')
    ids = [fields["target"], *cast("list[str]", names)]
    if fields["op"] == "add":
        return None
    if len(set(ids)) != len(ids) or len(ids) < 2 or not all(one in entries for one in ids):  # noqa: PLR2004 - a pair
        return "entries"
    if touched.intersection(ids):
        return "entries, which another operation changes"
    members = [entries[one] for one in ids]
    match fields["op"], fields["kind"]:
        case "remove", _:
            found = _check_removal(members)
        case "replace", "same":
            found = _check_merge(members, fields["text"])
        case "replace", "change" | "correction":
            found = _check_replacement(members, fields["text"], _KINDS[fields["kind"]])
        case _:
            raise ValueError("there is no such operation")
    if not isinstance(found, str):
        touched.update(ids)
    return found


def _check_removal(members: Sequence[Member]) -> Verdict | str:
    """Accept a removal only for true duplicates: no difference, and no word that the kept memory lacks."""
    target, kept, *more = members
    apart = find_difference(target, kept)
    if more or apart is not None:
        return apart or "entries"
    if is_distinct(target, kept) and not set(tokenize(target.memory.text)) <= set(tokenize(kept.memory.text)):
        return "words"
    return Remove(target=target.id, same_as=kept.id, reason="the model found nothing new in it")


def _check_merge(members: Sequence[Member], text: object) -> Verdict | str:
    """Accept a merge of the members that do not differ, if the text says what these say; the others stay."""
    apart = {
        frozenset((one.id, other.id)): why
        for one, other in combinations(members, 2)
        if (why := find_difference(one, other)) is not None
    }
    alike = max((_list_alike(one, members, apart) for one in members), key=len)
    if len(alike) == 1 or len(alike) * 2 <= len(members):
        return next(iter(apart.values()))
    written = _check_text(text, alike)
    if written is None:
        return "text"
    wrong = find_unsupported(written, alike[0].said_us, alike)
    if wrong is not None:
        return wrong
    return Replace(
        target=alike[0].id,
        sources=tuple(one.id for one in alike[1:]),
        text=written,
        relation=Relation.MERGED,
        reason="the model found that they say the same",
    )


def _list_alike(first: Member, members: Sequence[Member], apart: Mapping[frozenset[str], str]) -> list[Member]:
    """Return a member with those that differ neither from it nor from each other, in the order of the group."""
    found = [first]
    for one in members:
        if one is not first and all(frozenset((one.id, other.id)) not in apart for other in found):
            found.append(one)
    return sorted(found, key=members.index)


def _check_replacement(members: Sequence[Member], text: object, relation: Relation) -> Verdict | str:
    """Accept a replacement only if the newer memory states a change, or both have the same slot."""
    target, newer, *more = members
    if more or not may_replace(newer, target, correction=relation is Relation.CORRECTED):
        return "change"
    written = newer.memory.text if relation is Relation.CORRECTED else _check_text(text, members)
    if written is None:
        return "text"
    if (
        relation is Relation.CHANGED
        and (wrong := find_unsupported(written, newer.said_us, members, both=True)) is not None
    ):
        return wrong
    return Replace(
        target=target.id,
        sources=(newer.id,),
        text=written,
        relation=relation,
        reason=f"the model found that it {'changed' if relation is Relation.CHANGED else 'was wrong'}",
    )


def _check_text(text: object, members: Sequence[Member]) -> str | None:
    """Check a text by the model; relative dates in it refer to the newest memory."""
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        return None
    written = resolve_relative_dates(" ".join(text.split()), max(one.said_us for one in members))
    return written if len(written) <= limits.MEMORY_TEXT_CHARACTERS else None
