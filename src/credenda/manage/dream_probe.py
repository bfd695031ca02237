"""Dream step 5: choose the beliefs to challenge. A challenge flags a memory and lowers its score. Pure.

Without a model there are three grounds: a later memory of the same slot conflicts, all its evidence is deleted, or it
is old and was never confirmed. The last is limited to five a night (E-070), and skips attributes that do not age (a
name, a birthday) and memories shown within two weeks; with a model, five are asked about instead. Engram silently
lowers the importance of a doubted memory; here its status changes (D-028).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple, cast

from credenda import limits
from credenda.clock import to_datetime
from credenda.manage.dream_cards import CardRules, CardText, EntityFacts, format_card_head, hash_facts
from credenda.model.change import Add, SetStatus
from credenda.model.event import TRUST, Source
from credenda.model.memory import (
    ASSERTIVE_STANCES,
    BRIDGE,
    DREAMER,
    Cardinality,
    Draft,
    Layer,
    Memory,
    MemoryType,
    Slot,
    Stance,
    Status,
    get_type_class,
    get_valid_from_us,
    is_dreamed,
)
from credenda.providers.llm.protocol import Question
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name, normalise_value

_PROBED: Final = frozenset({Layer.SEMANTIC, Layer.PROCEDURAL})
_AGELESS: Final = frozenset(
    {
        "name",
        "full_name",
        "first_name",
        "last_name",
        "nickname",
        "birthday",
        "birth_date",
        "date_of_birth",
        "birth_year",
    }
    | {
        "birthplace",
        "hometown",
        "native_language",
        "mother_tongue",
        "nationality",
        "blood_type",
        "allergy",
        "allergies",
    }
    | {"instruction", "gender", "pronouns", "ethnicity", "alias", "degree", "experience", "event"}
)
"""Attributes that do not become doubtful with time."""
_SHOWN_CONFIDENCE: Final = 0.5
_UNTIL_DETAIL: Final = " ("


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRules:
    """The limits; ages are days.

    Five a night and fourteen days are engram's (E-070). The year is our choice: a fact that was neither confirmed nor
    shown in all seasons deserves a question.
    """

    max_per_run: int = 5
    idle_days: float = 14.0
    old_days: float = 365.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeCandidate:
    """A memory, the days since its creation, and since it was last shown (or else created)."""

    memory: Memory
    age_days: float
    idle_days: float


def may_be_probed(memory: Memory) -> bool:
    """Return whether a memory may be challenged automatically: active, and neither pinned, contested nor derived."""
    return (
        memory.status is Status.ACTIVE
        and not (memory.pinned or memory.contested or is_dreamed(memory))
        and memory.layer is not Layer.CODEBASE
    )


def get_single_slot(memory: Memory) -> Slot | None:
    """Return the slot of an assertive single-valued memory; None without one."""
    if memory.cardinality is not Cardinality.SINGLE or memory.stance not in ASSERTIVE_STANCES or memory.contested:
        return None
    if not (memory.entity and memory.attribute and memory.value) or is_dreamed(memory):
        return None
    return Slot(
        normalise_name(memory.speaker),
        normalise_name(memory.entity),
        normalise_attribute(memory.attribute),
        normalise_name(memory.scope or "") or None,
        get_type_class(memory.type),
    )


def _get_since(memory: Memory) -> tuple[int, int]:
    return get_valid_from_us(memory), memory.created_us


def _is_in_conflict(one: Memory, other: Memory) -> bool:
    denied = one.stance is Stance.NEGATED, other.stance is Stance.NEGATED
    if any(denied):
        return denied[0] != denied[1] and is_same_value(one.value, other.value)
    return normalise_value(one.value or "") != normalise_value(other.value or "") and not is_same_value(
        one.value, other.value
    )


def find_contradicted(members: Sequence[Memory]) -> list[tuple[Memory, Memory]]:
    """Find the memories of one slot that a later one contradicts, each with the latest such memory.

    A later memory counts if it is active, or if it is challenged but was confirmed.
    """
    found: list[tuple[Memory, Memory]] = []
    for one in members:
        later = [
            other
            for other in members
            if _get_since(other) > _get_since(one)
            and _is_in_conflict(one, other)
            and other.confidence >= _SHOWN_CONFIDENCE
            and (other.status is Status.ACTIVE or other.confirmations > 0)
        ]
        if may_be_probed(one) and later:
            found.append((one, max(later, key=_get_since)))
    return found


def is_unsupported(memory: Memory, words: Iterable[str]) -> bool:
    """Return whether all evidence text of a memory is deleted; False for a memory without evidence."""
    spoken = list(words)
    return may_be_probed(memory) and bool(spoken) and not any(any(letter.isalnum() for letter in one) for one in spoken)


def is_old_unconfirmed(one: ProbeCandidate, rules: ProbeRules) -> bool:
    """Return whether a memory is old and was never confirmed."""
    plain = _may_be_asked(one, rules) and normalise_attribute(one.memory.attribute or "") not in _AGELESS
    return plain and not one.memory.confirmations and one.age_days > rules.old_days


def _may_be_asked(one: ProbeCandidate, rules: ProbeRules) -> bool:
    return may_be_probed(one.memory) and one.memory.layer in _PROBED and one.idle_days >= rules.idle_days


def draw_probes(found: Iterable[ProbeCandidate], rules: ProbeRules, day: int) -> list[ProbeCandidate]:
    """Draw the memories to ask a model about; the draw is the same within a day."""
    asked = [one for one in found if _may_be_asked(one, rules)]
    drawn = sorted(asked, key=lambda one: hashlib.blake2b(f"{day} {one.memory.id}".encode(), digest_size=8).digest())
    return drawn[: rules.max_per_run]


def challenge(memory: Memory, ground: str, earlier: Iterable[str]) -> SetStatus | None:
    """Challenge a memory on a ground; None if it was challenged on the same ground before.

    `earlier` are the reasons of earlier challenges in its log. Text in brackets after a ground is ignored.
    """
    reason = f"probe: {ground}"
    if reason.split(_UNTIL_DETAIL, maxsplit=1)[0] in {one.split(_UNTIL_DETAIL)[0] for one in earlier}:
        return None
    return SetStatus(memory_id=memory.id, status=Status.CHALLENGED, reason=reason)


# Prompts of the dream steps, and the parsers of their answers.


CARD_PROMPT: Final = "card-1"
BRIDGE_PROMPT: Final = "bridge-1"
PROBE_PROMPT: Final = "probe-1"
"""Versions of the instructions and their schemas; each changes with either of them."""
Mask = Callable[[str], str]
"""Masks the secrets in a text, independently of the secrets policy."""
_SENTENCE_CHARACTERS: Final = 400
_SURE: Final = 0.7
"""The minimum confidence of a doubt or a bridge."""
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_NEGATED: Final = re.compile(r"(?i)\b(?:no|not|never|none|nor|neither|without|cannot)\b|n['\u2019]t\b")
_LINE: Final = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class BridgeAnswer:
    """A confirmed connection: its sentence, and the ids of the facts behind it."""

    sentence: str
    cites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """Why the model doubts a memory, and the later memory that contradicts it, if any."""

    reason: str
    because: str | None


@cache
def _load_prompt(name: str) -> str:
    return (files("credenda.manage") / "prompts" / name).read_text("utf-8")


def _build_question(prompt: str, document: Mapping[str, object]) -> Question:
    return Question(
        instructions=_load_prompt(f"{prompt}.md"),
        prompt=json.dumps(document, ensure_ascii=False, indent=0),
        schema=json.loads(_load_prompt(f"{prompt}.schema.json")),
        tokens_max=limits.LLM_ANSWER_TOKENS,
    )


def _label_facts(facts: Sequence[Memory], letter: str, mask: Mask) -> list[dict[str, str]]:
    return [
        {"id": f"{letter}{at}", "text": mask(one.text)[: limits.LLM_CONTEXT_CHARACTERS]}
        for at, one in enumerate(facts, 1)
    ]


def ask_card(name: str, facts: Sequence[Memory], mask: Mask) -> Question:
    """Ask for a card of an entity from these facts."""
    return _build_question(CARD_PROMPT, {"about": mask(name), "facts": _label_facts(facts, "f", mask)})


def ask_bridge(one: EntityFacts, other: EntityFacts, mask: Mask) -> Question:
    """Ask whether the facts of two entities connect them."""
    document = {
        "one": {"name": mask(one.name), "facts": _label_facts(one.facts, "a", mask)},
        "other": {"name": mask(other.name), "facts": _label_facts(other.facts, "b", mask)},
    }
    return _build_question(BRIDGE_PROMPT, document)


def ask_probe(memory: Memory, later: Sequence[Memory], now_us: int, mask: Mask) -> Question:
    """Ask whether a memory still holds, given later facts about the same entity."""
    document = {
        "today": f"{to_datetime(now_us):%F}",
        "memory": {"text": mask(memory.text), "held_since": f"{to_datetime(memory.created_us):%F}"},
        "since": _label_facts(later, "s", mask),
    }
    return _build_question(PROBE_PROMPT, document)


def _parse_answer(text: str) -> Mapping[str, Any]:
    try:
        found: Any = json.loads(text[: limits.LLM_ANSWER_CHARACTERS])
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}


def _find_cited(raw: object, letter: str, facts: Sequence[Memory]) -> list[Memory]:
    """Find the facts that an answer cites; unknown ids are ignored."""
    named = {f"{letter}{at}": one for at, one in enumerate(facts, 1)}
    given = cast("list[object]", raw) if isinstance(raw, list) else []
    return [named[one] for one in given if isinstance(one, str) and one in named]


def parse_card(text: str, name: str, facts: Sequence[Memory], rules: CardRules) -> CardText | None:
    """Parse a card; None if any part of it is not grounded.

    The card cites every fact that the model was shown, because each may have influenced it.
    """
    listed: Any = _parse_answer(text).get("sentences")
    if not isinstance(listed, list):
        return None
    lines: list[str] = []
    for one in cast("list[object]", listed):
        sentence = _parse_sentence(one, name, facts)
        if sentence is None:
            return None
        lines.append(f"- {sentence}")
    body = "\n".join([format_card_head(name), *lines])
    fits = len(body) <= limits.MEMORY_TEXT_CHARACTERS and len(body.split()) <= rules.words_most
    fits = fits and len(lines) < rules.lines_most
    return CardText(name, body, tuple(facts)) if lines and fits else None


def _parse_sentence(raw: object, name: str, facts: Sequence[Memory]) -> str | None:
    given: Mapping[str, object] = cast("dict[str, object]", raw) if isinstance(raw, dict) else {}
    text = given.get("text")
    cites = _find_cited(given.get("cites"), "f", facts)
    if not isinstance(text, str) or not cites or not _is_single_line(text):
        return None
    names = ", ".join(dict.fromkeys(fact.id for fact in cites))
    return f"{text.strip()} [{names}]" if is_grounded(text, [fact.text for fact in cites], (name,)) else None


def _is_single_line(text: str) -> bool:
    return bool(text.strip()) and len(text) <= _SENTENCE_CHARACTERS and not _LINE.search(text.strip())


def parse_bridge(text: str, one: EntityFacts, other: EntityFacts) -> BridgeAnswer | None:
    """Parse a confirmed bridge; None if the model confirms none, or one that is not grounded."""
    found = _parse_answer(text)
    sentence, sure = found.get("sentence"), found.get("confidence")
    if found.get("connected") is not True or not isinstance(sentence, str) or not _is_single_line(sentence):
        return None
    if isinstance(sure, bool) or not isinstance(sure, int | float) or not _SURE <= sure <= 1:
        return None
    mine = _find_cited(found.get("cites"), "a", one.facts)
    theirs = _find_cited(found.get("cites"), "b", other.facts)
    texts = [fact.text for fact in (*mine, *theirs)]
    names = all(about.name.casefold() in sentence.casefold() for about in (one, other))
    if not mine or not theirs or not names or not is_grounded(sentence, texts, (one.name, other.name)):
        return None
    return BridgeAnswer(sentence.strip(), tuple(fact.id for fact in (*one.facts, *other.facts)))


def parse_probe(text: str, later: Sequence[Memory]) -> ProbeAnswer | None:
    """Parse a doubt; None if the memory holds, or the answer is unsure or invalid."""
    found = _parse_answer(text)
    sure, reason = found.get("confidence"), found.get("reason")
    if found.get("still_valid") is not False or reason not in {"contradicted", "outdated"}:
        return None
    if isinstance(sure, bool) or not isinstance(sure, int | float) or not _SURE <= sure <= 1:
        return None
    against = _find_cited([found.get("because")], "s", later)
    if reason == "contradicted" and not against:
        return None
    return ProbeAnswer(str(reason), against[0].id if against else None)


def is_grounded(text: str, sources: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether every number, name and negation of a text occurs in its sources.

    A name is a capitalised word after the first word of the text.

    >>> is_grounded("Ana moved to Graz in 2024.", ["I moved to Graz in 2024"], ("Ana",))
    True
    >>> is_grounded("Ana moved to Graz in 2025.", ["I moved to Graz in 2024"], ("Ana",))
    False
    """
    said = " ".join((*sources, *names))
    if set(_NUMBER.findall(text)) - set(_NUMBER.findall(said)):
        return False
    if _NEGATED.search(text) and not _NEGATED.search(said):
        return False
    known = {word.casefold() for word in _WORD.findall(said)}
    capitals = [word for word in _WORD.findall(text)[1:] if word[0].isupper() and word != "I"]
    return all(word.casefold().removesuffix("'s").removesuffix("\u2019s") in known for word in capitals)


# Dream step 4: choose the entity pairs to ask a model about, and store a confirmed bridge.


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeRules:
    """The limits of bridges (E-069); `facts_most` is the number of facts of each entity that a model sees."""

    entities: int = 50
    facts_least: int = 3
    facts_most: int = 12
    nearest: float = 0.90
    farthest: float = 0.75
    max_per_run: int = 5
    importance: float = 0.6


class EntityPair(NamedTuple):
    """Two entities by their normal names, in order, and the cosine of their centroids."""

    cosine: float
    one: str
    other: str


def is_connected(one: EntityFacts, other: EntityFacts) -> bool:
    """Return whether a fact of one entity names the other."""
    return _is_named(one.facts, other.name) or _is_named(other.facts, one.name)


def _is_named(facts: Iterable[Memory], name: str) -> bool:
    wanted = f" {normalise_name(name)} "
    return any(
        wanted in f" {normalise_name(fact.text)} " or normalise_name(fact.value or "") == wanted.strip()
        for fact in facts
    )


def nominate_pairs(
    pairs: Iterable[EntityPair], abouts: Mapping[str, EntityFacts], rules: BridgeRules
) -> list[EntityPair]:
    """Return the pairs to ask about, most similar first: within the cosine range and not connected."""
    near = [pair for pair in pairs if rules.farthest <= pair.cosine <= rules.nearest]
    apart = [pair for pair in near if not is_connected(abouts[pair.one], abouts[pair.other])]
    return sorted(apart, key=lambda pair: (-pair.cosine, pair.one, pair.other))


def hash_bridge(one: EntityFacts, other: EntityFacts) -> str:
    """Hash the facts of two entities, so that the same facts are asked about once."""
    return hash_facts((*one.facts, *other.facts), "bridge-1")


def get_bridge_ends(bridge: Memory) -> frozenset[str]:
    """Return the normalised names of the two entities of a bridge."""
    named = bridge.metadata.get("entities")
    return (
        frozenset(normalise_name(str(one)) for one in cast("list[object]", named))
        if isinstance(named, list)
        else frozenset()
    )


def decide_bridge(one: EntityFacts, other: EntityFacts, found: BridgeAnswer, rules: BridgeRules) -> Add:
    """Add a bridge that a model confirmed; it names both entities and cites the facts of both."""
    return Add(
        key=f"new:bridge {normalise_name(one.name)} {normalise_name(other.name)}",
        draft=Draft(
            text=found.sentence,
            type=MemoryType.FACT,
            entity=BRIDGE,
            attribute=BRIDGE,
            speaker=DREAMER,
            importance=rules.importance,
            layer=Layer.SEMANTIC,
            trust=TRUST[Source.DREAM],
            metadata={
                "cites": list(found.cites),
                "digest": hash_bridge(one, other),
                "edge": "SYNTHESIZED_WITH",
                "entities": [one.name, other.name],
            },
        ),
        support=(),
        reason=f"the model connected {len(found.cites)} memories",
    )
