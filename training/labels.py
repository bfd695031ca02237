"""The closed lists that a reader is trained on."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

__all__ = ["ATTRIBUTES", "CHANGES", "LINKED", "MEANINGS", "NEAR", "ROLES", "STATUSES", "SUBJECTS", "TOPICS"]

_TABLE: Final = tomllib.loads(Path(__file__).with_name("attributes.toml").read_text("utf-8"))
MEANINGS: Final[dict[str, str]] = _TABLE["meaning"]
NEAR: Final[list[tuple[str, str]]] = [(one, other) for one, other in _TABLE["near"]]
ATTRIBUTES: Final = tuple(MEANINGS)
STATUSES: Final = ("now", "past", "ended", "planned", "considered", "unreal", "denied", "hearsay")
CHANGES: Final = ("", "changed", "corrected")
SUBJECTS: Final = ("me", "you", "other")
ROLES: Final = ("value", "subject", "key", "old", "when", "scope", "quote")
"""The kinds of spans that the taggers find, in the order of their outputs."""
LINKED: Final = ("subject", "key", "old", "when", "scope")
"""The roles whose spans belong to a value."""
TOPICS: Final = (
    *("food", "drink", "music", "film", "show", "book", "game", "sport", "art", "hobby", "interest"),
    *("animal", "place", "clothes", "tech", "work", "other"),
)
"""What kind of thing the value of a taste is."""
