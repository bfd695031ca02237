"""Conversations with an assistant, common to all transcripts: alternating messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from credenda import limits
from credenda.clock import to_datetime
from credenda.portability.importers.blocks import cut
from credenda.portability.importers.format import Piece, Problem, Source, make_stable_key
from credenda.portability.importers.json_checks import MalformedError, read_moment, read_moment_or_none
from credenda.text.normalize import normalise_name
from credenda.text.spoken import cut_recalled
from credenda.write.intake.validate import Submission

__all__ = ["Talk", "Turn", "mend_surrogates", "name_speaker"]

_TITLE_CHARACTERS: Final = 200
_NAME_CHARACTERS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of user or assistant; `key` identifies it permanently, `place` is its position in the file.

    `moment` is the time as written in the file.
    """

    place: str
    role: str
    text: str
    key: tuple[str, ...]
    moment: object = None
    id: str = ""
    name: str = ""


@dataclass(slots=True, kw_only=True)
class Talk:
    """One conversation while it is parsed.

    `latest` is the latest time so far, which a message without a time gets; before any, it gets the file's time,
    `aged_us`.
    """

    agent: str
    session: str
    user_id: str
    latest: datetime | None = None
    aged_us: int | None = None
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])

    @classmethod
    def titled(cls, agent: str, source: Source, *, session: str, title: str, begun: object) -> Talk:
        """Make a conversation of an export, which has a title and a time of its own."""
        named = mend_surrogates(title)[:_TITLE_CHARACTERS]
        return cls(
            agent=agent,
            session=session,
            user_id=source.user_id,
            latest=read_moment_or_none(begun),
            aged_us=source.modified_us,
            metadata={"title": named} if named else {},
        )

    def pieces(self, turn: Turn) -> Iterator[Piece | Problem]:
        """Yield a message without recalled memories; one that is larger than an event is split, without loss."""
        try:
            self.latest = read_moment(turn.moment) or self.latest
        except MalformedError as error:
            yield Problem(place=turn.place, what=f"{error}; the time of the previous message was used")
        text = cut_recalled(mend_surrogates(turn.text))
        if turn.text.strip() and not text.strip():
            return
        parts = [text] if len(text.encode()) <= limits.EVENT_TEXT_BYTES else list(cut(text))
        aged = None if self.aged_us is None else to_datetime(self.aged_us)
        for number, part in enumerate(parts):
            more = (str(number),) if number else ()
            named = {"name": turn.name} if turn.name else {}
            submission = Submission(
                content=[{"role": turn.role, "content": part, "id": turn.id, **named}],
                user_id=self.user_id,
                session=self.session,
                agent=self.agent or None,
                occurred_at=self.latest or aged,
                metadata=self.metadata,
                idempotency_key=make_stable_key(self.agent or "messages", *turn.key, *more),
            )
            yield Piece(place=turn.place, submission=submission, by_content=self.latest is None)


def name_speaker(name: str, user_id: str) -> tuple[str, str]:
    """Return role and name of a person in a chat; only one with the name of the memory's user is the user.

    >>> name_speaker("Ana", "ana"), name_speaker(" Ben", "ana")
    (('user', ''), ('person', 'Ben'))
    """
    shown = mend_surrogates(name).strip().lstrip("~\u200e\u202a").strip()
    mine = normalise_name(shown) in {"user", "you", normalise_name(user_id)}
    return ("user", "") if mine else ("person", shown[:_NAME_CHARACTERS])


def mend_surrogates(text: str) -> str:
    r"""Join separate surrogate pairs, and replace lone surrogates.

    >>> mend_surrogates("\ud83d\ude00"), mend_surrogates("cut \ud83d")
    ('😀', 'cut �')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
