"""How right the memories of a conversation are, counted against its gold. Pure.

A memory or a hit says a gold value when it has at least half of its content words (0.6 for answers of questions),
compared by their English stems. The counts follow the definitions in `docs/reference/beliefs.md`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from benchmarks.stats import read_numbered_lines
from credenda.errors import Invalid
from credenda.text.tokens import stem

# Gold files of `credenda bench talk`: what a careful reader wrote down of a conversation.


_T = TypeVar("_T")
_KINDS: Final = frozenset({"current", "past", "detail", "absent"})
_RELATIONS: Final = frozenset({"", "changed", "corrected", "ended", "refined", "decided", "contradicts"})


@dataclass(frozen=True, slots=True)
class Replaced:
    """An earlier claim that a later one makes no longer current, named as it was written."""

    turn: str
    attribute: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldClaim:
    """One claim that a memory should hold. `weight` 2 is worth holding in any memory, 1 is good to hold."""

    turn: str
    by: str
    subject: str
    attribute: str
    value: str
    statement: str
    type: str
    stance: str
    weight: int
    clause: str
    replaces: tuple[Replaced, ...]
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldQuestion:
    """One question. `stale` lists outdated values; a question of kind `absent` has no answer and no turns."""

    question: str
    answer: str
    stale: tuple[str, ...]
    turns: frozenset[str]
    kind: str


@dataclass(frozen=True, slots=True)
class Gold:
    """The claims and questions of one conversation, in the order of the files."""

    claims: Sequence[GoldClaim]
    questions: Sequence[GoldQuestion]


def load_gold(folder: Path, conversation: str) -> Gold | None:
    """Read the gold of a conversation from `[PREFIX.]NAME.claims.jsonl` and `….questions.jsonl`; None without claims.

    Raise `Invalid` naming the malformed line, and if two files could be meant.
    """
    claims = _find_file(folder, conversation, "claims")
    if claims is None:
        return None
    questions = _find_file(folder, conversation, "questions")
    return Gold(_read(claims, _parse_claim), [] if questions is None else _read(questions, _parse_question))


def _find_file(folder: Path, conversation: str, kind: str) -> Path | None:
    ending = f"{conversation}.{kind}.jsonl"
    found = sorted(path for path in folder.iterdir() if path.name == ending or path.name.endswith(f".{ending}"))
    if len(found) > 1:
        what = f"{folder} has {len(found)} files of {kind} for {conversation}"
        raise Invalid(what, why=", ".join(path.name for path in found), fix="keep one of them in the folder")
    return found[0] if found else None


def _read(path: Path, parse: Callable[[Mapping[str, Any]], _T]) -> list[_T]:
    parsed: list[_T] = []
    for number, row in read_numbered_lines(path):
        try:
            parsed.append(parse(row))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            what = f"line {number} of {path} is not gold"
            why = f"{type(error).__name__}: {error}"
            raise Invalid(what, why=why, fix="see docs/reference/beliefs.md for the fields") from error
    return parsed


def _parse_claim(row: Mapping[str, Any]) -> GoldClaim:
    texts = {name: str(row[name]) for name in ("turn", "by", "subject", "attribute", "value", "statement", "stance")}
    relation = str(row.get("relation") or "")
    if relation not in _RELATIONS:
        message = f"unknown relation {relation!r}"
        raise ValueError(message)
    replaces = tuple(
        Replaced(str(one["turn"]), str(one["attribute"]), str(one["value"])) for one in row.get("replaces") or ()
    )
    return GoldClaim(
        **texts,
        type=str(row.get("type") or ""),
        weight=int(row["weight"]),
        clause=str(row.get("clause") or ""),
        replaces=replaces,
        relation=relation,
    )


def _parse_question(row: Mapping[str, Any]) -> GoldQuestion:
    kind = str(row["kind"])
    if kind not in _KINDS:
        message = f"unknown kind {kind!r}"
        raise ValueError(message)
    return GoldQuestion(
        question=str(row["question"]),
        answer=str(row.get("answer") or ""),
        stale=tuple(map(str, row.get("stale") or ())),
        turns=frozenset(map(str, row.get("turns") or ())),
        kind=kind,
    )


FIGURES: Final = (
    ("weight-2 claims held", "held_2", "gold_2"),
    ("weight-2 claims in a named slot", "slot_2", "gold_2"),
    ("weight-1 claims held", "held_1", "gold_1"),
    ("named-slot beliefs supported", "named_supported", "named"),
    ("other memories supported", "other_supported", "other"),
    ("instructions real", "instructions_real", "instructions"),
    ("asserted facts held as unreal", "unreal_wrong", "unreal"),
    ("retirements right", "retired_right", "retired"),
    ("updates carried out", "updates_done", "updates"),
    ("clause finds its turn", "clauses_found", "clauses"),
    ("answer in the first five hits", "answer_in_5", "questions"),
    ("answer in the first hit", "answer_first", "questions"),
    ("answer in the first memory", "answer_first_memory", "questions"),
    ("refused though told", "refused", "questions"),
    ("stale value first", "stale_first", "stale"),
    ("absent answer refused", "absent_refused", "absent"),
)
"""Name of each figure, the count and the count that it is a share of."""

_STOPWORD_TEXT: Final = """
    a an the of to in on at for and or but with is are was were be been am i my me we our us you your he she his her
    him they their it its that this so just very really as by from about than then also too not no do does did have
    has had will would can could should im ive id 's s t
"""
_STOPWORDS: Final = frozenset(_STOPWORD_TEXT.split())
_WORD: Final = re.compile(r"[a-z0-9$€£%]+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_CATCH_ALL: Final = frozenset(
    {
        *("", "event", "likes", "dislikes", "considering", "plan", "does", "has", "experience", "wish", "doing"),
        *("way", "not", "prefers"),
    }
)
"""Attributes that name no slot."""
_OPEN_STANCES: Final = frozenset({"planned", "considered", "hypothetical", "reported", "joke"})
_UNREAL_STANCES: Final = frozenset({"hypothetical", "role_play", "sarcastic"})
_FIRM_STANCES: Final = frozenset({"asserted", "negated"})
_BELIEVED: Final = frozenset({"active", "challenged"})
_RETIRING: Final = frozenset({"changed", "corrected", "ended", "decided"})
_SAYS_VALUE: Final = 0.5
_SAYS_ANSWER: Final = 0.6
_FIRM_CONFIDENCE: Final = 0.5
_QUOTED_CHARACTERS_MAX: Final = 400
_NOWHERE: Final = 99


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMemory:
    """One memory of the store after the conversation, with the turns of its evidence."""

    id: str
    status: str
    entity: str
    attribute: str
    value: str
    text: str
    stance: str
    confidence: float
    superseded_by: str | None
    turns: tuple[str, ...]
    reason: str

    @property
    def firm(self) -> bool:
        """Return whether it is asserted or denied with more than half confidence."""
        return self.stance in _FIRM_STANCES and self.confidence > _FIRM_CONFIDENCE

    @property
    def named(self) -> bool:
        """Return whether it has a slot of its own name, and not an attribute for anything."""
        return self.attribute not in _CATCH_ALL and self.attribute != "instruction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The first hits of a search, best first: texts, whether each is a memory, and the turns they come from."""

    texts: tuple[str, ...]
    memories: tuple[bool, ...]
    turns: frozenset[str]
    abstained: bool


@dataclass(slots=True)
class Tally:
    """Counts of one conversation, and the lists behind them."""

    counts: Counter[str] = field(default_factory=Counter[str])
    retirements: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    missed: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    unsupported: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    lost_clauses: list[dict[str, object]] = field(default_factory=list[dict[str, object]])


def list_content_stems(text: str) -> list[str]:
    """Return the stems of the content words of an English text.

    >>> list_content_stems("She has been planning trips")
    ['plan', 'trip']
    """
    words = _WORD.findall(text.lower().replace("’", "'"))
    return [stem(word) for word in words if word not in _STOPWORDS]


def measure_coverage(wanted: str, text: str) -> float:
    """Return the share, 0 to 1, of the content words of `wanted` that `text` has; 1 without content words."""
    words = set(list_content_stems(wanted))
    return len(words & set(list_content_stems(text))) / len(words) if words else 1.0


def compute_figures(counts: Mapping[str, int]) -> dict[str, dict[str, float | int | None]]:
    """Return count, total and share of every figure; the share is None without anything to count."""
    return {
        name: {
            "count": counts.get(part, 0),
            "of": counts.get(whole, 0),
            "share": counts.get(part, 0) / counts[whole] if counts.get(whole) else None,
        }
        for name, part, whole in FIGURES
    }


def count_talk(
    gold: Gold, memories: Sequence[StoredMemory], turns: Mapping[str, str], search: Callable[[str], Answer]
) -> Tally:
    """Count the memories of a conversation, and the answers of `search`, against its gold.

    `turns` has the text of every stored turn by its id; gold of other turns is left out.
    """
    tally = Tally()
    claims = [claim for claim in gold.claims if claim.turn in turns]
    by_turn: dict[str, list[StoredMemory]] = defaultdict(list)
    for memory in memories:
        for turn in memory.turns:
            by_turn[turn].append(memory)
    _count_claims(tally, claims, by_turn)
    _count_beliefs(tally, claims, memories, turns)
    _count_changes(tally, claims, memories, by_turn)
    _count_clauses(tally, claims, turns, search)
    _count_questions(tally, gold.questions, turns, search)
    return tally


def _count_claims(tally: Tally, claims: Sequence[GoldClaim], by_turn: Mapping[str, Sequence[StoredMemory]]) -> None:
    ended = {(e.turn, e.attribute, e.value) for c in claims if c.relation in _RETIRING for e in c.replaces}
    for claim in claims:
        tally.counts[f"gold_{claim.weight}"] += 1
        open_ended = claim.stance in _OPEN_STANCES
        may_be_retired = (claim.turn, claim.attribute, claim.value) in ended
        here = by_turn.get(claim.turn, ())
        held = [
            memory
            for memory in here
            if measure_coverage(claim.value, f"{memory.text} {memory.value}") >= _SAYS_VALUE
            and (open_ended or memory.firm)
            and (memory.status in _BELIEVED or may_be_retired)
        ]
        in_slot = any(
            memory.attribute not in _CATCH_ALL
            and memory.value
            and measure_coverage(claim.value, memory.value) >= _SAYS_VALUE
            and _is_about(memory, claim)
            for memory in held
        )
        tally.counts[f"held_{claim.weight}"] += bool(held)
        tally.counts[f"slot_{claim.weight}"] += in_slot
        if claim.weight > 1 and not held:
            row: dict[str, object] = {
                "turn": claim.turn,
                "subject": claim.subject,
                "attribute": claim.attribute,
                "value": claim.value,
            }
            tally.missed.append(row | {"held": [(one.attribute, one.value, one.stance) for one in here]})


def _is_about(memory: StoredMemory, claim: GoldClaim) -> bool:
    entity, subject, speaker = memory.entity.lower(), claim.subject.lower(), claim.by.lower()
    if measure_coverage(subject, entity) >= _SAYS_VALUE or measure_coverage(entity, subject) >= _SAYS_VALUE:
        return True
    return entity in ("user", speaker) and subject in ("user", speaker)


def _count_beliefs(
    tally: Tally, claims: Sequence[GoldClaim], memories: Sequence[StoredMemory], turns: Mapping[str, str]
) -> None:
    by_turn: dict[str, list[GoldClaim]] = defaultdict(list)
    for claim in claims:
        by_turn[claim.turn].append(claim)
    for memory in memories:
        if memory.status != "active":
            continue
        here = [claim for turn in memory.turns for claim in by_turn[turn]]
        said = memory.value or memory.text
        fitting = [
            claim
            for claim in here
            if measure_coverage(said, f"{claim.statement} {claim.value} {_quote(claim, turns)}") >= _SAYS_VALUE
        ]
        _count_belief(tally, memory, here, [(claim, _quote(claim, turns)) for claim in fitting])
        if memory.stance in _UNREAL_STANCES:
            tally.counts["unreal"] += 1
            tally.counts["unreal_wrong"] += any(claim.stance in ("asserted", "denied") for claim in fitting)


def _count_belief(
    tally: Tally,
    memory: StoredMemory,
    here: Sequence[GoldClaim],
    fitting: Sequence[tuple[GoldClaim, str]],
) -> None:
    if memory.named and memory.firm:
        supported = any(
            measure_coverage(memory.value, f"{claim.value} {clause}") >= _SAYS_VALUE
            and claim.stance not in _OPEN_STANCES
            and _is_about(memory, claim)
            for claim, clause in fitting
        )
        tally.counts["named"] += 1
        tally.counts["named_supported"] += supported
        if not supported:
            slot = {"entity": memory.entity, "attribute": memory.attribute, "value": memory.value}
            tally.unsupported.append({"turns": memory.turns, **slot, "text": memory.text})
    elif memory.attribute == "instruction":
        tally.counts["instructions"] += 1
        tally.counts["instructions_real"] += any("instruction" in (claim.type, claim.attribute) for claim in here)
    else:
        tally.counts["other"] += 1
        tally.counts["other_supported"] += bool(fitting)


def _count_changes(
    tally: Tally,
    claims: Sequence[GoldClaim],
    memories: Sequence[StoredMemory],
    by_turn: Mapping[str, Sequence[StoredMemory]],
) -> None:
    changed = [(e.turn, c.turn) for c in claims if c.relation in _RETIRING for e in c.replaces]
    refined = [(e.turn, c.turn) for c in claims if c.relation == "refined" for e in c.replaces]
    by_id = {memory.id: memory for memory in memories}
    for old in memories:
        if old.status != "superseded":
            continue
        new = by_id.get(old.superseded_by or "")
        later = () if new is None else new.turns
        right = any(a in old.turns and b in later for a, b in (*changed, *refined))
        tally.counts["retired"] += 1
        tally.counts["retired_right"] += right
        row: dict[str, object] = {"right": right, "old_turns": old.turns, "old": old.text, "new_turns": later}
        tally.retirements.append(row | {"new": "" if new is None else new.text, "reason": old.reason})
    for a, b in changed:
        retired = any(memory.status == "superseded" for memory in by_turn.get(a, ()))
        tally.counts["updates"] += 1
        tally.counts["updates_done"] += retired and any(memory.status in _BELIEVED for memory in by_turn.get(b, ()))


def _quote(claim: GoldClaim, turns: Mapping[str, str]) -> str:
    """Return the clause of a claim; without one, the sentence of its turn that says most of the value."""
    if claim.clause:
        return claim.clause
    said = turns.get(claim.turn, "")
    sentences = [one for one in _SENTENCE_END.split(said) if one.strip()] or [said]
    return max(sentences, key=lambda one: (measure_coverage(claim.value, one), -len(one)))[:_QUOTED_CHARACTERS_MAX]


def _count_clauses(
    tally: Tally, claims: Iterable[GoldClaim], turns: Mapping[str, str], search: Callable[[str], Answer]
) -> None:
    for claim in claims:
        if claim.weight < 2:  # noqa: PLR2004  (the weight of gold)
            continue
        clause = _quote(claim, turns)
        answer = search(clause)
        tally.counts["clauses"] += 1
        tally.counts["clauses_found"] += claim.turn in answer.turns
        if claim.turn not in answer.turns:
            tally.lost_clauses.append({"turn": claim.turn, "clause": clause, "abstained": answer.abstained})


def _count_questions(
    tally: Tally, questions: Iterable[GoldQuestion], turns: Collection[str], search: Callable[[str], Answer]
) -> None:
    for question in questions:
        if question.turns and question.turns.isdisjoint(turns):
            continue
        answer = search(question.question)
        if question.kind == "absent":
            tally.counts["absent"] += 1
            tally.counts["absent_refused"] += answer.abstained
            continue
        says = [measure_coverage(question.answer, text) >= _SAYS_ANSWER for text in answer.texts]
        tally.counts["questions"] += 1
        tally.counts["refused"] += answer.abstained
        tally.counts["answer_in_5"] += any(says[:5])
        tally.counts["answer_first"] += any(says[:1])
        tally.counts["answer_first_memory"] += next((s for s, m in zip(says, answer.memories, strict=True) if m), False)
        if question.kind == "current" and question.stale:
            tally.counts["stale"] += 1
            tally.counts["stale_first"] += _find_stale(question, answer, says) < _find_first(says)


def _find_stale(question: GoldQuestion, answer: Answer, says: Sequence[bool]) -> int:
    return _find_first(
        not says[at] and any(measure_coverage(value, text) >= _SAYS_ANSWER for value in question.stale)
        for at, text in enumerate(answer.texts)
    )


def _find_first(found: Iterable[bool]) -> int:
    return next((at for at, one in enumerate(found) if one), _NOWHERE)
