"""The parts of a page: its loading, its actions, and the place where a person goes afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from credenda.interfaces.web.view import View

Group = Literal["memory", "upkeep", "server", ""]
"""The part of the menu that names a page; "" for a page that another one leads to."""


@dataclass(frozen=True, slots=True)
class ChangeMark:
    """A logged change of a memory, as the address of a page names it."""

    memory: str
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The end of an action: the path to go to, and what to say there.

    `changes` are shown with a button that undoes them. `note` is a message of `notes.py`, for what is no logged change.
    """

    to: str
    changes: Sequence[ChangeMark] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The end of an action whose result no address can hold: the page is shown at once, with more data."""

    data: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """The end of an action that made a file in `View.folder`, to be saved under a name of ours."""

    path: Path
    name: str


Load = Callable[["View"], Mapping[str, object]]
"""Loads what a page shows, by name; it may raise any error of an operation."""
Draw = Callable[["View", Mapping[str, Any]], Mapping[str, object]]
"""Makes drawings of what a page has loaded, by name."""
Action = Callable[["View"], Done | Shown | Download]
"""Changes something, by operations, and says where to go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: its template is `NAME.html`, and its twin in JSON is at its path with `.json`."""

    name: str
    path: str
    title: str
    operation: str
    """The operation whose scope a person needs to see the page."""
    load: Load
    actions: Mapping[str, Action] = field(default_factory=dict[str, Action])
    """What can be done, by the word that follows the path."""
    with_files: frozenset[str] = frozenset()
    """The actions that take a file of the person or make one; they may take long."""
    slow: frozenset[str] = frozenset()
    """Other actions that may take long."""
    draw: Draw | None = None
    """Adds what only the HTML page has, such as drawings, to what `load` returned."""
    group: Group = "memory"

    @property
    def twin_path(self) -> str:
        """Where the page is as JSON."""
        return "/overview.json" if self.path == "/" else f"{self.path}.json"
