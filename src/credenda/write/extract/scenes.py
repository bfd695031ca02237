"""Detect role-play that an earlier turn announced."""

from __future__ import annotations

from typing import Final

from credenda.model.claim import Turn
from credenda.write.extract.lexicon import expression, load_table, occurs, words_of
from credenda.write.extract.shapes import is_role

__all__ = ["goes_on", "in_scene"]

_SCENE_TURNS: Final = 2
"""Number of the speaker's turns after which an unfinished role-play ends."""
_OPENERS: Final = frozenset(
    {
        "you",
        "hypothetical",
        "thought",
        "imagine",
        "consider",
        "picture",
        "scenario",
        "role",
        "let",
        "let's",
        "lets",
        "suppose",
        "assume",
        "say",
        "pretend",
        "here",
        "be",
    }
)


def in_scene(turn: Turn) -> bool:
    """Return whether a role-play of the same speaker from an earlier turn continues."""
    event = turn.event
    own = [earlier for earlier in turn.before if (earlier.role, earlier.speaker) == (event.role, event.speaker)]
    for number, earlier in enumerate(reversed(own[-_SCENE_TURNS:])):
        if _opens(earlier.text):
            since = (event, *own[len(own) - 1 - number :])
            return not any(expression("acts", "scene_end").search(later.text) for later in since)
    return False


def goes_on(sentence: str, *, played: bool) -> bool:
    """Return whether a role-play continues after a sentence with straight quotes and expanded contractions."""
    if played:
        return expression("acts", "scene_end").search(sentence) is None
    if not _OPENERS.isdisjoint(words_of(sentence)):
        found = expression("imagined", "opening", "match").match(sentence)
        if found is not None:
            return found["role"] is None or is_role(found["role"])
    return _opens(sentence)


def _opens(text: str) -> bool:
    expected = occurs(load_table("acts")["scene_start_has"], text.lower())
    return expected and expression("acts", "scene_start").search(text) is not None
