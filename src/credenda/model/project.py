"""The project in which something was said: what holds there alone, and what holds everywhere. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from credenda.model.memory import MemoryType, TypeClass, get_type_class
from credenda.text.normalize import normalise_name

PROJECT: Final = "project"
"""The key of a project's name in the metadata of events and memories."""
_USER: Final = "user"
_HERE: Final = re.compile(
    r"\b(?:here|(?:this|the|our) (?:repo|repository|project|code ?base|package|service|app|branch|monorepo))\b",
    re.IGNORECASE,
)
"""Words that bind a statement about the user to the project in which it was made."""


def get_project(metadata: Mapping[str, object]) -> str | None:
    """Return the project in which something was said; None outside of projects."""
    found = metadata.get(PROJECT)
    return found if isinstance(found, str) and found else None


def is_bound_to_project(entity: str | None, kind: MemoryType, text: str) -> bool:
    """Return whether a statement holds in its project alone.

    Facts and preferences of the user's own hold everywhere, unless they are about "this repository" or "here".

    >>> is_bound_to_project("user", MemoryType.PREFERENCE, "I prefer tabs.")
    False
    >>> is_bound_to_project("user", MemoryType.DECISION, "We decided to use Postgres.")
    True
    """
    own = normalise_name(entity or "") == _USER and get_type_class(kind) is TypeClass.BELIEF
    return not own or _HERE.search(text) is not None
