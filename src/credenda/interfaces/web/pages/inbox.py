"""The inbox: questions that only a person can answer, and statements that nobody vouches for yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from credenda.errors import Invalid, NotFound
from credenda.interfaces.web.page import ChangeMark, Done, Page
from credenda.interfaces.web.view import View
from credenda.model.browse import Browse
from credenda.model.change import ChangeKind
from credenda.model.contest import ContestCase
from credenda.model.memory import Memory, Status
from credenda.model.query import Explanation, SlotVersion
from credenda.services.expectation import name_version

_SHOWN = 20
_DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One value of a contest, with the newest memory that states it and the words that it rests on."""

    value: str
    memory: Memory | None
    explanation: Explanation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A contest, with its sides and the values that the slot has had."""

    contest: ContestCase
    version: str
    sides: Sequence[Side]
    history: Sequence[SlotVersion]


def load(view: View) -> Mapping[str, object]:
    """Load the open contests with their history, those answered last, and the candidates."""
    contests: Sequence[ContestCase] = view.call("contests")
    opened = [one for one in contests if one.state == "open"]
    held: Browse = view.call("browse", status=Status.CANDIDATE.value, limit=50)
    answered = sorted((one for one in contests if one.state != "open"), key=lambda one: -(one.resolved_us or 0))
    return {
        "questions": [_load_question(view, one) for one in opened[:_SHOWN]],
        "more": max(0, len(opened) - _SHOWN),
        "answered": answered[:_SHOWN],
        "candidates": held.items,
        "held_back": held.counted,
        "said": held.said,
    }


def _load_question(view: View, contest: ContestCase) -> Question:
    memories = [one for one in (_find_explanation(view, id) for id in contest.memory_ids) if one is not None]
    newest = sorted(memories, key=lambda one: -one.memory.recorded_us)
    sides = [
        Side(
            value=value,
            memory=explanation.memory if explanation else None,
            explanation=explanation,
        )
        for value in contest.values
        for explanation in [next((one for one in newest if _is_about(one.memory, value)), None)]
    ]
    history = view.call("history", id=contest.memory_ids[0]) if contest.memory_ids else ()
    return Question(contest=contest, version=name_version(contest), sides=sides, history=history)


def _is_about(memory: Memory, value: str) -> bool:
    return (memory.value or memory.text).casefold() == value.casefold()


def _find_explanation(view: View, memory_id: str) -> Explanation | None:
    try:
        return view.call("why", id=memory_id)
    except NotFound:
        return None


def answer(view: View) -> Done:
    """Answer a contest: keep one value or both, give each a scope, or in the person's own words."""
    contest: ContestCase = view.call("contest", id=view.get("id"))
    how, words = view.get("keep"), view.get("words").strip()
    scopes = {view.get(f"scope-{place}").strip() or _DEFAULT: value for place, value in enumerate(contest.values)}
    if how == "scopes":
        if len(scopes) < len(contest.values):
            raise Invalid("two values have the same scope", fix="say for each when it holds; one may stay empty")
        resolution = view.change("resolve", id=contest.id, scopes=scopes)
    else:
        keep = words if how == "words" else how.removeprefix("value:")
        if not keep:
            raise Invalid("no answer was chosen", fix="choose one of the values, both, or write when each holds")
        resolution = view.change("resolve", id=contest.id, keep=keep)
    return Done(to="/inbox", changes=_find_resolution(view, (*resolution.memory_ids, *contest.memory_ids)))


def _find_resolution(view: View, memory_ids: Sequence[str]) -> Sequence[ChangeMark]:
    """Return the logged answer: it has the same cause as the changes of the memories that it is about."""
    for memory_id in memory_ids:
        causes = dict.fromkeys(one.cause for one in reversed(view.call("why", id=memory_id).changes) if one.cause)
        for cause in causes:
            for change in reversed(view.call("changes", cause=cause)):
                if change.kind is ChangeKind.RESOLVE:
                    return [ChangeMark(memory_id, change.id)]
    return ()


def _decide(view: View, status: Status) -> Done:
    moved = view.change("set-status", id=view.get("id"), status=status.value)
    return Done(to="/inbox", changes=view.mark_last_change(moved.id))


def accept(view: View) -> Done:
    """Believe a candidate."""
    return _decide(view, Status.ACTIVE)


def reject(view: View) -> Done:
    """Do not believe a candidate."""
    return _decide(view, Status.INVALIDATED)


PAGE = Page(
    name="inbox",
    path="/inbox",
    title="Inbox",
    operation="contests",
    load=load,
    actions={"answer": answer, "accept": accept, "reject": reject},
)
