"""Extract one turn with a model: ask, ask once more with the problems, and keep the checked claims. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from credenda import limits
from credenda.model.claim import Claim, Turn
from credenda.providers.llm.protocol import LanguageModel, ModelFailure, Question, Reply, Trouble
from credenda.write.llm.answer import Answer, read_answer
from credenda.write.llm.guards import Dropped, Fault, check
from credenda.write.llm.merge import merged
from credenda.write.llm.prompt import PROMPT, known_id, question_about

__all__ = ["Understood", "reader_name", "reread", "understand"]

Ask = Callable[[Question], Reply]
_REPAIRS: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """The claims of a turn, or why there is no usable answer; and the rejected proposals with reasons."""

    claims: tuple[Claim, ...] = ()
    failure: ModelFailure | None = None
    dropped: tuple[str, ...] = ()
    reader: str = ""
    """The prompt version and the model."""
    answer: str = field(default="", repr=False)
    """The answer behind the claims, so that they can be extracted again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    text: str
    answer: Answer
    claims: tuple[Claim, ...]
    faults: tuple[str, ...]
    dropped: tuple[str, ...]


def reader_name(model: LanguageModel) -> str:
    """Return the extractor version of a claim: prompt version and model."""
    return f"{PROMPT} {model.model_id}"


def understand(turn: Turn, readings: tuple[Claim, ...], ask: Ask, reader: str) -> Understood:
    """Extract a turn with a model; `readings` are the rules' claims.

    `ask` is called once, and once more if the model can correct its answer. It raises `ModelFailure`; if the second
    call fails, the valid part of the first answer is used.
    """
    question = question_about(turn, readings)
    best: _Checked | None = None
    for attempt in range(_REPAIRS + 1):
        try:
            reply = ask(question)
        except ModelFailure as failure:
            return Understood(failure=failure) if best is None else _kept(best, readings, reader)
        checked = _checked(reply.text, turn, readings)
        if checked.answer.readable:
            best = checked
        if not checked.faults:
            break
        if attempt < _REPAIRS:
            question = replace(question, earlier=((reply.text[: limits.LLM_ANSWER_CHARACTERS], _complaint(checked)),))
    if best is None:
        return Understood(failure=ModelFailure(Trouble.UNREADABLE, "its answers were not the JSON that was asked for"))
    return _kept(best, readings, reader)


def _kept(checked: _Checked, readings: tuple[Claim, ...], reader: str) -> Understood:
    found = [replace(claim, reader=reader) for claim in checked.claims]
    claims = merged(readings, checked.answer.rejections, found)
    return Understood(
        claims=tuple(claims), dropped=checked.dropped + checked.faults, reader=reader, answer=checked.text
    )


def reread(answer: str, turn: Turn, readings: tuple[Claim, ...], reader: str) -> tuple[Claim, ...]:
    """Extract the claims from an answer again, after the known memories have changed. Pure."""
    return _kept(_checked(answer, turn, readings), readings, reader).claims


def _checked(text: str, turn: Turn, readings: tuple[Claim, ...]) -> _Checked:
    answer = read_answer(text)
    known = {known_id(at): memory for at, memory in enumerate(turn.known)}
    claims: list[Claim] = []
    faults = list(answer.problems)
    dropped: list[str] = []
    for at, proposal in enumerate(answer.proposals, 1):
        match check(proposal, turn, readings, known):
            case Fault(text=wrong):
                faults.append(f"claim {at}: {wrong}")
            case Dropped(why=why):
                dropped.append(why)
            case Claim() as claim:
                claims.append(claim)
    return _Checked(text=text, answer=answer, claims=tuple(claims), faults=tuple(faults), dropped=tuple(dropped))


def _complaint(checked: _Checked) -> str:
    listed = "\n".join(f"- {fault}" for fault in checked.faults)
    return (
        f"This answer cannot be used as it is:\n{listed}\nGive the whole answer again, with that put right or left out."
    )
