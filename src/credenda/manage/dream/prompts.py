"""Prompts of the dream steps, and the parsers of their answers. Pure.

The instructions are versioned files. User text goes into one JSON document, where no text can end its own string, and
secrets are masked first. Facts get short names, so that no memory id is sent out. The model never decides alone: it
writes a card from given facts, confirms a bridge, or doubts a memory. An answer that states more than its facts is
dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, cast

from credenda import limits
from credenda.clock import to_datetime
from credenda.manage.dream.cards import CardRules, CardText, EntityFacts, format_card_head
from credenda.model.memory import Memory
from credenda.providers.llm.protocol import Question

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
    return (files("credenda.manage.dream") / "prompts" / name).read_text("utf-8")


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
