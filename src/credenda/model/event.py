"""Events, and the messages from which they are made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from credenda.clock import to_datetime
from credenda.model.memory import MemoryType, TypeClass, get_type_class
from credenda.text.normalize import normalise_name

QUARANTINED: Final = "quarantined"
"""Flag of an event with a suspected prompt injection: its claims wait until another source corroborates them."""
DENIED: Final = "denied"
"""Flag of an event with a certain prompt injection: it is journaled, but neither believed nor found."""
CODE: Final = "codebase"
"""Flag of an event from a code scan: searches find its memory instead, and nothing is extracted from it."""
UPLOADED: Final = "uploaded"
"""Flag of an event from a file that a server received: standing instructions in it wait until the user confirms them.
"""


class Role(StrEnum):
    """The role of the speaker: the tenant, the assistant, another person, or a document."""

    USER = "user"
    ASSISTANT = "assistant"
    PERSON = "person"
    DOCUMENT = "document"


class Source(StrEnum):
    """The input channel of an event."""

    HUMAN = "human"
    AI = "ai"
    INTERACTION = "interaction"
    INGEST = "ingest"
    CODE_SCAN = "code_scan"
    DREAM = "dream"
    FILE = "file"
    """Written into a page of a synchronised folder."""


TRUST: Final[Mapping[Source, float]] = {
    Source.HUMAN: 1.0,
    Source.FILE: 0.9,
    Source.AI: 0.7,
    Source.INTERACTION: 0.6,
    Source.INGEST: 0.5,
    Source.CODE_SCAN: 0.5,
    Source.DREAM: 0.4,
}
"""The trust in a source, in [0, 1] (E-030, E-039)."""
OWN_SOURCES: Final = frozenset({Source.HUMAN, Source.FILE})
"""The sources of the user's own words: messages, and pages that the user edits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message from a caller, before validation."""

    role: str
    content: str
    name: str | None = None
    timestamp: datetime | str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """A validated message for the journal. `text` is already screened."""

    text: str
    role: Role
    speaker: str
    source: Source = Source.HUMAN
    trust: float = 1.0
    topic: str | None = None
    session: str = ""
    agent: str = ""
    external_id: str | None = None
    occurred_us: int
    flags: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    expires_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(NewEvent):
    """One verbatim input in the journal, immutable except for redaction."""

    id: str
    recorded_us: int
    content_hmac: bytes = b""
    chain_hash: bytes = b""
    redacted_us: int | None = None

    @property
    def occurred_at(self) -> datetime:
        """The time of the statement."""
        return to_datetime(self.occurred_us)

    @property
    def recorded_at(self) -> datetime:
        """The time of its recording."""
        return to_datetime(self.recorded_us)


def find_quoted(events: Iterable[Event], words: str) -> Event | None:
    """Return the first event that has some words, else the first of all: the others repeat it."""
    told = sorted(events, key=lambda one: one.occurred_us)
    return next((one for one in told if words in one.text), told[0] if told else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimReceipt:
    """The result of one claim of a calling agent.

    `outcome` is kept, confirmed (a memory has it already) or refused; `understood` is the claim as it is believed, such
    as "user residence: Graz"; `replaced` are the ids of the memories whose place it took. `reason` says why it was
    refused or changed, or why it does not stand alone (it is challenged, contested or quarantined).
    """

    number: int
    """The place of the claim in the call, from 1."""
    outcome: str
    understood: str = ""
    memory_id: str | None = None
    replaced: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The acknowledgement of `remember`: the events are on disk.

    `queued` means that extraction will follow, `cached` that an earlier call with the same idempotency key stored the
    events. `refused` lists the messages that were not stored, and the reasons; `unread` the parts of stored messages
    from which no claims are extracted because they are too long, and which search finds all the same, and what keeps
    all messages from being read. `claims` has the results of the claims that were passed.
    """

    job_id: str | None
    event_ids: tuple[str, ...]
    queued: bool
    cached: bool = False
    refused: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    claims: tuple[ClaimReceipt, ...] = ()


# The project in which something was said: what holds there alone, and what holds everywhere.


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
