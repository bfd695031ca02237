"""Paths below `/memories`, as the tool names the pages of the directory. Pure."""

from __future__ import annotations

from typing import Final

from credenda.errors import Invalid
from credenda.services.directory_paths import split_page_path

ROOT: Final = "/memories"
_UP: Final = ".."


class Refused(Exception):  # noqa: N818 - named for what happened, as the errors of the contract are
    """A command was refused; the message goes to the model."""


def split_path(path: object) -> tuple[str, ...]:
    """Return the names of a path, () for the root; raise `Refused` for an invalid path.

    >>> split_path("/memories/trips/notes.md")
    ('trips', 'notes.md')
    """
    if not isinstance(path, str) or not (path == ROOT or path.startswith(f"{ROOT}/")):
        raise Refused(f"Path must start with {ROOT}, got: {path}")
    try:
        return split_page_path(path[len(ROOT) :])
    except Invalid as error:
        if _UP in path.split("/"):
            raise Refused(f"Path {path} would escape {ROOT} directory") from error
        raise Refused(f"Path {path!r} cannot be used: {error.why}") from error
