"""What the tests of model answers say and read."""

from __future__ import annotations

from collections.abc import Mapping

from credenda.model.claim import Claim, Turn
from credenda.model.event import Event, Role
from credenda.model.memory import Memory
from credenda.testing import Answer, ScriptedModel
from credenda.write.facts.exact import find_exact_forms
from credenda.write.llm.prompt import Passage
from credenda.write.llm.reading import Understood, understand

NOW_US = 1_772_355_600_000_000


def turn_of(text: str, *, role: Role = Role.USER, speaker: str = "user", number: int = 1) -> Turn:
    event_id = f"e{number}-aaaaaa"
    return Turn(event=Event(text=text, role=role, speaker=speaker, occurred_us=NOW_US, id=event_id, recorded_us=NOW_US))


def read(turn: Turn, *answers: Answer, known: tuple[Memory, ...] = ()) -> tuple[Understood, ScriptedModel]:
    return read_all([turn], *answers, known=known)


def read_all(
    turns: list[Turn], *answers: Answer, known: tuple[Memory, ...] = (), found: tuple[Claim, ...] = ()
) -> tuple[Understood, ScriptedModel]:
    """Ask about turns in which the reader has `found` these claims, beside the exact forms."""
    model = ScriptedModel(answers)
    readings = {one.event.id: (*find_exact_forms(one).claims, *found) for one in turns}
    passage = Passage(turns=tuple(turns), known=known, readings=readings)
    return understand(passage, model.ask, "extract-6 scripted"), model


def claims_of(turn: Turn, *proposals: Mapping[str, object], known: tuple[Memory, ...] = ()) -> tuple[Claim, ...]:
    return read(turn, list(proposals), known=known)[0].claims[turn.event.id]


def claim(text: str, *, known: tuple[Memory, ...] = (), **fields: object) -> Claim:
    (found,) = claims_of(turn_of(text), {"quote": text, **fields}, known=known)
    return found


def outcome(text: str, **fields: object) -> tuple[list[Claim], list[tuple[str, str]]]:
    understood, _ = read(turn_of(text), [{"quote": text, **fields}])
    return list(understood.claims["e1-aaaaaa"]), list(understood.outcomes)
