"""The search playground: what a question finds, every term of each score, and profiles side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from credenda.interfaces.web.drawings import draw_terms
from credenda.interfaces.web.page import Page
from credenda.interfaces.web.view import View
from credenda.model.query import Mode, Profile, SearchResult

_PROFILES: Final[Sequence[str]] = get_args(Profile)
_MODES: Final[Sequence[str]] = get_args(Mode)
_LIMIT: Final = 8
_MOST: Final = 30
_LEAST: Final = 0.0005
"""A term below it is not drawn; the JSON of the page has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The hits of one profile."""

    profile: str
    result: SearchResult


def load(view: View) -> Mapping[str, object]:
    """Search with each chosen profile; no recall is recorded."""
    words = view.get("q").strip()
    profiles = [one for one in view.get_list("profile") if one in _PROFILES] or ["default"]
    asked = {
        "limit": view.get_int("limit", _LIMIT, low=1, high=_MOST),
        "mode": view.get("mode") or None,
        "topic": view.get("topic").strip() or None,
        "as_of": view.get("as_of").strip() or None,
        "known_at": view.get("known_at").strip() or None,
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
        "modes": _MODES,
        "asked": {name: view.get(name) for name in ("mode", "topic", "as_of", "known_at", "include")},
        "limit": asked["limit"],
        "columns": columns,
    }


def draw(view: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Draw the terms of each hit's score."""
    return {
        "bars": {
            (column.profile, hit.id): draw_terms(_name_terms(view, hit.terms), hit.score, words=view.t)
            for column in data["columns"]
            for hit in column.result.hits
            if hit.terms
        }
    }


def _name_terms(view: View, terms: Mapping[str, float]) -> Mapping[str, float]:
    """Name the terms for a person, without those that add nothing."""
    return {view.word("term", name): value for name, value in terms.items() if abs(value) >= _LEAST}


PAGE = Page(name="search", path="/search", title="Search playground", operation="search", load=load, draw=draw)
