"""Challenge a memory that was recalled and that the next words of the user deny."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from credenda.agents.denial import find_denied
from credenda.errors import CredendaError
from credenda.model.memory import Memory

if TYPE_CHECKING:
    from credenda.client import Credenda

_REASON: Final = "the user denied it after it was recalled"


def challenge_denied(memory: Credenda, text: str, shown: Sequence[str]) -> list[str]:
    """Challenge a memory that was shown with the words before and that these words deny; return its id.

    Nothing is ended by it: the memory is marked as in doubt, and counts as of no use to that prompt.
    """
    held: list[Memory] = []
    for name in shown:
        with suppress(CredendaError):  # an event, or a memory that is gone
            held.append(memory.get(name))
    found: list[str] = []
    for one in find_denied(text, held):
        with suppress(CredendaError):
            memory.manage.set_status(one.id, "challenged", _REASON)
            memory.feedback(one.id, useful=False)
            found.append(one.id)
    return found
