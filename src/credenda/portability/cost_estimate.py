"""Estimate the cost of extracting a file with a model, without calling the model or storing anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from credenda import limits
from credenda.errors import CredendaError
from credenda.model.claim import Turn
from credenda.model.event import Event, NewEvent
from credenda.portability.importers.format import Boundary, Piece
from credenda.portability.importing import read_file
from credenda.runtime import Parts
from credenda.write.intake.validate import Submission, accept


def read_file_turns(parts: Parts, path: Path) -> Iterator[Turn]:
    """Yield the messages of a file as an import would; skip malformed items."""
    before: list[Event] = []
    for piece in read_file(path, None, parts.user_id):
        if isinstance(piece, Boundary):
            before = []
        elif isinstance(piece, Piece):
            try:
                yield from _make_turns(_accept(parts, piece.submission), before)
            except CredendaError:
                continue  # an import reports it and continues


def make_text_turns(parts: Parts, text: str) -> Iterator[Turn]:
    """Yield a text as one message, as `remember` would store it."""
    yield from _make_turns(_accept(parts, Submission(content=text, user_id=parts.user_id)), [])


def _accept(parts: Parts, submission: Submission) -> Sequence[NewEvent]:
    settings = parts.settings
    return accept(submission, policy=settings.secrets_policy, zone=settings.zone, now_us=parts.clock.now_us()).events


def _make_turns(events: Sequence[NewEvent], before: list[Event]) -> Iterator[Turn]:
    for new in events:
        content = {name: getattr(new, name) for name in NewEvent.__dataclass_fields__}
        event = Event(**content, id="e0", recorded_us=new.occurred_us)
        yield Turn(event=event, before=tuple(before[-limits.LLM_CONTEXT_TURNS :]))
        before.append(event)
        del before[: -limits.LLM_CONTEXT_TURNS]
