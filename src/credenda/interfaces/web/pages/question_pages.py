"""The context of an agent: the exact text for a prompt, the reason of each line, and the lines left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, get_args
from urllib.parse import urlencode

from credenda.clock import seconds
from credenda.errors import Conflict, Invalid, NotFound
from credenda.interfaces.web.drawings import Drawing, draw_terms
from credenda.interfaces.web.view import ChangeMark, Done, Page, View, list_latest_changes
from credenda.model.browse import Browse
from credenda.model.change import ChangeKind, ContestCase
from credenda.model.evaluation import ContextPreview
from credenda.model.memory import Layer, Memory, Stance, Status, is_dreamed
from credenda.model.query import Explanation, Mode, Profile, SearchResult, SlotVersion
from credenda.services.browse import name_version


@dataclass(frozen=True, slots=True)
class Client:
    """A way in which programs ask: its words, its budget, and whether it asks in every turn."""

    label: str
    token_budget: int | None = None
    automatic: bool = False


CLIENTS: Final[Mapping[str, Client]] = {
    "": Client("A tool call (get_context)"),
    "automatic": Client("A hook that adds memory to each prompt", automatic=True),
    "small": Client("A small budget, 300 tokens", 300),
    "large": Client("A large budget, 4,000 tokens", 4_000),
}
_AGENT_MODES: Final = ("full_context", "facts_plus_rules", "facts_only", "codebase")
_TOKENS: Final = 100_000


def load_agent(view: View) -> Mapping[str, object]:
    """Load what an agent would get; no recall is recorded."""
    prompt = view.get("prompt")
    named = view.get("client") if view.get("client") in CLIENTS else ""
    client, budget = CLIENTS[named], CLIENTS[named].token_budget
    if view.get("budget").strip():
        budget = view.get_int("budget", 0, low=1, high=_TOKENS)
    asked = bool(prompt.strip()) or view.get("show") == "yes"
    preview = None
    if asked:
        preview = view.call(
            "preview-context",
            query=prompt.strip() or None,
            token_budget=budget,
            automatic=client.automatic or None,
            mode=view.get("mode") or None,
            topic=view.get("topic").strip() or None,
            known_at=view.get_moment("day"),
        )
    return {
        "prompt": prompt,
        "client": named,
        "clients": {name: one.label for name, one in CLIENTS.items()},
        "budget": view.get("budget").strip(),
        "mode": view.get("mode"),
        "modes": _AGENT_MODES,
        "topic": view.get("topic"),
        "day_asked": view.get("day").strip(),
        "preview": preview,
    }


def order(_: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Order the lines by their scores; the text groups them, the newest first."""
    preview: ContextPreview | None = data["preview"]
    found = ((), ()) if preview is None else (preview.lines, preview.left_out)
    kept, left = (sorted(lines, key=lambda one: -2.0 if one.score is None else -one.score) for lines in found)
    return {"lines": kept, "left_out": left}


AGENT_PAGE = Page(
    name="agent", path="/agent", title="What the agent gets", operation="preview-context", load=load_agent, draw=order
)


# The search playground: what a question finds, every term of each score, and profiles side by side.


_PROFILES: Final[Sequence[str]] = get_args(Profile)
_SEARCH_MODES: Final[Sequence[str]] = get_args(Mode)
_LIMIT: Final = 8
_MOST: Final = 30
_LEAST: Final = 0.005
"""A term below it is not drawn; the JSON of the page has it."""
_SUMMANDS: Final = frozenset(
    {"relevance", "importance", "retention", "recency", "question", "answers", "feedback", "strength"}
)
"""Terms that a score is the sum of; the others make the relevance."""
_NO_SUMMANDS: Final = frozenset({"coverage", "cosine", "key", "newer", "echo"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The hits of one profile."""

    profile: str
    result: SearchResult


def load_search(view: View) -> Mapping[str, object]:
    """Search with each chosen profile; no recall is recorded."""
    words = view.get("q").strip()
    profiles = [one for one in view.get_list("profile") if one in _PROFILES] or ["default"]
    asked = {
        "limit": view.get_int("limit", _LIMIT, low=1, high=_MOST),
        "mode": view.get("mode") or None,
        "topic": view.get("topic").strip() or None,
        "as_of": view.get_moment("as_of"),
        "known_at": view.get_moment("known_at"),
        "include": ["superseded", "low_confidence", "archived"] if view.get("include") == "yes" else None,
        "explain": True,
        "record_access": False,
    }
    columns = [
        Column(profile=one, result=view.call("search", query=words, profile=one, **asked))
        for one in (profiles if words else ())
    ]
    return {
        "q": words,
        "profiles": _PROFILES,
        "chosen": profiles,
        "modes": _SEARCH_MODES,
        "asked": {name: view.get(name) for name in ("mode", "topic", "as_of", "known_at", "include")},
        "limit": asked["limit"],
        "columns": columns,
    }


def draw(view: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Draw the terms of each hit's score."""
    return {
        "bars": {
            (column.profile, hit.id): _draw_hit(view, hit.terms)
            for column in data["columns"]
            for hit in column.result.hits
            if hit.terms
        }
    }


def _draw_hit(view: View, terms: Mapping[str, float]) -> Sequence[Drawing]:
    """Draw what a score is the sum of, and then what its relevance is the sum of."""
    total = terms.get("key", 0.0)
    summands = {name: value for name, value in terms.items() if name in _SUMMANDS}
    left = total - sum(summands.values())  # that of a value that is replaced, over or only supposed is lowered
    summands["lowered" if left < 0 else "lifted"] = left
    parts = {name: value for name, value in terms.items() if name not in {*_SUMMANDS, *_NO_SUMMANDS}}

    def draw_sum(found: Mapping[str, float], of: float, name: str) -> Drawing:
        shown = {view.word("term", one): value for one, value in found.items() if abs(value) >= _LEAST}
        return draw_terms(shown, of, words=view.t, name=name)

    fits = [draw_sum(parts, sum(parts.values()), view.word("term", "relevance"))] if parts else []
    return [draw_sum(summands, total, view.word("term", "key")), *fits]


SEARCH_PAGE = Page(
    name="search", path="/search", title="Search playground", operation="search", load=load_search, draw=draw
)


# Sessions: the messages of each, the memories that came from them, and undoing all of that at once.


def load_list(view: View) -> Mapping[str, object]:
    """Load a page of sessions."""
    found = view.call("sessions", cursor=view.get("cursor") or None)
    return {"sessions": found.items, "next_cursor": found.next_cursor}


def load_sessions(view: View) -> Mapping[str, object]:
    """Load a session, and what revoking it would change."""
    name = view.get("session")
    details = view.call("session", session=name)
    return {
        "session": name,
        "details": details,
        "learned_from": {
            event.id: [one.memory for one in details.learned if event.id in one.event_ids] for event in details.events
        },
        "revocation": _plan_revocation(view, name) if view.get("revoke") == "ask" else None,
        "is_asked": view.get("revoke") == "ask",
    }


def _plan_revocation(view: View, name: str) -> object:
    """Return what undoing the session would change; None for a session that changed nothing."""
    try:
        return view.call("undo", session=name, dry_run=True)
    except (Invalid, Conflict):
        return None


def revoke(view: View) -> Done:
    """Undo everything that the session changed."""
    name = view.get("session")
    if not name:
        raise Invalid("messages without a session cannot be revoked together", fix="undo single changes")
    cascade = view.get("cascade") == "yes" or None
    report = view.call("undo", session=name, cascade=cascade)
    return Done(to=f"/session?{urlencode({'session': name})}", note="undone" if report.undone else "gone")


SESSIONS_PAGE = Page(name="sessions", path="/sessions", title="Sessions", operation="sessions", load=load_list)
SESSION = Page(
    name="session",
    path="/session",
    title="One session",
    operation="session",
    load=load_sessions,
    actions={"revoke": revoke},
    group="",
)


# The overview: what waits for a person, what was learned and changed lately, and below whether the memory works.


_SLOW_SECONDS = 60.0
"""A message that has waited so long is shown as a fault."""
_CONTESTS = 3
_LEARNED = 8
_CHANGES = 6


def load_overview(view: View) -> Mapping[str, object]:
    """Load counts, the oldest unread message, the probe, open contests, and the newest memories."""
    stats = view.call("stats")
    browsed: Browse = view.call("browse", status="active", limit=4 * _LEARNED)
    contests = [one for one in view.call("contests") if one.state == "open"]
    statuses = {one.value: stats.memories.get(one.value, 0) for one in Status}
    # The newest, by the time at which each was said. A card or a bridge repeats other memories, and nobody holds
    # a supposition.
    stated = [one for one in browsed.items if one.stance is not Stance.HYPOTHETICAL and not is_dreamed(one)]
    stated.sort(key=lambda one: browsed.said.get(one.id, one.created_at), reverse=True)
    return {
        "oldest_unread_seconds": stats.oldest_unread_seconds,
        "trouble": view.memories.find_trouble(),
        "is_slow": stats.oldest_unread_seconds > _SLOW_SECONDS,
        "waiting": stats.waiting,
        "probe": view.memories.describe_probe(),
        "stats": stats,
        "statuses": statuses,
        "layers": {one.value: browsed.facets["layer"].get(one.value, 0) for one in Layer},
        "types": browsed.facets["type"],
        "counted": browsed.counted,
        "never_used": browsed.never_used,
        "contests": contests[:_CONTESTS],
        "open_contests": len(contests),
        "disk_bytes": view.memories.measure_disk() if view.may("doctor") else None,
        "cost_usd": view.call("costs").cost_usd,
        "newest": stated[:_LEARNED],
        "said": browsed.said,
        "held_back": stats.memories.get(Status.CANDIDATE.value, 0),
        "latest": list_latest_changes(view, _CHANGES),
    }


def describe(_: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Say how long ago the probe ran, and how much all counts are."""
    probe = data["probe"]
    return {
        "probe_age_seconds": None if probe is None else max(0.0, seconds() - probe.at_seconds),
        "most": max(1, *data["statuses"].values(), *data["layers"].values()),
    }


OVERVIEW_PAGE = Page(name="overview", path="/", title="Overview", operation="stats", load=load_overview, draw=describe)


# The inbox: questions that only a person can answer, and statements that nobody vouches for yet.


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


def load_inbox(view: View) -> Mapping[str, object]:
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
        "waiting": view.call("stats").waiting,
    }


def _load_question(view: View, contest: ContestCase) -> Question:
    memories = [one for one in (_find_explanation(view, id) for id in contest.memory_ids) if one is not None]
    newest = sorted(memories, key=lambda one: -one.memory.recorded_us)
    sides: list[Side] = []
    for value in contest.values:
        stating = (one for one in newest if (one.memory.value or one.memory.text).casefold() == value.casefold())
        found = next(stating, None)
        sides.append(Side(value=value, memory=found.memory if found else None, explanation=found))
    history = view.call("history", id=contest.memory_ids[0]) if contest.memory_ids else ()
    return Question(contest=contest, version=name_version(contest), sides=sides, history=history)


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


def _decide(status: Status, view: View) -> Done:
    """Believe a candidate, or do not."""
    moved = view.change("set-status", id=view.get("id"), status=status.value)
    return Done(to="/inbox", changes=view.mark_last_change(moved.id))


INBOX_PAGE = Page(
    name="inbox",
    path="/inbox",
    title="Inbox",
    operation="contests",
    load=load_inbox,
    actions={
        "answer": answer,
        "accept": partial(_decide, Status.ACTIVE),
        "reject": partial(_decide, Status.INVALIDATED),
    },
)
