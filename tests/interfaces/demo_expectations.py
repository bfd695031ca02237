"""Compare a run of the demo with the expectations of it: those in the wheel, which it shows, and those beside here."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

from credenda.clock import to_datetime
from credenda.interfaces.cli.demo_run import DemoRun, Script, ScriptTurn, has_words, is_from_turn
from credenda.model.change import ContestState
from credenda.model.memory import Memory, Relation, Status
from credenda.text.dates import Lean, find_dates
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_value

Entry = Mapping[str, Any]
_FLOOR: Final = 0.4
"""Lowest confidence of a memory that a search returns."""
_NOT_HELD: Final = 0.3
"""A memory at or below this confidence is stored but not believed."""
_MORE: Final = Path(__file__).parents[1] / "data" / "demo_expectations.toml"
_TOP: Final = 3
_UNLIKELY: Final = 0.5
"""A question that nothing answers must have a lower probability."""
_LEANS: Final[tuple[Lean | None, ...]] = (None, "past", "future")
_CURRENT: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
_PAST: Final = frozenset({Status.SUPERSEDED, Status.MERGED})


def find_mismatches(run: DemoRun, script: Script) -> tuple[int, list[str]]:
    """Check every expectation: return how many there are, and a line for each that is not met."""
    found = list(Check(run, script).problems())
    return len(found), [problem for problem in found if problem]


class Check:
    """All comparisons of one run; each returns "" or a description of the failure."""

    def __init__(self, run: DemoRun, script: Script) -> None:
        self._run = run
        self._script = script
        self._expected = {**script.expected, **tomllib.loads(_MORE.read_text("utf-8"))}

    def problems(self) -> Iterator[str]:
        """Return "" for each expectation that is met, and one line for each that is not."""
        kinds = {
            "current": self._current,
            "superseded": self._superseded,
            "restated": self._restated,
            "dated": self._dated,
            "contest": self._contest,
            "refused": self._refused,
            "search": self._search,
        }
        for name, compare in kinds.items():
            for entry in self._expected[name]:
                yield compare(entry)
        yield self._unanswered()
        yield self._gained()
        yield self._resolved(self._script.expected["resolve"])
        yield self._deleted(self._script.expected["delete"])

    def _from(self, turn: str, words: str) -> list[Memory]:
        """Return the memories that have a turn as evidence and contain some words."""
        return [
            why.memory for why in self._run.held if is_from_turn(why, self._run, turn) and has_words(why.memory, words)
        ]

    def _current(self, entry: Entry) -> str:
        name = f"current {entry['attribute']} = {entry['value']!r} ({entry['turn']})"
        found = [one for one in self._from(entry["turn"], entry["value"]) if one.status is Status.ACTIVE]
        if not found:
            return f"{name}: no active belief rests on this turn"
        one = found[0]
        if one.contested or one.confidence < _FLOOR or one.speaker != "user":
            return f"{name}: contested {one.contested}, confidence {one.confidence}, speaker {one.speaker}"
        if one.type.value != entry.get("type", one.type.value):
            return f"{name}: it is a {one.type.value}, not a {entry['type']}"
        scope = normalise_name(entry.get("scope", ""))
        shown = normalise_name(f"{one.scope or ''} {one.entity or ''} {one.text}")
        return "" if scope in shown else f"{name}: its scope is {one.scope!r}, not {entry['scope']!r}"

    def _superseded(self, entry: Entry) -> str:
        name = f"superseded {entry['attribute']} {entry['old']!r} → {entry['new']!r}"
        old = [one for one in self._from(entry["old_turn"], entry["old"]) if one.status in _PAST]
        new = {one.id for one in self._from(entry["new_turn"], entry["new"])}
        if not old:
            return f"{name}: the old value is not superseded"
        one = old[0]
        if one.relation is not Relation(entry["relation"]):
            return f"{name}: the relation is {one.relation}, not {entry['relation']}"
        if one.superseded_by not in new:
            return f"{name}: it was not replaced by the new value but by {one.superseded_by}"
        return "" if one.valid_until_us is not None else f"{name}: the old value has no end"

    def _restated(self, entry: Entry) -> str:
        name = f"restated {entry['attribute']} {entry['value']!r}"
        first = {one.id for one in self._from(entry["first_turn"], entry["value"])}
        again = {one.id for one in self._from(entry["again_turn"], entry["value"])}
        if not first or first != again:
            return f"{name}: {sorted(first)} from the first turn, {sorted(again)} from the second"
        return ""

    def _dated(self, entry: Entry) -> str:
        name = f"dated {entry['words']!r} ({entry['turn']})"
        first: date = entry["day"]
        after: date = entry.get("until", first) + timedelta(days=1)
        read = self._days_read(self._script.turn(entry["turn"]), entry["words"])
        if (first, after) not in read:
            return f"{name}: parsed as {sorted(map(str, read))}"
        wrong = [
            one.valid_from
            for one in self._dated_by_words(entry["turn"])
            if not first <= to_datetime(one.valid_from_us or 0).date() < after
        ]
        return f"{name}: a belief is valid from {wrong[0]}" if wrong else ""

    @staticmethod
    def _days_read(turn: ScriptTurn, words: str) -> set[tuple[date, date]]:
        """Parse the days that the words name on the speaker's calendar, as past and as future."""
        return {
            (to_datetime(span.from_us).date(), to_datetime(span.until_us).date())
            for lean in _LEANS
            for span in find_dates(turn.text, turn.wall_us, lean)
            if span.from_us is not None
            and span.until_us is not None
            and words.casefold() in turn.text[span.start : span.stop].casefold()
        }

    def _dated_by_words(self, turn: str) -> list[Memory]:
        """Return the beliefs of a turn whose validity begins at another time than the turn."""
        said_us = self._script.turn(turn).time_us
        found = [why.memory for why in self._run.held if is_from_turn(why, self._run, turn)]
        return [one for one in found if one.valid_from_us not in (None, said_us)]

    def _contest(self, entry: Entry) -> str:
        name = f"contest {entry['attribute']}"
        opened = [case for case in self._run.contests if case.state is ContestState.OPEN]
        for case in opened:
            known = " ".join(map(normalise_value, case.values))
            if all(normalise_value(value).split()[0] in known for value in entry["values"]):
                return "" if case.question else f"{name}: it has no question"
        return f"{name}: open contests are {[case.values for case in opened]}"

    def _refused(self, entry: Entry) -> str:
        name = f"refused ({entry['why']}) {entry.get('value', '')!r} ({entry['turn']})"
        bound = -1.0 if entry["why"] == "retracted" else _NOT_HELD
        believed = [one for one in self._of_user(entry) if one.confidence > bound]
        if believed:
            return f"{name}: believed as {believed[0].attribute} = {believed[0].value!r} at {believed[0].confidence}"
        if entry["why"] == "secret" and self._on_disk(entry["value"]):
            return f"{name}: the words are stored"
        return ""

    def _of_user(self, entry: Entry) -> list[Memory]:
        """Return current beliefs about the user from a refused turn, limited to a value if the entry names one."""
        found = self._from(entry["turn"], entry.get("value", ""))
        attribute = normalise_attribute(entry.get("attribute", ""))
        return [
            one
            for one in found
            if one.status in _CURRENT
            and normalise_name(one.entity or "user") == "user"
            and (not attribute or normalise_attribute(one.attribute or "") == attribute)
        ]

    def _on_disk(self, words: str) -> bool:
        database = Path(self._run.database)
        return any(words.encode() in path.read_bytes() for path in database.parent.glob(f"{database.name}*"))

    def _search(self, entry: Entry) -> str:
        name = f"search {entry['question']!r}"
        asked = next(one for one in self._run.searches if one.question == entry["question"])
        wanted = {self._run.events[turn] for turn in entry["turns"]}
        for hit in asked.result.hits[:_TOP]:
            sources = {hit.id, *(event.id for event in hit.evidence)}
            if wanted & sources and entry["words"].casefold() in hit.quote.casefold():
                return f"{name}: the search abstained" if asked.result.abstained else ""
        return f"{name}: the first hits are {[hit.text for hit in asked.result.hits[:_TOP]]}"

    def _unanswered(self) -> str:
        asked = self._run.unanswered
        probability = asked.result.probability
        return "" if probability < _UNLIKELY else f"unanswered {asked.question!r}: the probability is {probability:.0%}"

    def _gained(self) -> str:
        gain = self._run.gain
        if gain is None or len(gain.by_meaning) >= len(gain.by_words):
            return ""
        return f"reworded: {gain.model_id} finds {len(gain.by_meaning)} answers, lexical search {len(gain.by_words)}"

    def _resolved(self, entry: Entry) -> str:
        name = f"resolve {entry['attribute']}"
        answered = self._run.answered
        if answered is None or answered.resolution.contest.state is not ContestState.RESOLVED:
            return f"{name}: nothing was resolved"
        for scope, value in entry["scopes"].items():
            wanted = "" if scope == "default" else scope
            if not any(has_words(one, value) and (one.scope or "") == wanted for one in answered.believed):
                return f"{name}: {value!r} is not believed for {scope!r}"
        return "" if not any(one.contested for one in answered.believed) else f"{name}: it is still contested"

    def _deleted(self, entry: Entry) -> str:
        name = f"delete {entry['attribute']} {entry['value']!r}"
        deleted = self._run.deleted
        if deleted is None:
            return f"{name}: there was nothing to delete"
        if not deleted.receipt.refused:
            return f"{name}: the repeated statement was not refused"
        back = deleted.left or [hit for hit in deleted.search.hits if entry["value"] in hit.text]
        if back or self._on_disk(entry["value"]):
            return f"{name}: it is still stored"
        return ""
