"""Facts from another memory: statements that were extracted already.

Each is stored as a statement about the user with the trust of a document (below the user's own) and marked to be kept:
the reader finds slot and value if it can, otherwise it is stored verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from credenda.clock import to_datetime
from credenda.portability.importers.blocks import name_file_session
from credenda.portability.importers.format import Piece, Source, make_stable_key
from credenda.portability.importers.turns import mend_surrogates
from credenda.write.intake.validate import Submission

__all__ = ["Statement", "make_statement_piece", "word_about_user"]

_SUBJECT: Final = re.compile(r"(?:the )?user (?=[a-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement; `key` identifies it permanently, and without `occurred_at` it has the time of its file.

    `expires_at` is the time at which the other memory says that it ended.
    """

    place: str
    text: str
    key: tuple[str, ...]
    role: str = "user"
    memory_type: str = "fact"
    occurred_at: datetime | None = None
    expires_at: datetime | None = None
    session: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])


def make_statement_piece(statement: Statement, source: Source) -> Piece:
    """Make a statement a submission. The same statement with another time is the same."""
    aged = None if source.modified_us is None else to_datetime(source.modified_us)
    submission = Submission(
        content=[{"role": statement.role, "content": mend_surrogates(statement.text)}],
        user_id=source.user_id,
        session=statement.session or name_file_session(source),
        source="ingest",
        occurred_at=statement.occurred_at or aged,
        expires_at=statement.expires_at,
        tags=statement.tags,
        metadata=statement.metadata,
        memory_type=statement.memory_type,
        idempotency_key=make_stable_key(*statement.key),
    )
    return Piece(place=statement.place, submission=submission, by_content=True)


def word_about_user(text: str) -> str:
    """Return a note about the user without the word "user": a note without a subject is read as the user's own.

    >>> word_about_user("The user lives in Lille."), word_about_user("Allergic to nuts")
    ('Lives in Lille.', 'Allergic to nuts')
    """
    left = _SUBJECT.sub("", text, count=1) if _SUBJECT.match(text) else text
    return left[:1].upper() + left[1:] if left != text else text
