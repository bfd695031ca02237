"""Extract a passage with a model: ask, ask for missing claims, and keep the checked ones. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final

from credenda import limits
from credenda.model.claim import Claim, Turn, UpdateKind
from credenda.model.event import DENIED, QUARANTINED, Role
from credenda.model.memory import Cardinality, Memory
from credenda.providers.llm.protocol import LanguageModel, ModelFailure, Question, Reply, Trouble
from credenda.text.normalize import is_same_value
from credenda.write.extract.voices import Act, act_of, own_sentences, straighten
from credenda.write.intake.secrets import is_instruction_like
from credenda.write.llm.guards import Verdict, check
from credenda.write.llm.prompt import (
    PROMPT,
    Answer,
    Passage,
    Proposal,
    Refusal,
    known_id,
    question_about,
    read_answer,
    turn_id,
)
from credenda.write.messages import keep_requested_type
from credenda.write.reconcile.candidate import claim_hash
from credenda.write.reconcile.decide import name_claim
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, get_slot

Ask = Callable[[Question], Reply]
_AT_LEAST: Final = 2
_ALIAS: Final = "alias"
_MISSING: Final = (
    "These {count} claims are c1 to c{count}. Give only the claims that they leave out; the first of them is c{next}. "
    "Set `more` only if there are further ones after yours."
)
_MALFORMED: Final = "This is not the requested JSON document. Give the whole answer again."
_FORM: Final = "a claim does not have the requested form"
_UNFINISHED: Final = "the model had more claims than it gave"
Outcome = tuple[str, str]
"""The fate of a claim that is not believed as proposed, "changed" or "refused", and the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """The claims of each message by event id, or why there is no usable answer.

    `answers` are the answers behind the claims, each with its passage, so that they can be checked again.
    """

    claims: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict[str, tuple[Claim, ...]])
    failure: ModelFailure | None = None
    outcomes: tuple[Outcome, ...] = ()
    reader: str = ""
    """The prompt version and the model."""
    answers: tuple[tuple[Passage, str], ...] = field(default=(), repr=False)


def reader_name(model: LanguageModel) -> str:
    """Return the extractor version of a claim: prompt version and model."""
    return f"{PROMPT} {model.model_id}"


def understand(passage: Passage, ask: Ask, reader: str) -> Understood:
    """Extract a passage with a model.

    `ask` raises `ModelFailure`. A passage whose answer is too long or unusable is asked about in halves.
    """
    try:
        text = _ask_for_all(passage, ask)
    except ModelFailure as failure:
        if failure.trouble.is_model_fault or len(passage.turns) < _AT_LEAST:
            return Understood(failure=failure)
        middle = len(passage.turns) // 2
        halves = [
            understand(replace(passage, turns=passage.turns[part]), ask, reader)
            for part in (slice(middle), slice(middle, None))
        ]
        failed = next((half.failure for half in halves if half.failure is not None), None)
        return Understood(failure=failed) if failed is not None else _join(halves, reader)
    return read_text(passage, text, reader)


def _join(halves: Sequence[Understood], reader: str) -> Understood:
    return Understood(
        claims={name: claims for half in halves for name, claims in half.claims.items()},
        outcomes=tuple(outcome for half in halves for outcome in half.outcomes),
        reader=reader,
        answers=tuple(answer for half in halves for answer in half.answers),
    )


def _ask_for_all(passage: Passage, ask: Ask) -> str:
    """Return the answer about a passage, with the claims of further answers for which the model has more claims.

    If the model fails while it is asked for those, the passage fails. If the passage itself is at fault, what the model
    gave so far counts; the answer then still says that there is more.
    """
    question = question_about(passage)
    answer, text = _ask_readable(question, ask)
    claims: list[Any] = json.loads(text)["claims"]
    for _ in range(limits.LLM_CONTINUATIONS):
        if not answer.more:
            break
        given = _write_answer(claims, more=True)[: limits.LLM_ANSWER_CHARACTERS]
        missing = _MISSING.format(count=len(claims), next=len(claims) + 1)
        try:
            answer, text = _ask_readable(replace(question, earlier=((given, missing),)), ask)
        except ModelFailure as failure:
            if failure.trouble.is_model_fault:
                raise
            break
        claims += json.loads(text)["claims"]
    return _write_answer(claims, more=answer.more)


def _ask_readable(question: Question, ask: Ask) -> tuple[Answer, str]:
    """Ask once, and once more where the answer is not the requested document."""
    text = ask(question).text
    answer = read_answer(text)
    if not answer.readable:
        earlier = (*question.earlier, (text[: limits.LLM_ANSWER_CHARACTERS], _MALFORMED))
        text = ask(replace(question, earlier=earlier)).text
        answer = read_answer(text)
    if not answer.readable:
        raise ModelFailure(Trouble.UNREADABLE, "its answers were not the JSON that was asked for")
    return answer, text


def _write_answer(claims: Sequence[Any], *, more: bool) -> str:
    return json.dumps({"claims": claims, "more": more}, ensure_ascii=False)


def reread(understood: Understood, known: Mapping[str, object]) -> Mapping[str, tuple[Claim, ...]]:
    """Return the claims of the answers for the memories that are still as they were shown, by id. Pure."""
    parts = [
        read_text(
            passage, text, understood.reader, frozenset(one.id for one in passage.known if known.get(one.id) != one)
        )
        for passage, text in understood.answers
    ]
    return _join(parts, understood.reader).claims


def read_text(passage: Passage, text: str, reader: str, changed: frozenset[str] = frozenset()) -> Understood:
    """Check the claims of an answer about a passage; the `changed` memories are no longer known."""
    answer = read_answer(text)
    known = {known_id(at): one for at, one in enumerate(passage.known) if one.id not in changed}
    verdicts: list[Verdict] = []
    for number, proposal in enumerate(answer.proposals, 1):
        if proposal is None:
            continue
        verdict = _check(proposal, passage, known, reader)
        if verdict.claim is not None:
            kept = _leave_unnamed(verdict.claim, known.values())
            verdict = replace(verdict, claim=kept)
            known[f"c{number}"] = _stand_in(kept)
        verdicts.append(verdict)
    outcomes = [(("refused" if one.claim is None else "changed"), one.why.value) for one in verdicts if one.why]
    return Understood(
        claims={turn.event.id: _list_claims(passage, turn, verdicts) for turn in passage.turns},
        outcomes=(
            *outcomes,
            *[("refused", _FORM)] * answer.proposals.count(None),
            *[("refused", _UNFINISHED)] * answer.more,
        ),
        reader=reader,
        answers=((passage, text),),
    )


def _leave_unnamed(claim: Claim, shown: Iterable[Memory]) -> Claim:
    """Let a claim replace no value of its slot that the model was shown, or gave, and did not name."""
    slot = get_slot(claim)
    if slot is None or claim.rival is not None or claim.stance not in ASSERTIVE_STANCES:
        return claim
    others = any(get_slot(one) == slot and not is_same_value(one.value, claim.value) for one in shown)
    return replace(claim, cardinality=Cardinality.SET) if others else claim


def _stand_in(claim: Claim) -> Memory:
    """Return what a later claim of the same answer may name: the memory that will follow from a claim."""
    return Memory(
        id=name_claim(claim),
        version=1,
        created_us=0,
        recorded_us=0,
        text=claim.text,
        type=claim.type,
        entity=claim.entity,
        attribute=claim.attribute,
        value=claim.value,
        scope=claim.scope,
        cardinality=claim.cardinality,
        stance=claim.stance,
        speaker=claim.speaker,
    )


def _check(proposal: Proposal, passage: Passage, known: Mapping[str, Memory], reader: str) -> Verdict:
    """Check a claim against the message that it names, or else against the first that holds its quote."""
    named = [turn for at, turn in enumerate(passage.turns) if turn_id(at) == proposal.turn]
    verdict = Verdict(None, Refusal.QUOTE)
    messages = passage.messages
    for turn in (*named, *passage.turns):
        before = tuple(messages[: messages.index(turn.event)])
        verdict = check(proposal, replace(turn, before=before, known=passage.known), known, reader=reader)
        if verdict.why is not Refusal.QUOTE:
            break
    return verdict


def _list_claims(passage: Passage, turn: Turn, verdicts: Sequence[Verdict]) -> tuple[Claim, ...]:
    """List the claims of one message: those of the model, each once, with the retractions and aliases of the reader.

    A sentence with a claim that has a slot needs none without one.
    """
    event = turn.event
    own = [one.claim for one in verdicts if one.claim is not None and one.claim.span.event_id == event.id]
    placed = {one.span for one in own if get_slot(one) is not None}
    own = [one for one in own if get_slot(one) is not None or one.rival is not None or one.span not in placed]
    by_reader = passage.readings.get(event.id, ())
    beside = [one for one in by_reader if one.move is UpdateKind.RETRACT or one.attribute == _ALIAS]
    return keep_requested_type(event, list({claim_hash(one): one for one in (*beside, *own)}.values()))


# Decide whether a turn needs a language model. Pure, and much cheaper than a call.


_EMPTY_ACTS: Final = frozenset({Act.PASTED, Act.SARCASM})
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_SELF: Final = re.compile(r"\b(?:i|i'm|i've|i'd|me|my|mine|we|we're|our|us)\b", re.IGNORECASE)
_WORDS_LEAST: Final = 2
_SHORT_MESSAGE: Final = 160
"""A longer message always goes to the model: among its sentences one often states something."""
_SHORT_SENTENCE: Final = 40
"""A longer sentence says more than that its speaker is tired or back."""


class Skip(StrEnum):
    """Why a turn is skipped."""

    SPEAKER = "speaker"
    """The assistant's text states no facts."""
    DOCUMENT = "document"
    """Documents and very long texts are read by the reader alone."""
    ORDERS = "orders"
    """The text looks like prompt injection."""
    EMPTY = "empty"
    """The text cannot hold a fact."""


def skip(turn: Turn, readings: Sequence[Claim]) -> Skip | None:
    """Return why a turn needs no model, given the reader's claims in `readings`; None if it needs one."""
    event = turn.event
    if event.role is Role.ASSISTANT:
        return Skip.SPEAKER
    if event.role is Role.DOCUMENT or len(event.text) > limits.LLM_TEXT_CHARACTERS:
        return Skip.DOCUMENT
    if is_instruction_like(event.text) or {QUARANTINED, DENIED} & set(event.flags):
        return Skip.ORDERS
    if readings or len(event.text) > _SHORT_MESSAGE:
        return None
    sentences = (event.text[start:stop] for start, stop in own_sentences(event.text))
    return None if any(_may_tell(straighten(sentence)) for sentence in sentences) else Skip.EMPTY


@cache
def _expressions() -> dict[str, re.Pattern[str]]:
    table = tomllib.loads((files("credenda.write") / "data" / "gate.toml").read_text("utf-8"))
    return {name: re.compile(text, re.IGNORECASE) for name, text in table.items()}


def _may_tell(sentence: str) -> bool:
    """Return whether a sentence may hold a fact; in doubt True."""
    if len(_WORD.findall(sentence)) < _WORDS_LEAST or act_of(sentence) in _EMPTY_ACTS:
        return False
    given = _expressions()
    short = len(sentence) <= _SHORT_SENTENCE
    if given["reaction"].match(sentence) or (short and given["passing"].match(sentence)):
        return False
    if sentence.endswith("?") or given["request"].match(sentence):
        return given["telling"].search(sentence) is not None
    return not (given["remark"].match(sentence) and _SELF.search(sentence) is None)
