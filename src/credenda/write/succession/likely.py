"""Features of a sentence and a memory for the replacement classifier. Pure.

The classifier (`succession/weights.py`) decides about sentences that no rule matches. The features are the shared words
and their position in the new sentence, the kind of the differing words, the owners, and the other words of the
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from credenda.model.memory import Memory
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.write.reconcile.slots import get_slot, is_denial
from credenda.write.succession.departed import given_up, has_gone
from credenda.write.succession.old import Old
from credenda.write.succession.table import table, term
from credenda.write.succession.words import Cell, Phrase, Word, alike, cells, phrase

__all__ = ["Assertion", "Nearness", "near_signs", "said_of", "signs_between"]

Nearness = Mapping[tuple[str, str], float]
"""Cosines in [-1, 1] between a sentence, with straight quotes, and the text of a memory."""

_TOKEN: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[,;:.!?]")
_NEGATION: Final = re.compile(r"\b(?:not|never|no|none|nobody|nothing|without|cannot)\b")
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|went|came|took|gave|got|left|sold|bought|broke|fell|shut|cut|lost|quit|became|began|threw"
    r"|stole|told|said|put|made|found|grew|ran|\w{2,}ed)\b"
)
_PRESENT: Final = re.compile(r"\b(?:am|is|are|do|does|has|have)\b")
_LEADING: Final[Mapping[str, str]] = {
    **dict.fromkeys(("my", "our"), "MY"),
    **dict.fromkeys(("your", "his", "her", "their", "its"), "HIS"),
    **dict.fromkeys(("the", "that", "this", "those", "these"), "THE"),
    **dict.fromkeys(("a", "an", "another", "some"), "A"),
}
"""Small words before a noun, by their function."""
_LED: Final = frozenset(_LEADING.values())
_FORM: Final = frozenset(
    "currently moment still usually always every am are is have has want prefer please now planning was".split()  # noqa: SIM905
)
"""Words of the old sentence that tell its stance."""
_SELF: Final = frozenset({"i", "we", "i'm", "i've", "we're", "we've"})
_PRONOUNS: Final = ("he", "she", "they", "i", "we")
_CUES: Final = (
    "now",
    "turned",
    "down_to",
    "instead",
    "contrast",
    "newly",
    "became",
    "left",
    "gone",
    "went",
    "since",
    "end",
)
_BESIDE: Final = (
    "alike",
    "value named",
    "attribute, not value",
    "entity alone",
    "no slot",
    "old covered",
    "departs",
    "value stays",
)
"""Features whose meaning depends on a change cue beside them."""
_SHARED_MOST: Final = 3
_NEAR_SHARED: Final = 2
_LEFT_MOST: Final = 4
_PLAIN: Final = frozenset({"word", "name?"})
_STEPS: Final = (0.2, 0.4, 0.6, 0.8)
_NEAR_STEPS: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_LENGTHS: Final = (6, 10, 15, 22)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """A new sentence prepared for features: its words in order, their stems, content words and named relatives."""

    phrase: Phrase
    tokens: tuple[str, ...]
    stems: tuple[str, ...]
    content: tuple[Word, ...]
    terms: frozenset[str]
    kin: frozenset[str]
    plain: frozenset[str]
    """Features of the sentence alone, equal for every memory."""
    cues: tuple[str, ...]

    def others(self, shared: frozenset[str]) -> Iterator[str]:
        """Yield features of the words that are not shared, as single words and pairs."""
        free = [
            "" if stem in shared or token.isdigit() else token
            for token, stem in zip(self.tokens, self.stems, strict=True)
        ]
        for token, stem in zip(free, self.stems, strict=True):
            if token:
                yield f"w:{token}"
                if stem != token:
                    yield f"s:{stem}"
        for one, following in pairwise(free):
            if one and following:
                yield f"p:{one} {following}"


@lru_cache(maxsize=256)
def said_of(sentence: str) -> Assertion:
    """Prepare a sentence for features."""
    said = phrase(sentence)
    tokens = tuple(_TOKEN.findall(said.lower))
    content = tuple(one for one in said.words if one.content)
    cues = tuple(_cues(said.lower))
    return Assertion(
        phrase=said,
        tokens=tokens,
        stems=tuple(term(token) for token in tokens),
        content=content,
        terms=frozenset(one.term for one in content),
        kin=_kin(said),
        plain=frozenset(_plain(said.lower, tokens, cues)),
        cues=cues,
    )


def _kin(said: Phrase) -> frozenset[str]:
    return frozenset(one.term for one in said.words if one.kind == "kind:kin")


def _cues(lower: str) -> Iterator[str]:
    for name in _CUES:
        sign = table().end if name == "end" else table().change[name]
        if sign.search(lower):
            yield name


def _plain(lower: str, tokens: Sequence[str], cues: Sequence[str]) -> Iterator[str]:
    yield "*"
    past, present = _PAST.search(lower) is not None, _PRESENT.search(lower) is not None
    yield f"tense:{' past' * past}{' present' * present}"
    yield f"length:{sum(map(len(tokens).__ge__, _LENGTHS))}"
    yield from (f"1:{token}" for token in tokens[:1])
    yield from (f"veto:{name}" for name, veto in table().veto.items() if veto.search(lower))
    yield from (f"cue:{name}" for name in cues)
    if not cues:
        yield "cue:none"


def signs_between(
    said: Assertion, old: Old, rarity: Mapping[str, float], given: Sequence[Memory] = ()
) -> frozenset[str]:
    """Return the features of a sentence and a memory.

    `rarity` gives the idf of common terms in units of the greatest, in (0, 1]; a missing term has the greatest. `given`
    are the memories that the sentence gave by its own claims.
    """
    mine = tuple(one for one in old.said.words if one.content)
    shared = frozenset(one.term for one in mine) & said.terms
    roles = _roles(old.memory, shared)
    signs = set(said.plain)
    signs.update(said.others(shared))
    signs.update(_counted(said, mine, shared, rarity))
    signs.update(_placed(said, old, roles))
    signs.update(_whose(said, old))
    signs.update(_around(said, roles))
    signs.update(_differing(said, old, mine, shared))
    signs.update(_given(old, given))
    signs.update(_formed(said, old))
    signs.update(_departing(said, roles))
    signs.update(_subject(said, old, roles))
    signs.update(_staying(signs))
    signs.update([f"{one} & {cue}" for one in _BESIDE if one in signs for cue in said.cues or ("none",)])
    return frozenset(signs)


def near_signs(said: Assertion, old: Old, cosine: float) -> Iterator[str]:
    """Yield features of the similarity, alone and beside the change cues.

    `cosine` is in [-1, 1]. Texts on one topic have similar vectors, whatever they state: the cosine tells which memory
    is meant, and little about whether it still holds.
    """
    steps = [f"near>{step}" for step in _NEAR_STEPS if cosine > step]
    yield from steps
    if steps:
        shared = sum(one.content and one.term in said.terms for one in old.said.words)
        yield from (f"{steps[-1]} & {cue}" for cue in said.cues or ("none",))
        yield f"{steps[-1]} shared:{min(shared, _NEAR_SHARED)}"


def _counted(
    said: Assertion, mine: Sequence[Word], shared: frozenset[str], rarity: Mapping[str, float]
) -> Iterator[str]:
    held = frozenset(one.term for one in mine)
    common = sum(rarity.get(one, 1.0) for one in shared)
    parts = {
        "rarity": common,
        "old": common / max(sum(rarity.get(one, 1.0) for one in held), 1.0),
        "new": common / max(sum(rarity.get(one, 1.0) for one in said.terms), 1.0),
    }
    yield f"shared:{min(_SHARED_MOST, len(shared))}"
    yield from (f"{name}>{step}" for name, value in parts.items() for step in _STEPS if value > step)
    if held == shared:
        yield "old covered"


def _roles(memory: Memory, shared: frozenset[str]) -> dict[str, str]:
    """Return the role of each shared term in the memory: value, attribute, entity, or other word."""
    parts = (
        ("value", _content(memory.value)),
        ("attribute", _content((memory.attribute or "").replace("_", " "))),
        ("entity", _content(memory.entity)),
    )
    return {one: next((name for name, terms in parts if one in terms), "other") for one in shared}


@lru_cache(maxsize=512)
def _content(text: str | None) -> frozenset[str]:
    return frozenset(one.term for one in phrase(text or "").words if one.content)


def _placed(said: Assertion, old: Old, roles: Mapping[str, str]) -> Iterator[str]:
    """Yield features of the slot, and of its parts that the sentence names."""
    memory, found = old.memory, frozenset(roles.values())
    yield from (f"role:{name}" for name in found)
    if get_slot(memory) is None:
        yield "no slot"
        return
    yield f"attr:{old.name}"
    yield f"many:{memory.cardinality.value}"
    value = _content(memory.value)
    if value and value <= said.terms:
        yield "value named"
    elif "value" in found:
        yield "value in part"
    if "attribute" in found and "value" not in found:
        yield "attribute, not value"
    if found == frozenset({"entity"}):
        yield "entity alone"


def _whose(said: Assertion, old: Old) -> Iterator[str]:
    theirs = old.kin | _kin(old.said) | old.owner
    if said.kin - theirs:
        yield "kin:new"
    if theirs - said.kin - old.owner:
        yield "kin:old"
    if said.kin & theirs:
        yield "kin:same"
    whose = "own" if old.own else "owner named" if old.owner & said.terms else "owner not named"
    yield whose
    yield from (f"{whose}, {name}" for name in _PRONOUNS if name in said.tokens)


def _around(said: Assertion, roles: Mapping[str, str]) -> Iterator[str]:
    """Yield features of the words before and after each shared word."""
    tokens, stems = said.tokens, said.stems
    known = {one.text.lower(): one.term for one in said.content if one.term in roles}
    for at, (token, stem) in enumerate(zip(tokens, stems, strict=True)):
        found = stem if stem in roles else known.get(token)
        if found is None:
            continue
        role = roles[found]
        before = "^" if not at else _LEADING.get(tokens[at - 1], tokens[at - 1])
        after = tokens[at + 1] if at + 1 < len(tokens) else "$"
        back = 2 if before in _LED else 1
        led = stems[at - back] if at >= back else "^"
        for name, word in (("before", before), ("after", after), ("led", led)):
            yield f"{name}:{word}"
            yield f"{role} {name}:{word}"
        if at + 2 < len(tokens):
            yield f"then:{stems[at + 1]} {stems[at + 2]}"
            yield f"{role} then:{stems[at + 1]} {stems[at + 2]}"
        if at <= 1:
            yield f"{role} leads"
        if token.endswith("'s"):
            yield f"{role}'s"
        elif at and tokens[at - 1].endswith("'s"):
            yield f"{role} of somebody"


def _subject(said: Assertion, old: Old, roles: Mapping[str, str]) -> Iterator[str]:
    """Yield features of the apparent subject: the speaker, a shared one, or another."""
    first = said.content[0] if said.content else None
    if said.tokens and said.tokens[0] in _SELF:
        subject = "I"
    elif first is None:
        subject = "nothing"
    elif first.term in roles and first.text.lower().endswith("'s"):
        subject = f"{roles[first.term]}'s"
    elif first.term in roles:
        subject = roles[first.term]
    else:
        subject = "kin" if first.kind == "kind:kin" else "name" if first.kind == "name" else "other"
    yield f"of {subject}"
    yield f"of {subject}, {'own' if old.own else 'of another'}"


def _staying(signs: Collection[str]) -> Iterator[str]:
    """Yield whether the old value is named without being left, and whether it has a replacement."""
    if "value named" in signs and not {"departs before:value", "departs after:value"} & set(signs):
        yield "value stays"
        yield f"value stays, {'alike' if 'alike' in signs else 'nothing alike'}"
        if "new denies" in signs:
            yield "value stays, new denies"
    if "alike" not in signs and "departs" not in signs:
        yield "nothing goes"


def _differing(said: Assertion, old: Old, mine: Sequence[Word], shared: frozenset[str]) -> Iterator[str]:
    """Yield features of the words that are not shared, and whether they are of one kind."""
    left = cells(old.said, [one for one in mine if one.term not in shared])
    fresh = cells(said.phrase, [one for one in said.content if one.term not in shared])
    yield f"left:{min(_LEFT_MOST, len(left))}"
    yield f"fresh:{min(_LEFT_MOST, len(fresh))}"
    few = min(_SHARED_MOST, len(shared))
    kinds = {_kind(one, other) for one in left for other in fresh if _answers_alike(one, other)}
    for kind in kinds:
        yield f"kind:{kind}"
        yield f"kind:{kind} shared:{few}"
    if kinds:
        yield "alike"
        yield f"alike shared:{few}"
        yield f"alike left:{min(_LEFT_MOST, len(left))}"
    else:
        yield from (f"lost:{one.kind.partition(':')[0]}" for one in left)


def _answers_alike(one: Cell, other: Cell) -> bool:
    return one.kind not in _PLAIN and other.kind not in _PLAIN and alike(one, other, small=False)


def _kind(one: Cell, other: Cell) -> str:
    """Return the kind of two spans that answer one question; amounts with a unit differ from bare numbers."""
    if one.kind != other.kind:
        return one.kind.partition(":")[0] + "?"
    return "amount" if one.kind.startswith("number:") and one.kind != "number:" else one.kind.removesuffix(":")


def _given(old: Old, given: Sequence[Memory]) -> Iterator[str]:
    """Yield features of the sentence's own claims."""
    slots = {
        normalise_attribute(one.attribute or ""): normalise_name(one.entity or "")
        for one in given
        if get_slot(one) is not None
    }
    if not slots:
        yield "given:words" if given else "given:nothing"
    elif old.name in slots:
        same = slots[old.name] == normalise_name(old.memory.entity or "")
        yield "given:same slot" if same else "given:same attribute"
    else:
        yield "given:other"
        if any(table().other_matter(one, old.name) for one in slots):
            yield "given:another matter"


def _formed(said: Assertion, old: Old) -> Iterator[str]:
    """Yield features of form: negation, plans, and the first words of both."""
    if is_denial(old.memory):
        yield "denies"
    denied, before = (_NEGATION.search(one) is not None for one in (said.phrase.lower, old.said.lower))
    if denied or before:
        yield "both deny" if denied and before else "new denies" if denied else "old denied"
    yield f"stance:{old.memory.stance.value}"
    yield f"type:{old.memory.type.value}"
    words = _TOKEN.findall(old.said.lower)
    yield from (f"old:{word}" for word in _FORM.intersection(words))
    if words and said.tokens and words[0] == said.tokens[0]:
        yield "same first"
    if old.memory.scope:
        yield "scope"


def _departing(said: Assertion, roles: Mapping[str, str]) -> Iterator[str]:
    """Yield whether a shared word stands at the position of an old value: left, ended or replaced."""
    words, text = table(), said.phrase.lower
    for one in said.content:
        role = roles.get(one.term)
        if role is None:
            continue
        if words.before.search(text[: one.start]) is not None or given_up(text, one.start) is not None:
            yield "departs"
            yield f"departs before:{role}"
        if words.after.search(text[one.stop :]) is not None or has_gone(text, one.stop):
            yield "departs"
            yield f"departs after:{role}"
